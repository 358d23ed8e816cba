"""What single experiments are made of that is too long to stand in their files."""

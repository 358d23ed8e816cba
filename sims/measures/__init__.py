"""What `biorrr bench` measures, one question a module."""

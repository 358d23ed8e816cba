"""The report page: what is gathered from run folders and sweeps, and the page made of it."""

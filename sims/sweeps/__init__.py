"""Sweeps: one experiment over many settings and seeds, on as many processors as there are."""

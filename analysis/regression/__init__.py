"""Reduced-rank regression: its exact solution, metrics, covariances, and the choice of rank and
ridge.
"""

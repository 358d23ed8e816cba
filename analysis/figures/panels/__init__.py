"""Figures from arrays, one idea per file: the panels that figures of runs and experiments are made
of.
"""

"""Experiments a person runs: the command line, settings, data sets and run folders."""

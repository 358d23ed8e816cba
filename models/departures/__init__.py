"""Departures from the paper's circuit, one idea per file."""

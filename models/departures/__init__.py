"""Departures from the paper's circuit, by what they alter."""

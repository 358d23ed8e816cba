"""Circuits written for others: files that need nothing of biorrr."""

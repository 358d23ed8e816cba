"""Circuits to take along: renderers of a circuit's program that need nothing of biorrr."""

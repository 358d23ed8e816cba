"""Wires models into a Brian2 network, runs it on an engine, records it and saves it."""

from biorrr.circuit.microcircuit import Microcircuit
from biorrr.circuit.recorder import Diverged
from biorrr.circuit.run import Run

__all__ = ["Diverged", "Microcircuit", "Run"]

"""Wires models into a Brian2 network, runs it on an engine, records it and saves it."""

from biorrr.circuit.checkpoint import CheckpointError
from biorrr.circuit.circuit import Circuit
from biorrr.circuit.microcircuit import Microcircuit
from biorrr.circuit.notebook import say_errors_first
from biorrr.circuit.recorder import Diverged
from biorrr.circuit.run import Run
from biorrr.circuit.signals import GroupInput, PoissonSpikes, SpikeTrains, TimeSeries

__all__ = [
    "CheckpointError",
    "Circuit",
    "Diverged",
    "GroupInput",
    "Microcircuit",
    "PoissonSpikes",
    "Run",
    "SpikeTrains",
    "TimeSeries",
]

say_errors_first()

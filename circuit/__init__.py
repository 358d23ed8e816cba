"""Wires models into a Brian2 network, runs it on an engine, records it and saves it."""

from biorrr.circuit.circuit import Circuit
from biorrr.circuit.hierarchy import Hierarchy
from biorrr.circuit.microcircuit import Microcircuit
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.checkpoint import Checkpoint, CheckpointError
from biorrr.circuit.simulation.failures import Diverged, Unsettled
from biorrr.circuit.stimulus.signals import PoissonSpikes, SpikeTrains, TimeSeries

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Circuit",
    "Diverged",
    "Hierarchy",
    "Microcircuit",
    "PoissonSpikes",
    "Run",
    "SpikeTrains",
    "TimeSeries",
    "Unsettled",
]

"""Wires models into a Brian2 network, runs it on an engine, records it and saves it."""

from biorrr.circuit.circuit import Circuit
from biorrr.circuit.convergence import Instruction, convergent_circuit
from biorrr.circuit.hierarchy import Hierarchy
from biorrr.circuit.microcircuit import Microcircuit
from biorrr.circuit.notebook import say_errors_first
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.checkpoint import CheckpointError
from biorrr.circuit.simulation.recorder import Diverged
from biorrr.circuit.simulation.unsettled import Unsettled
from biorrr.circuit.stimulus.signals import GroupInput, PoissonSpikes, SpikeTrains, TimeSeries

__all__ = [
    "CheckpointError",
    "Circuit",
    "Diverged",
    "GroupInput",
    "Hierarchy",
    "Instruction",
    "Microcircuit",
    "PoissonSpikes",
    "Run",
    "SpikeTrains",
    "TimeSeries",
    "Unsettled",
    "convergent_circuit",
]

say_errors_first()

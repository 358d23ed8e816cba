"""Circuits of model parts: building them as Brian2 networks, running, recording and saving them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biorrr.circuit.circuit import Circuit
from biorrr.circuit.hierarchy import Hierarchy
from biorrr.circuit.microcircuit import Microcircuit
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.checkpoint import Checkpoint, CheckpointError
from biorrr.circuit.simulation.failures import Diverged, Unsettled
from biorrr.circuit.stimulus.signals import TimeSeries

if TYPE_CHECKING:
    from biorrr.circuit.regressor import MicrocircuitRegressor

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Circuit",
    "Diverged",
    "Hierarchy",
    "Microcircuit",
    "MicrocircuitRegressor",
    "Run",
    "TimeSeries",
    "Unsettled",
]


def __getattr__(name: str):
    """Import the estimator at its first use: scikit-learn takes longer to import than the rest."""
    if name == "MicrocircuitRegressor":
        from biorrr.circuit.regressor import MicrocircuitRegressor

        return MicrocircuitRegressor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

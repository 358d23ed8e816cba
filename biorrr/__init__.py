"""Simulator of a cortical microcircuit that learns by calcium plateau potentials.

The names below are imported when they are first used, so that ``import biorrr`` is quick. The rest
of the package is in ``biorrr.models``, ``biorrr.circuit``, ``biorrr.analysis`` and ``biorrr.sims``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biorrr.analysis import ReducedRankRegression, excess, principal_angles
    from biorrr.circuit import Circuit, Hierarchy, Microcircuit, MicrocircuitRegressor, Run
    from biorrr.models import Rate, Rates

    __version__: str

__all__ = [
    "Circuit",
    "Hierarchy",
    "Microcircuit",
    "MicrocircuitRegressor",
    "Rate",
    "Rates",
    "ReducedRankRegression",
    "Run",
    "__version__",
    "excess",
    "principal_angles",
]

_ROOM = {
    "Circuit": "circuit",
    "Hierarchy": "circuit",
    "Microcircuit": "circuit",
    "MicrocircuitRegressor": "circuit",
    "Rate": "models",
    "Rates": "models",
    "ReducedRankRegression": "analysis",
    "Run": "circuit",
    "excess": "analysis",
    "principal_angles": "analysis",
}
_ROOMS = ("analysis", "circuit", "models", "sims")


def __getattr__(name: str):
    """Import a public name, or one of the rooms, at its first use."""
    if name == "__version__":
        from importlib.metadata import version

        value = version("biorrr")
    elif name in _ROOMS:
        value = importlib.import_module(f"biorrr.{name}")
    elif name in _ROOM:
        value = getattr(importlib.import_module(f"biorrr.{_ROOM[name]}"), name)
    else:
        raise AttributeError(f"module 'biorrr' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names and the rooms, for completion."""
    return sorted([*__all__, *_ROOMS])

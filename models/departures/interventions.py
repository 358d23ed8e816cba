"""Interventions in the middle of a run: silence, freeze, cut, swap."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from biorrr.models.departure import Departure
from biorrr.models.parts import Parts
from biorrr.models.validation import Count, check_fields
from biorrr.models.variables import Step, Variable


@dataclass(frozen=True)
class Event:
    """An intervention that happens once, before a sample is presented.

    Parameters
    ----------
    at
        Number of the sample, counted from the first one that the circuit has seen.
    """

    at: Count

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Silence(Event):
    """Silence of interneurons for the rest of the run.

    Parameters
    ----------
    cells
        Numbers of the interneurons, counted from 0; all of them unless given.
    population
        Whose they are, in a circuit of several areas.
    """

    cells: tuple[Count, ...] | None = None
    population: str = "interneurons"


@dataclass(frozen=True)
class Freeze(Event):
    """The end of learning in one pathway.

    Parameters
    ----------
    weight
        Name of the pathway's matrix, such as "Vx", "Vy", "Q" or "R".
    """

    weight: str = "Vx"


@dataclass(frozen=True)
class CutInstruction(Event):
    """A cut of the instructive input: y is zero from here on."""


@dataclass(frozen=True)
class SwapData(Event):
    """A change of the data.

    Parameters
    ----------
    X, Y
        The new data, shapes (n_samples, m) and (n_samples, n), with as many features as before.
    """

    X: np.ndarray = field(repr=False, compare=False, kw_only=True)
    Y: np.ndarray = field(repr=False, compare=False, kw_only=True)


@dataclass(frozen=True)
class SilencedInterneurons(Departure):
    """Interneurons that can be silenced."""

    population: str = "interneurons"

    def alter(self, parts: Parts) -> Parts:
        """Let only active cells speak."""
        cells = parts[self.population]
        said = [name for name in ("n", "interneuron_spikes", "carried") if cells.has(name)]
        active = Variable(
            "active", "0 for a cell that has fallen silent", role="parameter", value=1.0
        )
        code = "\n".join(f"{name} = active * {name}" for name in said)
        return parts.having(cells.adding(active, Step("interneuron output", code, replays=True)))

"""Interventions in the middle of a run: silence, freeze, cut, swap."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from biorrr.models.validation import Checked, Count


@dataclass(frozen=True)
class Event(Checked):
    """An intervention that happens once, before a sample is presented.

    Parameters
    ----------
    at
        Number of the sample, counted from the first one that the circuit has seen.
    """

    at: Count


@dataclass(frozen=True)
class Silence(Event):
    """Silence of cells for the rest of the run.

    Parameters
    ----------
    cells
        Numbers of the cells, counted from 0; all of them unless given.
    population
        Whose they are: "interneurons", "pyramidal", or any other that the circuit has.
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

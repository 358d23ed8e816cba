"""What a departure from the paper's circuit is: a change to some of its parts, and the values that go with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biorrr.models.parts import Pathway, Population


@dataclass(frozen=True)
class Setting:
    """What a departure's values depend on.

    Parameters
    ----------
    sizes
        Cells of each population.
    scale
        By what a quantity in the data's units is multiplied to get the circuit's own.
    relaxation
        How far something of a given time constant, in milliseconds, relaxes within a tick.
    seed
        Of everything random.
    """

    sizes: Mapping[str, int]
    scale: Callable[[str], float]
    relaxation: Callable[[float], float]
    seed: int


class Departure:
    """Base of all departures: each alters the parts it concerns and leaves the others alone.

    Departures are combined by applying one after another, so they add statements to the end of a cell's `response`
    and `update` and read what is there as already altered by those before.
    """

    def alter_population(self, population: Population) -> Population:
        """``population`` as it is under this departure."""
        return population

    def alter_pathway(self, pathway: Pathway) -> Pathway:
        """``pathway`` as it is under this departure."""
        return pathway

    def values(self, setting: Setting) -> dict[str, Any]:
        """Parameters and initial state by "part.variable", numbers or arrays; other memory starts from zero."""
        return {}

    def constrain(self, weight: str, matrix: np.ndarray, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Make initial weights obey; ``matrix`` is as Brian2 keeps it, (source cells, target cells)."""
        return matrix

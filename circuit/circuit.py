"""A circuit of any populations and pathways; :class:`~biorrr.circuit.Microcircuit` is a special
case.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from biorrr.circuit.base import CircuitBase
from biorrr.circuit.compile.blueprint import Port, ports_of
from biorrr.circuit.simulation.prepare import Beginning
from biorrr.circuit.stimulus.data_checks import mapping
from biorrr.errors import InputTypeError
from biorrr.models import Clock, Parts, Pathway, Population, apply_departures

_DRAWS = "must be a function of the numbers of features by port and of the seed, or None"


def _function(name: str, given: Any) -> Any:
    if given is not None and not callable(given):
        raise InputTypeError(f"{name}: {_DRAWS} (got {given!r})")
    return given


@dataclass(frozen=True, eq=False, repr=False)
class Circuit(CircuitBase):
    """Populations and pathways, wired, checked and ready to run.

    Parameters
    ----------
    populations, pathways
        Its parts. A population that data come into may leave its size to the data. A clock is added
        if there is none.
    inputs
        Ports by name, each the "population.variable" that its data set. Unless given, every
        variable declared as an input is a port of its own name.
    draw
        Function that draws initial weights, matrices by name, given the number of features of each
        port by its name and the seed. A pathway that it leaves out draws its own.
    departures
        Applied to the parts, one after another.
    engine
        "numpy", "cpp", or "auto": cpp where the circuit is compiled already or compiling it pays.
    seed
        Seed of initial weights, of the order of samples and of everything random: a whole number, a
        NumPy generator that draws one, or None for a new one each time.
    name
        Begins the names of all Brian2 objects, so that several circuits fit into one network.

    Examples
    --------
    A cell that finds the first principal component of its input (Oja's rule):

    >>> import numpy as np
    >>> from biorrr.models import Pathway, Population, SensoryInput, Variable
    >>> oja = Pathway(
    ...     "oja", "sensory", "cell", drives="z", current="w * x_pre", phase="drive",
    ...     change="0.01 * z_post * (x_pre - z_post * w)",
    ... )
    >>> cell = Population(1, "cell", [Variable("z", "output")])
    >>> circuit = Circuit([SensoryInput(), cell], [oja], engine="numpy")
    >>> X = np.random.default_rng(0).standard_normal((2000, 3)) * [3, 1, 1]
    >>> run = circuit.run({"x": X}, progress=False)
    >>> bool(abs(run.weights["oja"][0, 0]) > 0.95)
    True
    """

    populations: Sequence[Population]
    pathways: Sequence[Pathway]
    inputs: Mapping[str, str] | None = None
    draw: Annotated[Callable[[Mapping[str, int], int], Mapping[str, Any]] | None, _function] = (
        field(default=None, kw_only=True)
    )

    @functools.cached_property
    def parts(self) -> Parts:
        """All parts, under all departures."""
        clock = (
            () if "clock" in [population.name for population in self.populations] else (Clock(),)
        )
        return apply_departures(
            Parts((*clock, *self.populations), tuple(self.pathways)), self.departures
        )

    @functools.cached_property
    def ports(self) -> tuple[Port, ...]:
        """The places where data come in, as given or one for each variable declared as an input."""
        inputs = None if self.inputs is None else mapping("inputs", self.inputs)
        return ports_of(self.parts, inputs)

    def begin(self, blueprint, feeds=None, last=math.inf, start=None):
        """Return initial weights as `draw` draws them."""
        return Beginning() if self.draw is None else Beginning(partial(self._draw, blueprint.sizes))

    def _draw(self, sizes: Mapping[str, int], seed: int) -> Mapping[str, Any]:
        """Return what `draw` returns, by name."""
        try:
            drawn = self.draw(sizes, seed)  # type: ignore[misc]  # asked for if given
        except TypeError as error:
            raise InputTypeError(f"draw: {_DRAWS} ({error})") from error
        return mapping("draw", drawn)

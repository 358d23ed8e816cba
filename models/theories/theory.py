"""The base of the rival theories: what they share, so that they differ in their learning alone.

All have sensory fibres x, with noise of variance ridge, instructive fibres y, k pyramidal cells,
and one rate, eta(t) = eta0/(1 + t/N), of which the rates of their pathways are multiples. All are
linear, so that the optimum is known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from biorrr.models.parts import Parts, Population, Step, Variable, broadcast, parameter
from biorrr.models.random_draws import Stream
from biorrr.models.rates import Rate
from biorrr.models.validation import NotNegative, PositiveCount, check_fields


@dataclass(frozen=True, kw_only=True)
class Theory(ABC):
    """A theory of learning in dendrites, as the parts of a circuit.

    ``Circuit(**theory.layout(n))`` makes the circuit for instruction of n features, which begins
    with the weights that :meth:`start` draws with its seed.

    Parameters
    ----------
    k
        Number of pyramidal cells.
    rate
        The learning rate of the proximal synapses; that of other pathways is a multiple of it.
    ridge
        Variance of the noise of sensory fibres, which adds ridge I to Cxx.

    Attributes
    ----------
    name, citation
        The theory, and where it was published.
    filters, readout
        Names of the weights (m, k) by which cells hear x, and of those (n, k) that relate them to
        y.
    apical
        Variable of the pyramidal cells that their apical compartment carries.
    s
        Member of the family that it is to learn: 0 is RRMSE, 1 is CCA.
    """

    k: PositiveCount = 2
    rate: Rate = field(default_factory=lambda: Rate(0.001))
    ridge: NotNegative = 0.0
    name: ClassVar[str]
    citation: ClassVar[str]
    filters: ClassVar[str] = "Vx"
    readout: ClassVar[str] = "U"
    apical: ClassVar[str] = "apical"
    s: ClassVar[float] = 0.0
    ports: ClassVar[Mapping[str, str]] = {"x": "sensory.presented", "y": "instructive.y"}

    def __post_init__(self) -> None:
        check_fields(self)

    @abstractmethod
    def parts(self, n: int) -> Parts:
        """Return populations and pathways for instruction of ``n`` features."""

    @abstractmethod
    def start(self, m: int, n: int, seed: int) -> dict[str, np.ndarray]:
        """Return the first weights by name, for inputs of ``m`` and ``n`` features."""

    def layout(self, n: int) -> dict[str, Any]:
        """Return the arguments that make a Circuit of the theory."""
        parts = self.parts(n)
        return {
            "populations": parts.populations,
            "pathways": parts.pathways,
            "inputs": self.ports,
            "draw": self._draw,
        }

    def _draw(self, sizes: Mapping[str, int], seed: int) -> dict[str, np.ndarray]:
        return self.start(sizes["x"], sizes["y"], seed)


def sensory_fibres(ridge: float) -> Population:
    """Return feedforward fibres with noise of variance ``ridge``."""
    return noisy_fibres("sensory", "input", "presented", "x", ridge, Stream.OWN)


def noisy_fibres(
    name: str, dimension: str, presented: str, heard: str, ridge: float, stream: int
) -> Population:
    """Return fibres that carry what is ``presented``, with noise of variance ``ridge``, as the
    variable ``heard``.
    """
    return Population(
        None,
        name,
        (
            Variable(presented, "input as it is presented", role="input"),
            Variable(heard, "input with noise"),
            parameter("noise", "standard deviation of the noise", float(ridge) ** 0.5),
        ),
        (
            Step(
                "input", f"{heard} = {presented} + noise * gaussian_draw(seed, {stream}, moment, i)"
            ),
        ),
        dimension=dimension,
    )


def timetable(rate: Rate, *others: Variable, **values: float) -> Population:
    """Return the neuromodulator that broadcasts ``rate`` as eta, with ``others`` and parameters of
    these ``values``.
    """
    return Population(
        1,
        "neuromodulator",
        (
            broadcast("eta", "learning rate"),
            *others,
            *(broadcast(name, name, "parameter", value) for name, value in values.items()),
            broadcast("eta0", "learning rate at the first sample", "parameter", rate.eta0),
            broadcast("halving", "samples after which the rate has halved", "parameter", rate.N),
        ),
        (Step("input", "eta = eta0 / (1 + sample / halving)"),),
        "Broadcasts the learning rate.",
        shape="",
    )


def pyramidal(k: int, *further: Variable | Step) -> Population:
    """Return ``k`` pyramidal cells with a somatic output z and ``further`` variables and steps."""
    return Population(k, "pyramidal", (Variable("z", "somatic output"),), shape="triangle").adding(
        *further
    )


def draw_matrices(seed: int, **shapes: tuple[int, int]) -> dict[str, np.ndarray]:
    """Return Gaussian matrices by name; those with m or n rows have columns of unit length on
    average.
    """
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}

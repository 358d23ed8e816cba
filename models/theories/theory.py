"""Theories of learning in dendrites: what all share, so that they differ in their learning alone,
and Bio-RRR and Bio-CCA.

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

from biorrr.models.paper_parts import microcircuit_parts
from biorrr.models.parts import (
    Parts,
    Pathway,
    Population,
    Step,
    Variable,
    broadcast,
    parameter,
    sum_over,
)
from biorrr.models.random_draws import Stream
from biorrr.models.rates import Rate, Rates
from biorrr.models.validation import Checked, NotNegative, Positive, PositiveCount


@dataclass(frozen=True, kw_only=True)
class Theory(Checked, ABC):
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
    filters
        Name of the weights (m, k) by which cells hear x.
    drawn
        Names of the weights that are drawn: these, those (n, k) that relate cells to y, and
        feedback (n, k) where there is any.
    s
        Member of the family that it is to learn: 0 is RRMSE, 1 is CCA.
    """

    k: PositiveCount = 2
    rate: Rate = field(default_factory=lambda: Rate(0.001))
    ridge: NotNegative = 0.0
    filters: ClassVar[str] = "Vx"
    drawn: ClassVar[tuple[str, ...]] = ("Vx", "U", "B")
    s: ClassVar[float] = 0.0

    @abstractmethod
    def parts(self, n: int) -> Parts:
        """Return populations and pathways for instruction of ``n`` features."""

    def start(self, m: int, n: int, seed: int) -> dict[str, np.ndarray]:
        """Return the first weights by name, for inputs of ``m`` and ``n`` features: Gaussian
        matrices, whose columns have unit length on average.
        """
        rng, rows = np.random.default_rng(seed), (m, n, n)
        return {
            name: rng.standard_normal((size, self.k)) / np.sqrt(size)
            for name, size in zip(self.drawn, rows, strict=False)
        }

    def layout(self, n: int) -> dict[str, Any]:
        """Return the arguments that make a Circuit of the theory."""
        parts = self.parts(n)
        return {
            "populations": parts.populations,
            "pathways": parts.pathways,
            "inputs": {"x": "sensory.presented", "y": "instructive.y"},
            "draw": self._draw,
        }

    def _draw(self, sizes: Mapping[str, int], seed: int) -> dict[str, np.ndarray]:
        return self.start(sizes["x"], sizes["y"], seed)


def noisy_fibres(
    ridge: float,
    name: str = "sensory",
    dimension: str = "input",
    presented: str = "presented",
    heard: str = "x",
    stream: int = Stream.OWN,
) -> Population:
    """Return fibres that carry what is ``presented``, with noise of variance ``ridge``, as the
    variable ``heard``: those of x unless others are described.
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


@dataclass(frozen=True, kw_only=True)
class BioRRR(Theory):
    """Cells taught by plateaus, what inhibition leaves of the instruction.

    Golkar, Lipshutz, Bahroun, Sengupta & Chklovskii (2020), "A simple normative network
    approximates local non-Hebbian learning in the cortex", NeurIPS 33. It is the circuit of the
    paper, with the inputs and the rates of its rivals.

    Original, and here, with s = 0::

        z = Vx'x,  n = Rz,  plateau = Vy'y - Qn
        dVx = eta x plateau',  dVy = eta_y (y z' - Vy)
        dQ = eta_q (z n' - Q),  dR = eta_q (n z' - R)

    Simplified: nothing. The ridge is noise of the sensory fibres, as in the other theories;
    ``Microcircuit`` makes it by replay.

    Parameters
    ----------
    distal, inhibitory
        Rates of Vy, and of Q and R, over that of Vx.
    """

    distal: Positive = 1.0
    inhibitory: Positive = 1.0
    drawn = ("Vx", "Vy")

    def parts(self, n: int) -> Parts:
        """Return the parts of the microcircuit, whose sensory fibres are noisy."""
        rates = Rates(self.rate, self.rate.times(self.distal), self.rate.times(self.inhibitory))
        return microcircuit_parts(self.k, self.k, rates).having(noisy_fibres(self.ridge))

    def start(self, m, n, seed):
        """Draw weights; R begins as Q'."""
        return super().start(m, n, seed) | {"Q": np.eye(self.k), "R": np.eye(self.k)}


@dataclass(frozen=True, kw_only=True)
class BioCCA(Theory):
    """Cells that find what two inputs have in common, by lateral inhibition at equilibrium.

    Lipshutz, Bahroun, Golkar, Sengupta & Chklovskii (2021), "A biologically plausible neural
    network for multichannel canonical correlation analysis", Neural Computation 33 (preprint of
    2020).

    Original, and here::

        a = Wx'x,  b = Wy'y,  dz/dt = a + b - Mz, which ends at z = M^-1 (a + b)
        dWx = 2 eta x (z - a)',  dWy = 2 eta y (z - b)',  dM = (eta/tau) (z z' - M),  tau = 0.1

    Simplified: nothing in the equations; noise of x and y stands for a ridge on Cxx and Cyy. The
    simulation does not wait for the equilibrium. It keeps N = M^-1, which changes with M by the
    formula of Sherman and Morrison, h = eta/tau::

        z = N (a + b),  u = Nz,   N + dN = (N - h u u' / (1 - h + h z'u)) / (1 - h)

    N stands in two pathways with the same weights, one for each of the two products. Locality is
    judged by the rule of M.

    Parameters
    ----------
    tau
        Rate of the feedforward synapses over that of lateral ones. Rates must stay below it.
    """

    tau: Positive = 0.1
    filters = "Wx"
    drawn = ("Wx", "Wy")
    s = 1.0

    def parts(self, n: int) -> Parts:
        """Return cells with two dendritic compartments and lateral synapses."""
        cells = pyramidal(
            self.k,
            Variable("a", "current of the basal compartment"),
            Variable("apical", "current of the apical compartment"),
            Variable("drive", "both"),
            Variable("u", "output, passed through the lateral synapses once more"),
            Step("membrane", "drive = a + apical"),
        )
        shrink = "(1 - eta / tau + eta / tau * zu)"
        inverse = f"eta / tau / (1 - eta / tau) * (w - u_pre * u_post / {shrink})"
        rule = "eta / tau * (z_pre * z_post - w)"
        instructive = noisy_fibres(
            self.ridge, "instructive", "instruction", "y", "heard", Stream.OWN + 1
        )
        return Parts(
            (
                timetable(self.rate, broadcast("zu", "z'u"), tau=self.tau),
                noisy_fibres(self.ridge),
                instructive,
                cells,
            ),
            (
                Pathway(
                    "proximal",
                    "sensory",
                    "pyramidal",
                    "a",
                    "w * x_pre",
                    "drive",
                    weight="Wx",
                    change="2 * eta * x_pre * (z_post - a_post)",
                ),
                Pathway(
                    "distal",
                    "instructive",
                    "pyramidal",
                    "apical",
                    "w * heard_pre",
                    "drive",
                    weight="Wy",
                    change="2 * eta * heard_pre * (z_post - apical_post)",
                ),
                Pathway(
                    "lateral",
                    "pyramidal",
                    "pyramidal",
                    "z",
                    "w * drive_pre",
                    "output",
                    weight="N",
                    change=inverse,
                    judged=rule,
                ),
                Pathway(
                    "again",
                    "pyramidal",
                    "pyramidal",
                    "u",
                    "w * z_pre",
                    "recruitment",
                    weight="N_again",
                    change=inverse,
                    judged=rule,
                ),
                sum_over(
                    "neuromodulator", "power", "pyramidal", "zu", "z_pre * u_pre", "inhibition"
                ),
            ),
        )

    def start(self, m, n, seed):
        """Draw weights; M begins as the identity."""
        return super().start(m, n, seed) | {"N": np.eye(self.k), "N_again": np.eye(self.k)}

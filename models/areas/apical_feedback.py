"""Areas with apical feedback: the plateau not only teaches, it drives the soma, and areas are stacked.

Golkar, Tesileanu, Bahroun, Sengupta & Chklovskii (NeurIPS 2022). In area i, between z_(i-1) below and z_(i+1) above,

    z_i = W_i' z_(i-1) + c_i plateau_i,    plateau_i = A_i' z_(i+1) - Q_i n_i,    n_i = R_i z_i,

so outputs, interneurons and plateaus of a sample depend on one another: they settle, or follow as membranes let them
(:class:`~biorrr.models.Settled`, :class:`~biorrr.models.Leaky`). As c falls to 0 this is the paper's circuit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from biorrr.models.auto_rates import AreaPlan
from biorrr.models.departure import Departure
from biorrr.models.paper.neuromodulator import PLASTICITY, REGRESSION, Neuromodulator, broadcast_rates
from biorrr.models.paper.neurons import Interneurons, PyramidalNeurons
from biorrr.models.paper.synapses import (
    DistalSynapses,
    InterneuronToPyramidal,
    ProximalSynapses,
    PyramidalToInterneuron,
)
from biorrr.models.parts import Parts, Pathway, Population, summed
from biorrr.models.rates import Rates
from biorrr.models.variables import Step, Variable, broadcast


@dataclass(frozen=True)
class Area:
    """Names and sizes of one area of a circuit, from which its parts are made.

    Parameters
    ----------
    k, interneurons
        How many pyramidal neurons and interneurons.
    feedback
        Gain c of the plateau at the soma.
    number
        Of the area in a hierarchy, from 1: it ends the names of its parts and rates. 0 in a microcircuit.
    below, above
        Population and variable that drive its proximal and its distal synapses.
    weights
        Names of its matrices: proximal, distal, interneuron to pyramidal, pyramidal to interneuron.
    """

    k: int
    interneurons: int
    feedback: float
    number: int = 0
    below: tuple[str, str] = ("sensory", "x")
    above: tuple[str, str] = ("instructive", "y")
    weights: tuple[str, str, str, str] = ("Vx", "Vy", "Q", "R")

    @property
    def suffix(self) -> str:
        """Ending of the names of its parts and rates, such as "_1"; empty in a microcircuit."""
        return f"_{self.number}" if self.number else ""

    @property
    def pyramidal(self) -> str:
        """Name of its pyramidal neurons."""
        return f"pyramidal{self.suffix}"

    @property
    def inhibiting(self) -> str:
        """Name of its interneurons."""
        return f"interneurons{self.suffix}"

    @property
    def first(self) -> bool:
        """True if the sensory input drives it."""
        return self.below == ("sensory", "x")

    @property
    def last(self) -> bool:
        """True if the instructive input teaches it."""
        return self.above == ("instructive", "y")

    def _scale(self, scale: str) -> str:
        """Return ``scale`` in the last area, whose currents and interneurons scale with the units of y; else 1."""
        return scale if self.last else "1"

    def populations(self) -> tuple[Population, ...]:
        """Return its pyramidal neurons and interneurons."""
        plain = PyramidalNeurons()
        taught = tuple(replace(v, scale=self._scale(v.scale)) for v in plain.variables if v.name != "z")
        pyramidal = replace(
            plain,
            size=self.k,
            name=self.pyramidal,
            dimension=self.pyramidal,
            variables=(
                Variable("z", "somatic output", role="memory"),
                Variable("basal", "proximal current"),
                *taught,
                Variable("shortfall", "what the soma is driven by beyond its output", role="memory"),
                Variable("power", "sum of squares of the cell's inhibitory weights", scale=self._scale("a")),
            ),
            steps=(
                *plain.steps,
                Step("apical", f"shortfall = basal + feedback{self.suffix} * plateau - z", replays=True),
            ),
            meaning="Two-compartment neurons whose plateau teaches and drives the soma.",
            area=self.number,
        )
        cells = Interneurons()
        variables = tuple(replace(v, scale=self._scale(v.scale)) for v in cells.variables)
        dimension = f"{cells.dimension}{self.suffix}"
        inhibiting = replace(
            cells, size=self.interneurons, name=self.inhibiting, dimension=dimension, variables=variables,
            area=self.number,
        )  # fmt: skip
        return pyramidal, inhibiting

    def pathways(self) -> tuple[Pathway, ...]:
        """Return its proximal, distal, inhibitory and recruitment synapses, which bring variances to rho, not to 1."""
        (below, low), (above, high), at = self.below, self.above, self.suffix
        W, A, Q, R = self.weights
        proximal = replace(
            ProximalSynapses(), name=f"proximal{at}", weight=W, source=below, target=self.pyramidal, drives="basal",
            current=f"w * {low}_pre", change=f"eta_x{at} * {low}_pre * plateau_post",
            replay=f"eta_x{at} * replay_gain * {low}_pre * plateau_post", scale="z / x" if self.first else "1",
            equation=f"d{W} = eta_x{at} {low} plateau'",
        )  # fmt: skip
        distal = replace(
            DistalSynapses(), name=f"distal{at}", weight=A, source=above, target=self.pyramidal,
            current=f"w * {high}_pre", scale=self._scale("a / y"),
        )  # fmt: skip
        if self.last:
            distal = replace(
                distal,
                change=f"eta_y{at} * (y_pre * (z_post - rho * s * a_post) - rho * (1 - s + s * ridge_y) * w)",
                equation=f"d{A} = eta_y{at} (y (z - rho s a)' - rho (1 - s) {A})",
            )
        else:
            distal = replace(
                distal,
                change=f"eta_y{at} * ({high}_pre * z_post - rho * w)",
                replay=f"eta_y{at} * replay_gain * {high}_pre * z_post",
                equation=f"d{A} = eta_y{at} ({high} z' - rho {A})",
            )
        inhibitory = replace(
            InterneuronToPyramidal(), name=f"inhibitory{at}", weight=Q, source=self.inhibiting, target=self.pyramidal,
            change=f"eta_q{at} * (z_post * n_pre - rho * w)", replay=f"eta_q{at} * replay_gain * z_post * n_pre",
            scale=self._scale("a / n"), equation=f"d{Q} = eta_q{at} (z n' - rho {Q})", sums=(("power", "w**2"),),
        )  # fmt: skip
        recruitment = replace(
            PyramidalToInterneuron(), name=f"recruitment{at}", weight=R, source=self.pyramidal, target=self.inhibiting,
            change=f"eta_r{at} * (n_post * z_pre - rho * w)", replay=f"eta_r{at} * replay_gain * n_post * z_pre",
            scale=self._scale("n / z"), equation=f"d{R} = eta_q{at} (n z' - rho {R})",
        )  # fmt: skip
        return tuple(replace(p, area=self.number) for p in (proximal, distal, inhibitory, recruitment))


_OPEN_ENDED = AreaPlan.of(math.inf)
_PLAN = {
    "base_x": "proximal rate of the first area at first, for an input of unit power",
    "base_w": "that of the others",
    "base_q": "interneuron rate at first",
    "base_y": "distal rate of the last area at first",
    "N_q": "samples after which rates have halved, the approaching end left aside",
    "last": "samples after which the run ends, where that is announced",
}


def area_modulator(areas: Sequence[Area], rates: Sequence[Rates] | None) -> Population:
    """Return the neuromodulator of all areas: with rates of a timetable, or fitted to the drive if ``rates`` is None.

    Fitted rates keep every loop stable on its way to the optimum. Proximal learning is least mean squares with gain QR,
    so its rate is divided by the mean power of the input and by trace(QQ'). One sample is bounded by its own power;
    the bound falls more slowly than the rate, so that in the end every sample counts the same. Between areas A and W
    drive each other up while their product exceeds QQ'; so Q follows faster than A, and its start, 1, is the largest it
    comes to. :class:`~biorrr.models.auto_rates.AreaPlan` has the numbers that depend on the announced end.
    """
    shared = [*REGRESSION, broadcast("rho", "variance that every output is brought to", "parameter", 1.0)]
    for area in areas:
        scale = "z / a" if area.last else "1"
        shared += [
            broadcast(f"feedback{area.suffix}", "gain of the plateau at the soma", "parameter", area.feedback, scale),
            broadcast(f"power_q{area.suffix}", "trace(QQ'), the gain of the inhibitory loop", "memory"),
        ]
    if rates is not None:
        given = {
            f"{path}{area.suffix}": getattr(own, path)
            for area, own in zip(areas, rates, strict=True)
            for path in PLASTICITY
        }
        return Neuromodulator.of(given, shared)
    lines = [
        "left = clip(1 - sample / last, 0, 1)",
        "fall = learning * left / (1 + sample / N_q)",
        "bound = learning * sqrt(left)",
    ]
    for below, area in zip([None, *areas], areas, strict=False):
        at = area.suffix
        base, mean, ridge = ("base_w", f"{below.k} * rho", "0") if below else ("base_x", "power_x", "ridge_power")
        lines += [
            f"wanted = {base} * fall / ({mean} + {ridge})",
            f"eta_x{at} = clip(wanted, 0, bound / (energy_x{at} + {ridge} + 1e-300)) / clip(power_q{at}, 1, inf)",
            f"eta_q{at} = clip(base_q * fall, 0, 0.06 * learning / (energy_z{at} + 1e-300))",
            f"eta_r{at} = eta_q{at}",
            f"eta_y{at} = clip(base_y * fall, 0, 0.5 * learning / (1 - s + s * (energy_y + ridge_y)))"
            if area.last
            else f"eta_y{at} = 0.3 * eta_q{at}",
        ]
        shared += [
            broadcast(f"energy_x{at}", "power of the input from below"),
            broadcast(f"energy_z{at}", "power of the output"),
        ]
    shared += [
        broadcast("energy_y", "|y|^2"),
        broadcast("learning", "0 for a pass with learning off", "parameter", 1.0),
        broadcast("power_x", "mean of |x|^2 over the data", "parameter", "cells('sensory')"),
        broadcast("ridge_power", "what the ridge adds to |x|^2", "parameter", scale="x**2"),
        *(broadcast(name, meaning, "parameter", getattr(_OPEN_ENDED, name)) for name, meaning in _PLAN.items()),
    ]
    eta = broadcast_rates(f"{path}{area.suffix}" for area in areas for path in PLASTICITY)
    return Neuromodulator(
        variables=(*eta, *shared),
        steps=(Step("modulation", "\n".join(lines)),),
        meaning="Broadcasts learning rates fitted to the drive.",
    )


@dataclass(frozen=True)
class ApicalFeedback(Departure):
    """Areas whose plateau drives the soma, in place of the paper's one area, which it only teaches.

    Parameters
    ----------
    areas
        Of the circuit, from that nearest to x up to that nearest to y.
    rates
        Timetables of the areas' rates, or None for rates fitted to the drive.
    """

    areas: tuple[Area, ...]
    rates: tuple[Rates, ...] | None = None
    turn = -2

    def alter(self, parts: Parts) -> Parts:
        """Put the areas, and a neuromodulator that speaks to all of them, into the circuit."""
        parts = parts.having(area_modulator(self.areas, self.rates))
        for area in self.areas:
            at, cells, (source, variable) = area.suffix, area.pyramidal, area.below
            parts = parts.having(*area.populations(), *area.pathways())
            heard = [(f"loop_gain{at}", cells, f"power_q{at}", "power_pre", "dendrite")]
            if self.rates is None:
                heard += [
                    (f"input_power{at}", source, f"energy_x{at}", f"{variable}_pre**2", "drive"),
                    (f"output_power{at}", cells, f"energy_z{at}", "z_pre**2", "recruitment"),
                ]
            if self.rates is None and area.last:
                heard += [("instructive_power", "instructive", "energy_y", "y_pre**2", "drive")]
            parts = parts.having(*(summed(name, source, "neuromodulator", *rest) for name, source, *rest in heard))
        return parts

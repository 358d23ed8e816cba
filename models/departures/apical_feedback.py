"""Areas with apical feedback: the plateau not only teaches, it drives the soma, and areas are
stacked.

Golkar, Tesileanu, Bahroun, Sengupta & Chklovskii (NeurIPS 2022). In area i, between z_(i-1) below
and z_(i+1) above,

    z_i = W_i' z_(i-1) + c_i plateau_i,    plateau_i = A_i' z_(i+1) - Q_i n_i,    n_i = R_i z_i,

so outputs, interneurons and plateaus of a sample depend on one another: they settle, or follow as
membranes let them (:class:`~biorrr.models.Settled`, :class:`~biorrr.models.Leaky`). As c falls to 0
this is the paper's circuit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from biorrr.models.auto_rates import PLANNED_FOR_AREAS, plan_of_areas
from biorrr.models.departure import Departure
from biorrr.models.expressions import rename
from biorrr.models.neuromodulator import ETAS, REGRESSION, Neuromodulator, speaker
from biorrr.models.paper_parts import (
    DistalSynapses,
    Interneurons,
    InterneuronToPyramidal,
    ProximalSynapses,
    PyramidalNeurons,
    PyramidalToInterneuron,
)
from biorrr.models.parts import Parts, Pathway, Population, Step, Variable, broadcast, sum_over
from biorrr.models.rates import Rates
from biorrr.models.validation import Checked


def suffix(area: int) -> str:
    """Return the ending of names that belong to ``area``, such as "_1"; empty where a circuit has
    but one.
    """
    return f"_{area}" if area else ""


@dataclass(frozen=True)
class Area(Checked):
    """One area of a circuit: its size and its place, from which its parts and their names follow.

    Parameters
    ----------
    k, interneurons
        How many pyramidal neurons and interneurons.
    feedback
        Gain c of the plateau at the soma.
    number
        Of the area in a hierarchy, from 1: it ends the names of its parts and rates. 0 in a
        microcircuit.
    """

    k: int
    interneurons: int
    feedback: float
    number: int = 0

    @property
    def weights(self) -> tuple[str, ...]:
        """Names of its matrices: proximal, distal, interneuron to pyramidal, pyramidal to
        interneuron.
        """
        return (
            tuple(f"{name}{self.number}" for name in "WAQR")
            if self.number
            else ("Vx", "Vy", "Q", "R")
        )

    def parts(self, last: bool) -> list[Population | Pathway]:
        """Return the paper's neurons and pathways as they are in this area, pathways in the order
        of its weights; the instructive input teaches the ``last`` area, and others the area above.
        """
        end, plain, distal = suffix(self.number), PyramidalNeurons(self.k), DistalSynapses()
        below = f"pyramidal{suffix(self.number - 1)}" if self.number > 1 else "sensory"
        elsewhere = {"sensory": below, "instructive": "instructive"}
        if not last:
            elsewhere["instructive"] = f"pyramidal{suffix(self.number + 1)}"
            distal = replace(distal, replay="eta_y * replay_gain * y_pre * z_post")
        pyramidal = replace(
            plain,
            variables=(
                Variable("z", "somatic output", role="memory"),
                Variable("basal", "proximal current"),
                *plain.variables[1:],
                Variable(
                    "shortfall", "what the soma is driven by beyond its output", role="memory"
                ),
                Variable("power", "sum of squares of the cell's inhibitory weights"),
            ),
            steps=(
                *plain.steps,
                Step("apical", "shortfall = basal + feedback * plateau - z", replays=True),
            ),
            meaning="Two-compartment neurons whose plateau teaches and drives the soma.",
            aliases=(("x", "z"), ("y", "z")),  # as areas above and below call what they hear
        )
        parts: list[Population | Pathway] = [
            replace(
                cells,
                name=f"{cells.name}{end}",
                dimension=f"{cells.dimension}{end}",
                area=self.number,
            )
            for cells in (pyramidal, Interneurons(self.interneurons))
        ]
        paths = (
            replace(ProximalSynapses(), drives="basal"),
            distal,
            replace(InterneuronToPyramidal(), sums=(("power", "w**2"),)),
            PyramidalToInterneuron(),
        )
        return parts + [
            replace(
                path,
                name=f"{path.name}{end}",
                weight=weight,
                source=elsewhere.get(path.source, f"{path.source}{end}"),
                target=f"{path.target}{end}",
                area=self.number,
                equation=path.equation.replace(path.weight, weight),
            )
            for path, weight in zip(paths, self.weights, strict=True)
        ]


_OPEN_ENDED = plan_of_areas(math.inf)
# Of each area. `drive` is the mean power of its input and `ridge` what the ridge adds to it.
_FITTED_RATES = """
left = clip(1 - sample / last, 0, 1)
fall = learning * left / (1 + sample / N_q)
wanted = {base} * fall / ({drive} + {ridge})
bound = learning * sqrt(left) / (energy_x + {ridge} + 1e-300)
eta_x = clip(wanted, 0, bound) / clip(power_q, {least}, inf)
heard = clip(power_x / (ridge_power + 1e-300), 0, 1)
eta_q = clip(base_q * heard * fall, 0, 0.06 * learning / (energy_z + 1e-300))
eta_r = eta_q
"""
_KNOWN_OF_DRIVE = (
    broadcast("energy_y", "|y|^2"),
    broadcast("learning", "0 for a pass with learning off", "parameter", 1.0),
    broadcast("power_x", "mean of |x|^2 over the data", "parameter", "cells('sensory')"),
    broadcast("power_y", "mean square of a channel of y over the data", "parameter", 1.0),
    broadcast("usual_q", "eigenvalue of QQ' to which such a channel leads", "parameter", 1.0),
    broadcast("ridge_power", "what the ridge adds to |x|^2", "parameter"),
    *(
        broadcast(name, meaning, "parameter", _OPEN_ENDED[name])
        for name, meaning in PLANNED_FOR_AREAS.items()
    ),
)
_BELOW_AN_AREA = "eta_y = 0.3 * eta_q"
_BELOW_Y = """
wanted = base_y * fall / (1 - s + s * power_y)
eta_y = clip(wanted, 0, 0.5 * learning / (1 - s + s * (energy_y + ridge_y) + 1e-300))
"""


def area_modulator(areas: Sequence[Area], rates: Sequence[Rates] | None) -> Population:
    """Return the neuromodulator of all areas: with rates of a timetable, or fitted to the drive if
    ``rates`` is None.

    Fitted rates keep every loop stable on its way to the optimum. Proximal learning is least mean
    squares with gain QR, so its rate is divided by the mean power of the input and by trace(QQ').
    One sample is bounded by its own power; the bound falls more slowly than the rate, so that in
    the end every sample counts the same. Between areas A and W drive each other up while their
    product exceeds QQ'; so Q follows faster than A, and its start is the largest it comes to, 1 or,
    in the last area, the root of `usual_q`. A ridge above the power of x slows down what the first
    area learns from x; Q, which fades in areas that have not found y yet, is slower by as much.
    :func:`~biorrr.models.auto_rates.plan_of_areas` has the numbers that depend on the announced
    end.
    """
    spoken: list[Variable | Step] = [*REGRESSION]
    for place, area in enumerate(areas):
        own: list[Variable | Step] = [
            broadcast("feedback", "gain of the plateau at the soma", "parameter", area.feedback),
            broadcast("power_q", "trace(QQ'), the gain of the inhibitory loop"),
        ]
        if area != areas[-1]:
            own.append(broadcast("s", "0: an area above teaches it", "parameter"))
        if rates is None:
            drive = f"{areas[place - 1].k} * rho" if place else "power_x"
            code = _FITTED_RATES.format(
                base="base_w" if place else "base_x",
                drive=drive,
                ridge="0" if place else "ridge_power",
                least="usual_q" if area == areas[-1] else "1",
            )
            own += [
                *ETAS.values(),
                broadcast("energy_x", "power of the input from below"),
                broadcast("energy_z", "power of the output"),
                Step("modulation", code + (_BELOW_Y if area == areas[-1] else _BELOW_AN_AREA)),
            ]
        else:
            timetable = Neuromodulator(rates[place], ())
            own += [*timetable.variables, *timetable.steps]
        spoken += _of_area(area.number, own)
    shared = _KNOWN_OF_DRIVE if rates is None else ()
    return speaker("Broadcasts the learning rates of all areas.", *spoken, *shared)


def _of_area(number: int, spoken: Sequence[Variable | Step]) -> list[Variable | Step]:
    """Return what is ``spoken`` to one area alone, by a neuromodulator that speaks to several: the
    names of its variables end with the ``number`` of the area.
    """
    names = {v.name: f"{v.name}{suffix(number)}" for v in spoken if isinstance(v, Variable)}
    return [
        replace(one, name=names[one.name])
        if isinstance(one, Variable)
        else replace(one, code=rename(one.code, names))
        for one in spoken
    ]


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
    gives = ("apical feedback",)

    def alter(self, parts: Parts) -> Parts:
        """Put the areas, and a neuromodulator that speaks to all of them, into the circuit."""
        parts = parts.having(area_modulator(self.areas, self.rates))
        hear = partial(sum_over, "neuromodulator")
        for area in self.areas:
            parts = parts.having(*area.parts(last=area == self.areas[-1]))
            end = suffix(area.number)
            cells, below = f"pyramidal{end}", parts[f"proximal{end}"].source
            heard = [hear(f"loop_gain{end}", cells, f"power_q{end}", "power_pre", "dendrite")]
            if self.rates is None:
                squares = "x_pre**2" if below == "sensory" else "z_pre**2"
                heard += [
                    hear(f"input_power{end}", below, f"energy_x{end}", squares, "drive"),
                    hear(f"output_power{end}", cells, f"energy_z{end}", "z_pre**2", "recruitment"),
                ]
            parts = parts.having(*heard)
        if self.rates is None:
            power = hear("instructive_power", "instructive", "energy_y", "y_pre**2", "drive")
            parts = parts.having(power)
        return parts


class AreaWeights(NamedTuple):
    """The weights of one area.

    Attributes
    ----------
    W : (m, k)
        Proximal, from the cells below.
    A : (n, k)
        Distal, from the cells above.
    Q : (k, l), R : (l, k)
        From interneurons, and to them.
    """

    W: np.ndarray
    A: np.ndarray
    Q: np.ndarray
    R: np.ndarray


def settling_matrix(areas: Sequence[AreaWeights], gains: Sequence[float]) -> np.ndarray:
    """Return the matrix M of the equilibrium M z = drive, (cells, cells), cells of all areas one
    after another.

    Row by row it says z_i + c_i Q_i R_i z_i - W_i' z_(i-1) - c_i A_i' z_(i+1) = drive, with c_i the
    gain of the link above area i over that of the link below.
    """
    ends = np.cumsum([0, *(area.W.shape[1] for area in areas)])
    M = np.eye(ends[-1])
    for i, area in enumerate(areas):
        own, c = slice(ends[i], ends[i + 1]), gains[i + 1] / gains[i]
        M[own, own] += c * area.Q @ area.R
        if i > 0:
            M[own, ends[i - 1] : ends[i]] -= area.W.T
        if i < len(areas) - 1:
            M[own, ends[i + 1] : ends[i + 2]] -= c * area.A.T
    return M


def settled_filters(areas: Sequence[AreaWeights], gains: Sequence[float]) -> list[np.ndarray]:
    """Return the filters F_i of settled outputs z_i = F_i' (x; y), list of (m + n, k_i)."""
    sizes, m = [area.W.shape[1] for area in areas], len(areas[0].W)
    drive = np.zeros((m + len(areas[-1].A), sum(sizes)))
    drive[:m, : sizes[0]] += areas[0].W
    drive[m:, -sizes[-1] :] += gains[-1] / gains[-2] * areas[-1].A
    settled = np.linalg.solve(settling_matrix(areas, gains), drive.T).T
    return np.split(settled, np.cumsum(sizes)[:-1], axis=1)


def equilibrium(
    areas: Sequence[AreaWeights], gains: Sequence[float], X: np.ndarray, Y: np.ndarray
) -> list[np.ndarray]:
    """Return settled outputs of all areas for ``X`` (n_samples, m), ``Y`` (n_samples, n): list of
    (n_samples, k_i).
    """
    return [np.hstack([X, Y]) @ filters for filters in settled_filters(areas, gains)]

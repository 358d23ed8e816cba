"""The departures from the paper's circuit that ``biorrr robustness`` tries, each over a range that ends in failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lazy import models, np


@dataclass(frozen=True)
class Reference:
    """What the sizes of departures are measured by."""

    plateau: float  # r.m.s. of the plain circuit's plateaus in the second half of learning, in the units of a
    k: int  # pyramidal neurons


@dataclass(frozen=True)
class DepartureRange:
    """One departure and the values it is set to."""

    name: str  # in tables
    label: str  # on the axis
    values: Sequence[float | str]  # from near the paper's circuit to far from it, if ordered
    settings: Callable[[Any, Reference], dict[str, Any]]  # of the circuit, for a value
    ordered: bool = True


DEPARTURES = {
    departure.name: departure
    for departure in (
        DepartureRange(
            "all_or_none", "all-or-none plateaus:\nsize / r.m.s. drive", (0.25, 0.5, 1, 2, 4, 8, 16),
            lambda size, ref: {"plateau": models.AllOrNone(size * ref.plateau)},
        ),
        DepartureRange(
            "sign", "sign plateaus:\nsize / r.m.s. drive", (0.5, 1, 2, 4, 8, 16),
            lambda size, ref: {"plateau": models.Sign(size * ref.plateau)}, ordered=False,
        ),
        DepartureRange(
            "rectified", "rectified plateaus:\nresting level / r.m.s. drive", (4, 2, 1, 0.5, 0.25, 0),
            lambda level, ref: {"plateau": models.Rectified(level * ref.plateau)},
        ),
        DepartureRange(
            "leaky", "leaky membranes:\ntime constants / time a sample is held", (0.01, 0.03, 0.1, 0.2, 0.5, 1),
            lambda tau, ref: {"dynamics": models.Leaky(200 * tau, 200 * tau, 200 * tau, 200 * tau, hold=200, dt=10)},
        ),
        DepartureRange(
            "spiking", "spiking cells\nin each population", (1000, 300, 100, 30, 10, 5),
            lambda cells, ref: {"coding": models.Spiking(cells)},
        ),
        DepartureRange(
            "apical", "apical drive:\ngain * r.m.s. plateau", (0.05, 0.1, 0.2, 0.4, 0.8),
            lambda drive, ref: {"apical_gain": drive / ref.plateau},
        ),
        # The paper neglects apical drive because plateaus are sparse in time (Sec. 5.2): the larger, the rarer.
        DepartureRange(
            "apical_events", "each plateau adds 0.8 to output:\nsize / r.m.s. drive", (1, 2, 4, 8, 16),
            lambda size, ref: {
                "plateau": models.AllOrNone(size * ref.plateau), "apical_gain": 0.8 / (size * ref.plateau)
            },
            ordered=False,
        ),
        DepartureRange(
            "interneurons", "interneurons\nfor each output", (2, 4, 8),
            lambda ratio, ref: {"interneurons": ratio * ref.k},
        ),
        DepartureRange(
            "connections", "connection probability,\nproximal and distal", (0.95, 0.9, 0.8, 0.7, 0.5, 0.3),
            lambda probability, ref: {"connection_probability": probability},
        ),
        DepartureRange(
            "dale", "weights that\nkeep their sign", ("Q, R", "Q, R, Vy", "Q, R, Vx", "all"),
            lambda names, ref: {"dale": ("Vx", "Vy", "Q", "R") if names == "all" else tuple(names.split(", "))},
            ordered=False,
        ),
        DepartureRange(
            "noise", "transmission noise:\ns.d. / mean", (0.1, 0.2, 0.3, 0.5, 0.7, 1),
            lambda sigma, ref: {"transmission_noise": sigma},
        ),
        DepartureRange(
            "delay", "delay of inhibition\n(whole, shuffled samples)", (1, 2), lambda samples, ref: {"delay": samples}
        ),
        DepartureRange(
            "lesion", "lesion after half\nof the samples",
            ("new data", "freeze R", "freeze Q", "freeze Vy", "freeze Vx", "cut y", "silence n"),
            lambda lesion, ref: {}, ordered=False,
        ),
    )
}  # fmt: skip


def lesions(lesion: str, at: int, X: np.ndarray, Y: np.ndarray) -> list[models.Event]:
    """What the values of the departure ``lesion`` stand for.

    New data are the old ones with the order of the sensory fibres reversed: as hard, and solved by the reversed Vx.
    """
    what, _, which = lesion.partition(" ")
    if what == "freeze":
        return [models.Freeze(at, which)]
    return [
        {
            "new": models.SwapData(at, X=X[:, ::-1].copy(), Y=Y),
            "cut": models.CutInstruction(at),
            "silence": models.Silence(at),
        }[what]
    ]

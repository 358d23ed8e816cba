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


HELD_TICKS = 20  # of a sample, where a delay is a part of the time that it is held


def _held(departure: models.Departure) -> dict[str, Any]:
    """A circuit that holds samples, and answers at once but for ``departure``."""
    return {"departures": (departure, models.Leaky(0, 0, 0, 0, hold=10 * HELD_TICKS, dt=10))}


DEPARTURES = {
    departure.name: departure
    for departure in (
        DepartureRange(
            "all_or_none", "all-or-none plateaus:\nsize / r.m.s. drive", (0.25, 0.5, 1, 2, 4, 8, 16),
            lambda size, ref: {"departures": (models.AllOrNone(size * ref.plateau),)},
        ),
        DepartureRange(
            "sign", "sign plateaus:\nsize / r.m.s. drive", (0.5, 1, 2, 4, 8, 16),
            lambda size, ref: {"departures": (models.Sign(size * ref.plateau),)}, ordered=False,
        ),
        DepartureRange(
            "rectified", "rectified plateaus:\nresting level / r.m.s. drive", (4, 2, 1, 0.5, 0.25, 0),
            lambda level, ref: {"departures": (models.Rectified(level * ref.plateau),)},
        ),
        DepartureRange(
            "leaky", "leaky membranes:\ntime constants / time a sample is held", (0.01, 0.03, 0.1, 0.2, 0.5, 1),
            lambda tau, ref: {
                "departures": (models.Leaky(200 * tau, 200 * tau, 200 * tau, 200 * tau, hold=200, dt=10),)
            },
        ),
        DepartureRange(
            "spiking", "spiking cells\nin each population", (1000, 300, 100, 30, 10, 5),
            lambda cells, ref: {"departures": (models.Spiking(cells),)},
        ),
        DepartureRange(
            "apical", "apical drive:\ngain * r.m.s. plateau", (0.05, 0.1, 0.2, 0.4, 0.8),
            lambda drive, ref: {"departures": (models.ApicalDrive(drive / ref.plateau),)},
        ),
        # The paper neglects apical drive because plateaus are sparse in time (Sec. 5.2): the larger, the rarer.
        DepartureRange(
            "apical_events", "each plateau adds 0.8 to output:\nsize / r.m.s. drive", (1, 2, 4, 8, 16),
            lambda size, ref: {
                "departures": (
                    models.AllOrNone(size * ref.plateau), models.ApicalDrive(0.8 / (size * ref.plateau))
                )
            },
            ordered=False,
        ),
        DepartureRange(
            "interneurons", "interneurons\nfor each output", (2, 4, 8),
            lambda ratio, ref: {"interneurons": ratio * ref.k},
        ),
        DepartureRange(
            "connections", "connection probability,\nproximal and distal", (0.95, 0.9, 0.8, 0.7, 0.5, 0.3),
            lambda probability, ref: {"departures": (models.SparseConnections(probability, probability),)},
        ),
        DepartureRange(
            "dale", "weights that\nkeep their sign", ("Q, R", "Q, R, Vy", "Q, R, Vx", "all"),
            lambda names, ref: {
                "departures": (
                    models.DalesLaw(("Vx", "Vy", "Q", "R") if names == "all" else tuple(names.split(", "))),
                )
            },
            ordered=False,
        ),
        DepartureRange(
            "noise", "transmission noise:\ns.d. / mean", (0.1, 0.2, 0.3, 0.5, 0.7, 1),
            lambda sigma, ref: {"departures": (models.TransmissionNoise(sigma),)},
        ),
        DepartureRange(
            "delay", "delay of inhibition\n(samples)", (1, 2),
            lambda samples, ref: {"departures": (models.LoopDelay(samples),)},
        ),
        DepartureRange(
            "delay_within", "delay of inhibition /\ntime a sample is held", (0.1, 0.25, 0.5, 0.75, 1),
            lambda part, ref: _held(models.LoopDelay(ticks=round(HELD_TICKS * part))),
        ),
        DepartureRange(
            "delay_in_runs", "inhibition one sample late:\nlike samples in a row", (10, 5, 3, 2, 1),
            lambda in_a_row, ref: {"departures": (models.LoopDelay(1),)},
        ),
        DepartureRange(
            "instruction", "delay of instruction\n(samples)", (1, 2),
            lambda samples, ref: {"departures": (models.LateInstruction(samples),)},
        ),
        DepartureRange(
            "instruction_within", "delay of instruction /\ntime a sample is held", (0.1, 0.25, 0.5, 0.75, 1),
            lambda part, ref: _held(models.LateInstruction(ticks=round(HELD_TICKS * part))),
        ),
        DepartureRange(
            "instruction_traces", "delay of instruction (samples),\nwith traces of twice that", (1, 2, 4),
            lambda samples, ref: {
                "departures": (models.LateInstruction(samples), models.Eligibility(2 * samples, 0, 2 * samples))
            },
        ),
        DepartureRange(
            "lesion", "lesion after half\nof the samples",
            ("new data", "freeze R", "freeze Q", "freeze Vy", "freeze Vx", "cut y", "silence n"),
            lambda lesion, ref: {}, ordered=False,
        ),
    )
}  # fmt: skip


# Of circuits of cells in millivolts.
MILLIVOLT_DEPARTURES = {
    departure.name: departure
    for departure in (
        DepartureRange(
            "population", "cells for\neach output", (200, 100, 50, 25, 10),
            lambda cells, ref: {"cell": models.Millivolts(cells, max(cells // 2, 1))},
        ),
        DepartureRange(
            "hold", "time for which a\nsample is held (ms)", (200, 150, 100, 60, 40),
            lambda hold, ref: {"cell": models.Millivolts(hold=hold, latency=hold / 5)},
        ),
        DepartureRange(
            "background", "s.d. of background\ncurrents (pA)", (150, 300, 450, 600),
            lambda sigma, ref: {"cell": models.Millivolts(cell=_cell(sigma_s=sigma, sigma_d=sigma))},
            ordered=False,
        ),
        DepartureRange(
            "calcium", "calcium current of\nthe dendrite (pA)", (1200, 900, 600, 300, 0),
            lambda current, ref: {"cell": models.Millivolts(cell=_cell(g_d=current))},
        ),
    )
}  # fmt: skip


def _cell(**values: float) -> models.Population:
    """The bursting cell with other values of its parameters."""
    return models.with_values(models.BurstingCells(), **{name: float(value) for name, value in values.items()})


def presented(departure: str, value: Any, n_samples: int, epochs: int, seed: int) -> np.ndarray | None:
    """The order in which samples come, where a departure has its own: like ones in a row, as in slow sequences."""
    if departure != "delay_in_runs":
        return None
    rng = np.random.default_rng(seed)
    return np.repeat(np.concatenate([rng.permutation(n_samples) for _ in range(epochs)]), value)


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

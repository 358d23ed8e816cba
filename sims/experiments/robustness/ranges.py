"""Departures from the paper's circuit that ``biorrr robustness`` tries, each over a range that ends
in failure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lazy import models, np

HELD_TICKS = 20  # of a sample, where a delay is a part of the time that it is held
NEW_DATA = "new data"
LESIONS: dict[str, Callable[[int, np.ndarray, np.ndarray], models.Event]] = {
    # The old data with the order of the sensory fibres reversed: as hard, and solved by the
    # reversed Vx.
    NEW_DATA: lambda at, X, Y: models.SwapData(at, X=X[:, ::-1].copy(), Y=Y),
    "freeze R": lambda at, X, Y: models.Freeze(at, "R"),
    "freeze Q": lambda at, X, Y: models.Freeze(at, "Q"),
    "freeze Vy": lambda at, X, Y: models.Freeze(at, "Vy"),
    "freeze Vx": lambda at, X, Y: models.Freeze(at, "Vx"),
    "cut y": lambda at, X, Y: models.CutInstruction(at),
    "silence n": lambda at, X, Y: models.Silence(at),
}  # events by name, for a sample and data X, Y
DALE = {
    "Q, R": ("Q", "R"),
    "Q, R, Vy": ("Q", "R", "Vy"),
    "Q, R, Vx": ("Q", "R", "Vx"),
    "all": ("Vx", "Vy", "Q", "R"),
}


@dataclass(frozen=True)
class Reference:
    """Sizes by which those of departures are measured.

    Parameters
    ----------
    plateau
        R.m.s. of the plain circuit's plateaus in the second half of learning, in the units of a.
    k
        Number of pyramidal neurons.
    """

    plateau: float
    k: int


@dataclass(frozen=True)
class DepartureRange:
    """One departure and the values it is set to.

    Parameters
    ----------
    label
        Words of the departure and of what is varied.
    values
        Numbers or words, from near the paper's circuit to far from it if they are ``ordered``.
    change
        Function from a value and a reference to arguments of the circuit; ``lesion`` among them is
        the name of an event after half of the samples, one of :data:`LESIONS`.
    """

    label: str
    values: Sequence[float | str]
    change: Callable[[Any, Reference], dict[str, Any]]
    ordered: bool = True


def _departing(*departures: models.Departure) -> dict[str, Any]:
    """Return the change to a circuit with these departures."""
    return {"departures": departures}


def _held(departure: models.Departure) -> dict[str, Any]:
    """Return the change to a circuit that holds samples, and answers at once but for
    ``departure``.
    """
    return _departing(departure, models.Leaky(0, 0, 0, 0, hold=10 * HELD_TICKS, dt=10))


def _in_millivolts(**settings: Any) -> dict[str, Any]:
    """Return the change to cells in millivolts with these settings."""
    return {"cell": models.Millivolts(**settings)}


def _bursting(**values: float) -> models.Population:
    """Return the bursting cell with other values of its parameters."""
    return models.with_values(
        models.BurstingCells(), **{name: float(value) for name, value in values.items()}
    )


DEPARTURES = {
    "all_or_none": DepartureRange(
        "all-or-none plateaus: size / r.m.s. drive",
        (0.25, 0.5, 1, 2, 4, 8, 16),
        lambda size, ref: _departing(models.AllOrNone(size * ref.plateau)),
    ),
    "sign": DepartureRange(
        "sign plateaus: size / r.m.s. drive",
        (0.5, 1, 2, 4, 8, 16),
        lambda size, ref: _departing(models.Sign(size * ref.plateau)),
        ordered=False,
    ),
    "rectified": DepartureRange(
        "rectified plateaus: resting level / r.m.s. drive",
        (4, 2, 1, 0.5, 0.25, 0),
        lambda level, ref: _departing(models.Rectified(level * ref.plateau)),
    ),
    "leaky": DepartureRange(
        "leaky membranes: time constants / time a sample is held",
        (0.01, 0.03, 0.1, 0.2, 0.5, 1),
        lambda tau, ref: _departing(
            models.Leaky(200 * tau, 200 * tau, 200 * tau, 200 * tau, hold=200, dt=10)
        ),
    ),
    "spiking": DepartureRange(
        "spiking cells in each population",
        (1000, 300, 100, 30, 10, 5),
        lambda cells, ref: _departing(models.Spiking(cells)),
    ),
    "apical": DepartureRange(
        "apical drive: gain * r.m.s. plateau",
        (0.05, 0.1, 0.2, 0.4, 0.8),
        lambda drive, ref: _departing(models.ApicalDrive(drive / ref.plateau)),
    ),
    # The paper neglects apical drive because plateaus are sparse in time (Sec. 5.2): the larger,
    # the rarer.
    "apical_events": DepartureRange(
        "each plateau adds 0.8 to the output: size / r.m.s. drive",
        (1, 2, 4, 8, 16),
        lambda size, ref: _departing(
            models.AllOrNone(size * ref.plateau), models.ApicalDrive(0.8 / (size * ref.plateau))
        ),
        ordered=False,
    ),
    "interneurons": DepartureRange(
        "interneurons for each output",
        (2, 4, 8),
        lambda ratio, ref: {"interneurons": ratio * ref.k},
    ),
    "connections": DepartureRange(
        "connection probability, proximal and distal",
        (0.95, 0.9, 0.8, 0.7, 0.5, 0.3),
        lambda probability, ref: _departing(models.SparseConnections(probability, probability)),
    ),
    "dale": DepartureRange(
        "weights that keep their sign",
        tuple(DALE),
        lambda names, ref: _departing(models.DalesLaw(DALE[names])),
        ordered=False,
    ),
    "noise": DepartureRange(
        "transmission noise: s.d. / mean",
        (0.1, 0.2, 0.3, 0.5, 0.7, 1),
        lambda sigma, ref: _departing(models.TransmissionNoise(sigma)),
    ),
    "delay": DepartureRange(
        "inhibition late, samples",
        (1, 2),
        lambda samples, ref: _departing(models.LoopDelay(samples)),
    ),
    "delay_within": DepartureRange(
        "inhibition late, part of the time a sample is held",
        (0.1, 0.25, 0.5, 0.75, 1),
        lambda part, ref: _held(models.LoopDelay(ticks=round(HELD_TICKS * part))),
    ),
    "instruction": DepartureRange(
        "instruction late, samples",
        (1, 2),
        lambda samples, ref: _departing(models.LateInstruction(samples)),
    ),
    "instruction_within": DepartureRange(
        "instruction late, part of the time a sample is held",
        (0.1, 0.25, 0.5, 0.75, 1),
        lambda part, ref: _held(models.LateInstruction(ticks=round(HELD_TICKS * part))),
    ),
    "instruction_traces": DepartureRange(
        "instruction late, samples, traces of twice that",
        (1, 2, 4),
        lambda samples, ref: _departing(
            models.LateInstruction(samples), models.Eligibility(2 * samples, 0, 2 * samples)
        ),
    ),
    "lesion": DepartureRange(
        "lesion after half of the samples",
        tuple(LESIONS),
        lambda lesion, ref: {"lesion": lesion},
        ordered=False,
    ),
}

# Of circuits of cells in millivolts.
MILLIVOLT_DEPARTURES = {
    "population": DepartureRange(
        "cells for each output",
        (200, 100, 50, 25, 10),
        lambda cells, ref: _in_millivolts(
            population=cells, interneuron_population=max(cells // 2, 1)
        ),
    ),
    "hold": DepartureRange(
        "time for which a sample is held (ms)",
        (200, 150, 100, 60, 40),
        lambda hold, ref: _in_millivolts(hold=hold, latency=hold / 5),
    ),
    "background": DepartureRange(
        "s.d. of background currents (pA)",
        (150, 300, 450, 600),
        lambda sigma, ref: _in_millivolts(cell=_bursting(sigma_s=sigma, sigma_d=sigma)),
        ordered=False,
    ),
    "calcium": DepartureRange(
        "calcium current of the dendrite (pA)",
        (1200, 900, 600, 300, 0),
        lambda current, ref: _in_millivolts(cell=_bursting(g_d=current)),
    ),
}

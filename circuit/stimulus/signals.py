"""Inputs in time: a signal that drives a circuit from tick to tick, in place of a table of samples.

A signal is given to ``run`` where a table would be: ``circuit.run(TimeSeries(x, dt=2),
TimeSeries(y, dt=10))``. The circuit must have time itself (:class:`~biorrr.models.Leaky`): its
`dt` is the tick, its `hold` the window over which plasticity averages, and one window of the signal
is one sample to all that counts samples (rates, snapshots, `every`). All times here are
milliseconds, or Brian2 times, as they are everywhere in biorrr.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np

from biorrr.circuit.compile.blueprint import Timing
from biorrr.circuit.stimulus.data_checks import as_array, check_memory, check_table, warn
from biorrr.errors import InputError
from biorrr.models.validation import check_fields, number_within, plain_within, whole_number

milliseconds = partial(plain_within, unit="ms", low=math.ulp(0))
_WHOLE = 1e-6  # error up to which a ratio of two times counts as whole


@dataclass(frozen=True, eq=False)
class TimeSeries:
    """A continuous signal, sampled evenly.

    Parameters
    ----------
    values
        Shape (steps, features); memory maps are not copied, unless they are finer than the tick.
    dt
        Time from one row to the next. Each row lasts until the next one; where rows are finer
        than the circuit's tick, the mean over a tick is taken. One of the two must be a multiple of
        the other.
    """

    values: np.ndarray = field(repr=False)
    dt: Annotated[float, milliseconds]

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of_spikes(cls, times, indices, dt, n=None, duration=None, rate=1.0) -> TimeSeries:
        """Return the spikes of fibres as a signal: their number in each row over ``rate`` times
        ``dt``.

        A fibre that fires at ``rate`` thus has an input of 1 on average.

        Parameters
        ----------
        times, indices : (spikes,)
            Time of each spike and number of its fibre, in any order, as ``t`` and ``i`` of a Brian2
            ``SpikeMonitor``.
        dt
            Time that a row lasts: the circuit's tick, or a multiple of it.
        n
            Fibres; one more than the largest index unless given.
        duration
            Of the whole recording, from 0; to the last spike unless given.
        rate
            Spikes per second that stand for an input of 1.
        """
        in_ms = 1000.0 if hasattr(times, "dim") else 1.0  # of a Brian2 time, which is in seconds
        times = in_ms * as_array("times", times, np.float64)
        indices = as_array("indices", indices)
        if (
            times.ndim != 1
            or times.shape != indices.shape
            or not len(times)
            or indices.dtype.kind not in "iu"
        ):
            raise InputError(
                "times, indices: must be a time and the whole number of a fibre for each spike"
                f" (got arrays of shapes {times.shape} and {indices.shape}, of {times.dtype} and"
                f" {indices.dtype})"
            )
        n = int(indices.max()) + 1 if n is None else whole_number("n", n, minimum=1)
        dt, duration = (
            milliseconds("dt", dt),
            milliseconds("duration", times.max() if duration is None else duration),
        )
        if not (
            0 <= times.min() <= times.max() <= duration and 0 <= indices.min() <= indices.max() < n
        ):
            raise InputError(
                f"times, indices: must lie in [0, {duration:g}] ms, the recording, and in [0,"
                f" {n - 1}], the fibres (got {times.min():g} to {times.max():g} ms and"
                f" {indices.min()} to {indices.max()})"
            )
        each = number_within("rate", rate, math.ulp(0)) * dt / 1000
        rows = max(math.ceil(min(duration / dt, 2.0**62) - _WHOLE), 1)
        check_memory("dt", 8 * rows * n, "give spikes in longer rows, or a shorter recording")
        counts = np.zeros((rows, n))
        # A spike at the end of the recording belongs to its last row.
        np.add.at(
            counts, (np.minimum(times / dt * (1 + 1e-12), rows - 1).astype(np.int64), indices), 1.0
        )
        return cls(counts / each, dt)

    def rows(self, name: str, timing: Timing) -> tuple[np.ndarray, int]:
        """Return rows that last a whole number of ticks of ``timing``, and that number; ``name`` is
        for errors.
        """
        values, tick = check_table(name, self.values), timing.tick
        coarser, finer = _whole(self.dt / tick), _whole(tick / self.dt)
        if not coarser and not finer:
            raise InputError(
                f"{name}: its rows must last a whole number of the circuit's ticks, or the other"
                f" way round (got rows of {self.dt:g} ms and ticks of {tick:g} ms);"
                " set Leaky(dt=...) to suit, or resample"
            )
        steps, window = len(values) * (coarser or 1), timing.duration * (1 if coarser else finer)
        if rest := steps % window if steps > window else 0:
            warn(
                f"{name}: its last {1000 * rest * timing.window / window:g} ms do not fill a window"
                f" of {1000 * timing.window:g} ms and are left out; give whole windows, which"
                " Leaky(hold=...) sets"
            )
        if coarser:
            return values, coarser
        whole = len(values) // finer
        return values[: whole * finer].reshape(whole, finer, -1).mean(axis=1, dtype=np.float64), 1


def _whole(ratio: float) -> int:
    """Return ``ratio`` as a whole number, or 0 where it is none."""
    nearest = round(min(ratio, 2.0**62))
    return nearest if nearest >= 1 and abs(ratio / nearest - 1) < _WHOLE else 0

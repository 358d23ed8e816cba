"""Inputs in time: what drives a circuit from tick to tick, in place of a table of samples.

A signal is given to ``run`` where a table would be: ``circuit.run(TimeSeries(x, dt=0.002), TimeSeries(y, dt=0.01))``.
The circuit must have time itself (:class:`~biorrr.models.Leaky`): its `dt` is the tick, its `hold` the window over
which plasticity averages, and one window of the signal is one sample to all that counts samples (rates, snapshots,
`every`). All times here are seconds, or Brian2 times.
"""

from __future__ import annotations

import math
import weakref
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np

from biorrr.circuit.simulation.scratch import Scratch
from biorrr.circuit.stimulus.data_checks import as_array, check_table, refuse_units, warn
from biorrr.circuit.stimulus.presentation import generator
from biorrr.circuit.stimulus.statistics import facts_of
from biorrr.errors import InputError, InputTypeError
from biorrr.models.physical_units import plain_within
from biorrr.models.validation import Count, Positive, check_fields, whole_number

_POISSON = 4  # the stream of random numbers; those before it are in presentation.py
_CHUNK = 2**20  # values made together
_COUNTABLE = 2**53  # spikes, up to which counts in double precision are exact
_IN_MEMORY = 2**28  # bytes; larger signals are laid out in a temporary file
seconds = partial(plain_within, unit="s", low=math.ulp(0))
_WHOLE = 1e-6  # relative error up to which a ratio of two times counts as whole


@dataclass(frozen=True)
class Rows:
    """A signal as the engines read it.

    Parameters
    ----------
    values
        One row per so many ticks, shape (rows, features).
    ticks
        Ticks for which each row lasts.
    unit
        What a value of 1 stands for.
    """

    values: np.ndarray
    ticks: int
    unit: float = 1.0


class Signal:
    """Base of inputs in time."""

    def __post_init__(self) -> None:
        check_fields(self)

    @abstractmethod
    def rows(self, name: str, tick: float, held: int) -> Rows:
        """Return the signal for ticks of ``tick`` seconds, ``held`` of them in a window; ``name`` is for errors."""


@dataclass(frozen=True, eq=False)
class TimeSeries(Signal):
    """A continuous signal, sampled evenly.

    Parameters
    ----------
    values
        Shape (steps, features); memory maps are read as they lie, unless they are finer than the tick.
    dt
        Seconds from one row to the next. Each row lasts until the next one; where rows are finer than the circuit's
        tick, the mean over a tick is taken. One of the two must be a multiple of the other.
    """

    values: np.ndarray = field(repr=False)
    dt: Annotated[float, seconds]

    def rows(self, name: str, tick: float, held: int) -> Rows:
        """Return rows that last a whole number of ticks."""
        values = check_table(name, self.values)
        if (coarser := _whole(self.dt / tick)) is not None:
            warn_of_a_rest(name, len(values) * coarser, held, tick)
            return Rows(values, coarser)
        finer = _whole(tick / self.dt)
        if finer is None:
            raise InputError(
                f"{name}: its rows must last a whole number of the circuit's ticks, or the other way round (got rows "
                f"of {1000 * self.dt:g} ms and ticks of {1000 * tick:g} ms); set Leaky(dt=...) to suit, or resample"
            )
        warn_of_a_rest(name, len(values), held * finer, self.dt)
        whole = len(values) // finer
        means = _room((whole, values.shape[1]), np.float64)
        for first, last in _blocks(whole, finer * values.shape[1]):
            means[first:last] = values[first * finer : last * finer].reshape(last - first, finer, -1).mean(axis=1)
        return Rows(means, 1)


@dataclass(frozen=True, eq=False)
class SpikeTrains(Signal):
    """Spikes of fibres, as their times and the fibres that fired.

    The input of a tick is the number of spikes in it over `rate` times the tick, so that a fibre that fires at `rate`
    has an input of 1 on average.

    Parameters
    ----------
    times, indices
        Of each spike, in any order, shapes (spikes,); a Brian2 ``SpikeMonitor`` has them as ``t`` and ``i``.
    n
        Fibres; one more than the largest index unless given.
    duration
        Of the whole recording, from 0; to the last spike unless given.
    rate
        Spikes per second that stand for an input of 1.
    """

    times: np.ndarray = field(repr=False)
    indices: np.ndarray = field(repr=False)
    n: int | None = None
    duration: float | None = None
    rate: Positive = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        times = as_array("SpikeTrains.times", self.times, np.float64)
        indices = as_array("SpikeTrains.indices", self.indices)
        if times.ndim != 1 or times.shape != indices.shape or (len(times) and indices.dtype.kind not in "iu"):
            raise InputError(
                "SpikeTrains: must have a time and the whole number of a fibre for each spike (got arrays of shapes "
                f"{times.shape} and {indices.shape}, of {times.dtype} and {indices.dtype})"
            )
        if not len(times) and (self.n is None or self.duration is None):
            raise InputError("SpikeTrains: without any spike, n and duration must be given")
        n = int(indices.max()) + 1 if self.n is None else whole_number("SpikeTrains.n", self.n, minimum=1)
        last = float(times.max()) if len(times) else 0.0
        duration = last if self.duration is None else seconds("SpikeTrains.duration", self.duration)
        if len(times) and not (np.isfinite(times).all() and times.min() >= 0 and last <= duration):
            raise InputError(
                f"SpikeTrains.times: must lie in [0, {duration:g}] s, the recording (got {times.min():g} to {last:g} s)"
            )
        if len(times) and not 0 <= indices.min() <= indices.max() < n:
            raise InputError(
                f"SpikeTrains.indices: must lie in [0, {n - 1}], the fibres (got {indices.min()} to {indices.max()})"
            )
        for name, value in (("times", times), ("indices", indices), ("n", n), ("duration", duration)):
            object.__setattr__(self, name, value)

    def rows(self, name: str, tick: float, held: int) -> Rows:
        """Return the spike counts of every fibre in every tick."""
        n, ticks = int(self.n or 1), math.ceil(float(self.duration or 0) / tick * (1 - _WHOLE) + 1e-12)
        ticks = max(-(-ticks // held) * held, held)  # silence to the end of the last window
        # A spike at the end of the recording belongs to its last tick.
        when = np.minimum(np.floor(self.times / tick * (1 + 1e-12)).astype(np.int64), ticks - 1)
        places, counts = np.unique(when * n + self.indices, return_counts=True)
        out = _room((ticks, n), np.min_scalar_type(int(counts.max(initial=0))))
        out.reshape(-1)[places] = counts
        return Rows(out, 1, 1 / (self.rate * tick))


@dataclass(frozen=True, eq=False)
class PoissonSpikes(Signal):
    """Values turned into Poisson spikes of pairs of fibres, one for what is positive and one for what is negative.

    The fibre that speaks fires at `rate` times the size of the value. Both end at the same synapses, one with the sign
    of the other's opposite, so the circuit still has one input per feature: the spikes of the first less those of the
    second, over `rate` times the tick. Its mean is the value, and its variance over a time T is |value| / (rate T).
    The same seed gives the same spikes on every engine, and the same ones in every epoch.

    Parameters
    ----------
    values
        Shape (rows, features), of either sign.
    rate
        Spikes per second that stand for a value of 1.
    dt
        Seconds for which each row lasts; unless given, each row is a sample, which the circuit holds.
    seed
        Of the spikes.
    """

    values: np.ndarray = field(repr=False)
    rate: Positive
    dt: float | None = None
    seed: Count = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dt is not None:
            object.__setattr__(self, "dt", seconds("PoissonSpikes.dt", self.dt))

    def rows(self, name: str, tick: float, held: int) -> Rows:
        """Return the signed spike counts of every feature in every tick."""
        values = check_table(name, self.values)
        lasts = held if self.dt is None else _whole(self.dt / tick)
        if lasts is None:
            raise InputError(
                f"{name}: its rows must last a whole number of the circuit's ticks (got rows of "
                f"{1000 * (self.dt or 0):g} ms and ticks of {1000 * tick:g} ms); set Leaky(dt=...) to suit"
            )
        mean = facts_of(name, values).largest * self.rate * tick
        out = _room((len(values) * lasts, values.shape[1]), _count_type(name, mean))
        warn_of_a_rest(name, len(values) * lasts, held, tick)
        for block, (first, last) in enumerate(_blocks(len(values), lasts * values.shape[1])):
            means = np.repeat(np.asarray(values[first:last], np.float64) * (self.rate * tick), lasts, axis=0)
            spikes = generator(self.seed, _POISSON, block).poisson(np.abs(means))
            out[first * lasts : last * lasts] = np.sign(means) * spikes
        return Rows(out, 1, 1 / (self.rate * tick))


def _whole(ratio: float) -> int | None:
    """Return ``ratio`` as a whole number of at least 1, or None where it is none."""
    nearest = round(ratio)
    return nearest if nearest >= 1 and abs(ratio / nearest - 1) < _WHOLE else None


def _count_type(name: str, mean: float) -> type:
    """Return the narrowest type that holds spike counts of up to ``mean`` on average, with room for chance."""
    largest = mean + 20 * math.sqrt(mean) + 20
    if largest >= _COUNTABLE:
        raise InputError(
            f"{name}: must have fewer than {_COUNTABLE:.0e} spikes in a tick (got {mean:g}); give PoissonSpikes a "
            "lower rate"
        )
    return next((kind for kind in (np.int8, np.int16) if largest < np.iinfo(kind).max), np.float64)


def warn_of_a_rest(name: str, steps: int, window: int, seconds: float) -> None:
    """Warn if ``steps`` of so many ``seconds`` end within a window of ``window`` steps: that window is left out."""
    rest = steps % window
    if rest and steps > window:
        warn(
            f"{name}: its last {1000 * rest * seconds:g} ms do not fill a window of {1000 * window * seconds:g} ms and "
            "are left out; give whole windows, which Leaky(hold=...) sets"
        )


def _blocks(rows: int, width: int):
    """Return first and last + 1 of blocks of ``rows`` rows of ``width`` values each."""
    step = max(_CHUNK // width, 1)
    return ((first, min(first + step, rows)) for first in range(0, rows, step))


def _room(shape: tuple[int, int], dtype) -> np.ndarray:
    """Return an array of zeros, in memory or, where it is large, in a temporary file that goes when the array does.

    The file has all its room on the disk before it is mapped: a map that meets a full disk ends the process.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size <= _IN_MEMORY:
        return np.zeros(shape, dtype)
    scratch = Scratch()
    try:
        with scratch.filling(f"a signal of {size / 2**20:.0f} MB") as folder, (folder / "signal").open("wb") as file:
            for first, last in _blocks(size, 1):
                file.write(bytes(last - first))
        array = np.memmap(scratch.path / "signal", dtype, "r+", shape=shape)
    except OSError:
        scratch.delete()
        raise
    weakref.finalize(array, scratch.delete)
    return array


def as_signal(name: str, values) -> Signal | None:
    """Return ``values`` as a signal, where they are one or a Brian2 TimedArray; None for a table of samples."""
    if isinstance(values, Signal):
        return values
    if not type(values).__module__.startswith("brian2."):
        return None
    import brian2

    if isinstance(values, brian2.TimedArray):
        refuse_units(name, values)
        return TimeSeries(np.asarray(values.values).reshape(len(values.values), -1), float(values.dt))
    if isinstance(values, brian2.Group):
        raise InputTypeError(
            f"{name}: must be data, not a Brian2 group (got {type(values).__name__}); record the group first, and give "
            "what its monitor has as TimeSeries or SpikeTrains"
        )
    return None

"""Data on their way into a circuit: tables of samples and signals in time, checked and centred,
port by port.

A signal is given to ``run`` where a table would be: ``circuit.run(TimeSeries(x, dt=2),
TimeSeries(y, dt=10))``. The circuit must have time itself (:class:`~biorrr.models.Leaky`): its
`dt` is the tick, its `hold` the window over which plasticity averages, and one window of the signal
is one sample to all that counts samples (rates, snapshots, `every`). All times here are
milliseconds, or Brian2 times, as they are everywhere in biorrr.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import numpy as np

from biorrr.circuit.compile.blueprint import Port, Timing
from biorrr.circuit.stimulus.data_checks import (
    as_array,
    check_memory,
    check_table,
    file_facts,
    warn,
    warn_of_columns,
)
from biorrr.errors import InputError, InputTypeError
from biorrr.hints import did_you_transpose
from biorrr.models import Parts
from biorrr.models.validation import Checked, in_si, number_within, plain_within, whole_number

milliseconds = partial(plain_within, unit="ms", low=math.ulp(0))
_WHOLE = 1e-6  # error up to which a ratio of two times counts as whole


@dataclass(frozen=True, eq=False)
class TimeSeries(Checked):
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
        # A spike at the end of the recording belongs to its last row.
        at = np.minimum(times / dt * (1 + 1e-12), rows - 1).astype(np.int64)
        counts = np.bincount(at * n + indices, minlength=rows * n).reshape(rows, n)
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


_CHUNK = 2**22  # values looked at together
_ROWS = 1000  # samples that are kept for a closer look
# The largest absolute value of data: sums of fourth powers, and the units between, must not
# overflow.
_SMALLEST, _LARGEST = 1e-50, 1e50


def chunks(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield blocks of rows of ``array``, of bounded size."""
    step = max(_CHUNK // max(array.shape[1], 1), 1)
    return (array[start : start + step] for start in range(0, len(array), step))


@dataclass(frozen=True)
class Facts:
    """Facts about a table.

    Parameters
    ----------
    mean, variance : (features,)
        Of each column.
    power
        Mean of the squared length of a row as it is presented, centred or not; 1 where all rows are
        zero.
    some : (at most 1000, features)
        Evenly spaced rows.
    """

    mean: np.ndarray
    variance: np.ndarray
    power: float
    some: np.ndarray


def facts_of(name: str, array: np.ndarray, centre: bool = False) -> Facts:
    """Return the facts about ``array``; refuse values that floating point cannot work with.

    It is read twice: once for its means, once for deviations from them.
    """
    largest, total, at = 0.0, np.zeros(array.shape[1]), 0
    step = -(-len(array) // _ROWS)
    some = []
    for rows in chunks(array):
        largest = max(largest, float(np.abs(rows).max()))
        bad = ~np.isfinite(rows)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise InputError(
                f"{name}: must be finite (got {rows[row, column]} among the values of feature"
                f" {column}); drop or fill in such samples first"
            )
        total += rows.sum(axis=0, dtype=np.float64)
        some.append(np.array(rows[-at % step :: step]))
        at += len(rows)
    if largest and not _SMALLEST <= largest <= _LARGEST:
        raise InputError(
            f"{name}: its largest value must lie in [{_SMALLEST:g}, {_LARGEST:g}], so that squares"
            f" of squares stay within floating point (got {largest:g}); give it in another unit"
        )
    mean, squares, power = total / len(array), np.zeros(array.shape[1]), 0.0
    shift = mean if centre else np.zeros_like(mean)
    for rows in chunks(array):
        squares += np.square(rows - mean).sum(axis=0)
        power += float(np.square(rows - shift).sum())
    return Facts(mean, squares / len(array), power / len(array) or 1.0, np.concatenate(some))


@dataclass(frozen=True)
class Feed:
    """The data of one port.

    Parameters
    ----------
    values
        As given, shape (n_samples, features); memory maps stay on disk.
    facts
        Their statistics.
    centred
        True to subtract their mean from each sample.
    gain
        By which each sample is multiplied after that: the unit of the variable that it sets, in SI
        units; 0 where the input is cut.
    duration, ticks
        Ticks for which a sample is held, and for which a row is presented: equal where every
        sample is one row.
    in_time
        True for a signal in time, whose windows are the samples.
    labels
        Names of the features, where the data had any.
    file
        Size and time of the file that the values are read from when the run begins; None for those
        in memory.
    """

    values: np.ndarray
    facts: Facts
    centred: bool = False
    gain: float = 1.0
    duration: int = 1
    ticks: int = 1
    in_time: bool = False
    labels: tuple[str, ...] = ()
    file: tuple[int, int] | None = None

    @functools.cached_property
    def mean(self) -> np.ndarray:
        """The mean that is subtracted from each sample, shape (features,)."""
        return self.facts.mean if self.centred else np.zeros(self.values.shape[1])

    @property
    def samples(self) -> int:
        """Number of samples; of a signal in time, of its windows."""
        return len(self.values) * self.ticks // self.duration

    def row(self, sample: int, tick: int) -> int:
        """Return the row that is presented at a ``tick`` of the sample that is number ``sample`` of
        the data.
        """
        return (sample * self.duration + tick) // self.ticks


def read_feeds(
    parts: Parts, ports: Sequence[Port], X, Y, centre: bool, timing: Timing
) -> dict[str, Feed]:
    """Check the data that :meth:`biorrr.circuit.Microcircuit.run` is given; return them by port.

    Parameters
    ----------
    parts, ports
        Of the circuit.
    X, Y
        Tables of samples or signals in time, or a dict of them by port in place of both.
    centre
        True to subtract means.
    timing
        Of the circuit.
    """
    given = _by_port([port.name for port in ports], X, Y)
    called = {port: port if isinstance(X, Mapping) else port.upper() for port in given}
    feeds = {}
    for port in ports:
        unit = parts[port.population].variable(port.variable).unit
        feeds[port.name] = _feed(called[port.name], given[port.name], centre, timing, in_si(unit))
    counts = [feed.samples for feed in feeds.values()]
    if len(set(counts)) > 1:
        shapes = [feed.values.shape for feed in feeds.values() if not feed.in_time]
        pair = {**called} == {"x": "X", "y": "Y"} and len(shapes) == 2
        raise InputError(
            f"{', '.join(called.values())}: must have as many samples as each other (got"
            f" {' and '.join(map(str, counts))}){did_you_transpose(*shapes) if pair else ''}"
        )
    return feeds


def _by_port(ports: list[str], X, Y) -> dict[str, Any]:
    """Return the data of each of ``ports``."""
    if isinstance(X, Mapping):
        if Y is not None or set(X) != set(ports):
            raise InputError(
                f"inputs: must be data for {', '.join(ports)} (got"
                f" {', '.join(map(str, X)) or 'none'})"
            )
        return {name: X[name] for name in ports}
    if sorted(ports) != ["x", "y"]:
        raise InputTypeError(
            f"X: must be a dict of the data of each port, {', '.join(ports)} (got"
            f" {type(X).__name__}); X and Y are for circuits with ports x and y"
        )
    if isinstance(Y, list | tuple | np.ndarray) and np.ndim(Y) == 1:
        Y = np.reshape(Y, (-1, 1))
    elif hasattr(Y, "to_frame") and np.ndim(Y) == 1:
        Y = Y.to_frame()  # a column of a table keeps its name
    return {"x": X, "y": Y}


def _feed(name: str, data, centre: bool, timing: Timing, gain: float) -> Feed:
    """Return the feed of one port; errors call it ``name``."""
    in_time = isinstance(data, TimeSeries)
    if in_time and timing.instant:
        raise InputError(
            f"{name}: is a signal in time (TimeSeries), but in this circuit all is instant; give"
            " the circuit time, such as departures=[Leaky(hold=100, dt=2)], or a table with one"
            " row per sample"
        )
    values, ticks = (
        data.rows(name, timing) if in_time else (check_table(name, data), timing.duration)
    )
    if len(values) * ticks < timing.duration:
        raise InputError(
            f"{name}: must last at least one window of {1000 * timing.window:g} ms, which"
            f" Leaky(hold=...) sets (got {timing.tick * ticks * len(values):g} ms)"
        )
    facts = facts_of(name, values, centre)
    if len(values) > 1:
        warn_of_columns(name, facts.mean, facts.variance, len(values), centre)
    labels = tuple(str(column) for column in getattr(data, "columns", ()))
    return Feed(
        values, facts, centre, gain, timing.duration, ticks, in_time, labels, file_facts(values)
    )

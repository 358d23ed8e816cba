"""Data on their way into a circuit: checked and centred, port by port."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biorrr.circuit.compile.blueprint import Port, Timing
from biorrr.circuit.stimulus.data_checks import check_table, file_facts, warn_of_columns
from biorrr.circuit.stimulus.signals import TimeSeries
from biorrr.errors import InputError, InputTypeError
from biorrr.hints import did_you_transpose
from biorrr.models import Parts
from biorrr.models.validation import in_si

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
        Name, size and time of the file that the values are read from when the run begins; None for
        those in memory.
    """

    values: np.ndarray
    facts: Facts
    centred: bool = False
    gain: float = 1.0
    duration: int = 1
    ticks: int = 1
    in_time: bool = False
    labels: tuple[str, ...] = ()
    file: tuple[str, int, int] | None = None

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
        return (
            sample if self.ticks == self.duration else (sample * self.duration + tick) // self.ticks
        )

    def without_rows(self) -> Feed:
        """Return the same without rows."""
        none = np.empty((0, self.values.shape[1]))
        return replace(self, values=none, facts=replace(self.facts, some=none))


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
    called = {
        port: port if isinstance(X, Mapping) else port.upper() for port in given
    }  # as the user calls them
    feeds = {}
    for port in ports:
        unit = parts[port.population].variable(port.variable).unit
        feeds[port.name] = _feed(called[port.name], given[port.name], centre, timing, in_si(unit))
    lengths = {called[port]: feed.samples for port, feed in feeds.items()}
    if len(set(lengths.values())) > 1:
        counts = " and ".join(map(str, lengths.values()))
        shapes = [feed.values.shape for feed in feeds.values() if not feed.in_time]
        hint = (
            did_you_transpose(*shapes) if list(lengths) == ["X", "Y"] and len(shapes) == 2 else ""
        )
        raise InputError(
            f"{', '.join(lengths)}: must have as many samples as each other (got {counts}){hint}"
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
    Y = np.asarray(Y) if isinstance(Y, list | tuple) else Y
    Y = Y[:, None] if isinstance(Y, np.ndarray) and Y.ndim == 1 else Y
    Y = (
        Y.to_frame() if hasattr(Y, "to_frame") and np.ndim(Y) == 1 else Y
    )  # a column of a table keeps its name
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

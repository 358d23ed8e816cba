"""Trials, windows around an event of each, and the activity of units in these windows.

Activity, spike times or sampled traces, is read unit by unit and only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from biorrr.hints import did_you_mean
from biorrr.sims.data.values import DataError, Pair
from biorrr.sims.words import counted, listed, printable

# of a sampling interval: a sample on the edge of a bin belongs to it, whatever rounding says
TOLERANCE = 1e-6
MISSING = ("", "nan", "null", "N/A")  # as text in a column


def bin_edges(starts: np.ndarray, bins: int, width: float) -> np.ndarray:
    """Return seconds, (trials, bins + 1), for bins of equal width from ``starts`` (trials,) on.

    A bin holds what comes from its own edge on and before the next.
    """
    return starts[:, None] + width * np.arange(bins + 1)


@dataclass(frozen=True)
class Trials:
    """A table of trials.

    Parameters
    ----------
    times
        By name of an event, (trials,) seconds at which it happened; NaN where it did not.
    columns
        By name, (trials,) what else is known of each trial: a condition is one of these, or several
        together.
    name
        What the table is called.
    """

    times: Mapping[str, np.ndarray]
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    name: str = "trials"

    def __len__(self) -> int:
        return len(next(iter(self.times.values()), ()))

    def event(self, named: str) -> tuple[str, np.ndarray]:
        """Return name and times (trials,) of an event; ``stimulus`` finds ``stimulus_on_time``."""
        word = named.lower()
        exact = [
            name for name in self.times if name.lower() in (word, f"{word}_time", f"{word}_times")
        ]
        within = [name for name in self.times if word in name.lower().replace("stim_", "stimulus_")]
        found = exact or within
        if len(found) > 1:
            raise DataError(f"align: {named!r} may be {listed(found)}; name one of them")
        if not found:
            hint = did_you_mean(named, self.times)
            raise DataError(
                f"align: no event {named!r} in {self.name}{hint}; there are {listed(self.times)}"
            )
        return found[0], np.asarray(self.times[found[0]], dtype=float)

    def conditions(self, named: str) -> np.ndarray:
        """Return the number of each trial's condition, (trials,), from 0 on; -1 where a trial has
        none.

        ``named`` is a column, or several joined by ``+``: trials that agree in all of them share a
        condition.
        """
        names = [named] if named in self.columns else named.split("+")
        for name in names:
            if name not in self.columns:
                hint = did_you_mean(name, self.columns)
                raise DataError(
                    f"condition: no column {name!r} in {self.name}{hint}; there are"
                    f" {listed(self.columns)}"
                )
        table = pd.DataFrame({name: self.columns[name] for name in names})
        known = table.mask(table.isin(MISSING)).groupby(names, sort=True)
        return known.ngroup().fillna(-1).to_numpy(int)


def align(
    trials: Trials, span: tuple[float, float], pair: Pair, used: dict[str, str], notes: list[str]
) -> tuple[np.ndarray, int, np.ndarray]:
    """Return the starts of windows around the event that ``pair`` names, (trials,), their number of
    bins, and the number of each trial's condition, (trials,).

    Windows lie within the ``span`` of the recording, those of the target too. The event and the
    window are added to ``used``, and what is left out to ``notes``.
    """
    event, onsets = trials.event(pair.align)
    begin, bins = window_in_bins(trials, event, onsets, pair, notes)
    end, (first, last) = begin + bins * pair.bin, span
    total, usable = len(onsets), np.ones(len(onsets), dtype=bool)

    def leave_out(these: np.ndarray, why: str) -> None:
        if lost := int((usable & these).sum()):
            notes.append(f"{lost} of {total} trials left out, {why}")
        usable[these] = False

    leave_out(~np.isfinite(onsets), f"without {event}")
    if not usable.any():
        raise DataError(f"align: {event} happened in none of the {total} trials of {trials.name}")
    begins, ends = onsets + begin + min(pair.lag, 0.0), onsets + end + max(pair.lag, 0.0)
    earliest, slack = np.flatnonzero(usable)[0], 1e-9 * max(1.0, abs(last))
    outside = (begins < first - slack) | (ends > last + slack)
    leave_out(outside, "with windows that reach beyond the recording")
    if not usable.any():
        raise DataError(
            f"window: no trial's window lies within the recording, {first:g} to {last:g} s; the"
            f" first would be {begins[earliest]:g} to {ends[earliest]:g} s"
        )
    codes = np.zeros(total, dtype=int)
    if pair.condition is not None:
        codes = trials.conditions(pair.condition)
        leave_out(codes < 0, f"without a value of {pair.condition}")
        of_each = np.bincount(codes[usable], minlength=total)
        leave_out(of_each[codes] == 1, f"the only ones of their {pair.condition}")
    if usable.sum() < 2:
        raise DataError(
            f"{trials.name}: at least two trials must be left to hold some out (got"
            f" {int(usable.sum())} of {total}:"
            f" {'; '.join(note for note in notes if 'trials' in note) or 'there are no more'})"
        )
    refuse_overlap(np.sort(onsets[usable]), end - begin + abs(pair.lag))
    used |= {
        "trials": f"{int(usable.sum())} of {total} in {printable(trials.name)}",
        "align": printable(event),
        "window": f"{begin:g} to {end:g} s, {counted(bins, 'bin')} of {pair.bin:g} s",
        "condition": "all trials alike" if pair.condition is None else printable(pair.condition),
    }
    return onsets[usable] + begin, bins, np.unique(codes[usable], return_inverse=True)[1]


def window_in_bins(
    trials: Trials, event: str, onsets: np.ndarray, pair: Pair, notes: list[str]
) -> tuple[float, int]:
    """Return where the window begins, in seconds from the event, and its number of bins; unless
    ``pair`` has a window, it lasts from the event to the end of the shortest trial.
    """
    if pair.window is not None:
        begin, end = pair.window
        bins = round((end - begin) / pair.bin)
        if bins < 1 or abs(begin + bins * pair.bin - end) > 1e-6 * pair.bin:
            raise DataError(
                f"window: must hold a whole number of bins (got {begin:g} to {end:g} s, and bins of"
                f" {pair.bin:g} s); end it at {begin + max(bins, 1) * pair.bin:g} s, for instance"
            )
        return begin, bins
    lasts = trials.times["stop_time"] - onsets
    shortest = np.min(lasts[np.isfinite(lasts) & (lasts > 0)], initial=np.inf)
    bins = int(shortest / pair.bin + 1e-6) if np.isfinite(shortest) else 0
    if not bins:
        raise DataError(
            f"bin: must fit into every trial (got {pair.bin:g} s, and {shortest:g} s from {event}"
            " to the end of the shortest); choose a window"
        )
    notes.append(
        f"window is 0 to {bins * pair.bin:g} s from {event}, up to the end of the shortest trial"
    )
    return 0.0, bins


def refuse_overlap(onsets: np.ndarray, length: float) -> None:
    """Refuse windows that overlap: a spike that belongs to two trials would be in training and test
    at once.
    """
    gaps = np.diff(onsets)
    overlapping = gaps < length - 1e-6  # a microsecond of rounding
    if overlapping.any():
        first = int(overlapping.argmax())
        raise DataError(
            "window: trials must not overlap, or held-out spikes are seen in training (got"
            f" {int(overlapping.sum())} of {len(onsets)} that begin before the one before has"
            f" ended, the first at {onsets[first + 1]:g} s); with its lag the window takes"
            f" {length:g} s, the closest events are {gaps.min():g} s apart"
        )


# -- activity --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpikeTrains:
    """Spike times of each unit.

    Parameters
    ----------
    read
        Called with the number of a unit, returns its spike times in seconds, (spikes,).
    units
        Number of units.
    """

    read: Callable[[int], np.ndarray]
    units: int

    counted: ClassVar = True  # values are numbers of spikes, so that a mean rate means something
    span: ClassVar = (-np.inf, np.inf)  # not known without reading all spikes

    def columns(self, units: Sequence[int], edges: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the spike counts of each unit in turn, (trials * bins,)."""
        for unit in units:
            times = np.asarray(self.read(unit), dtype=float)
            if not np.isfinite(times).all():
                raise DataError(
                    f"unit {unit}: spike times must be finite (got"
                    f" {int((~np.isfinite(times)).sum())} that are not); export them again, or"
                    " leave the unit out"
                )
            yield np.diff(np.searchsorted(np.sort(times), edges), axis=1).ravel().astype(float)


@dataclass(frozen=True)
class Series:
    """Traces of some units, sampled together.

    Parameters
    ----------
    name
        Name of the series in the file.
    data
        (samples, units), an array or anything that is read by slices, such as an HDF5 dataset.
    times
        (samples,) seconds.
    rate
        Samples per second.
    counted
        True if values are counts, which add up within a bin; others are averaged.
    """

    name: str
    data: Any
    times: np.ndarray
    rate: float
    counted: bool = False

    @property
    def units(self) -> int:
        """Number of units."""
        return self.data.shape[1]

    @property
    def span(self) -> tuple[float, float]:
        """First and last moment, in seconds; a sample lasts until the next."""
        return float(self.times[0]), float(self.times[-1] + 1 / self.rate)

    def columns(self, units: Sequence[int], edges: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the mean of the samples in each bin (the sum for counts), (trials * bins,), of each
        unit in turn; they are read together, as they lie in the file.
        """
        # Sample with which each bin begins.
        first = np.searchsorted(self.times, edges - TOLERANCE / self.rate)
        samples = np.diff(first)
        if (empty := (samples == 0).any(axis=1)).any():
            raise DataError(
                f"bin: each must hold a sample of {self.name}, {1 / self.rate:g} s apart (got none"
                f" in a bin of the trial that begins at {edges[empty.argmax(), 0]:g} s); use a"
                " longer bin, or leave the trial out"
            )
        columns = slice(min(units), max(units) + 1)
        binned = np.empty((*samples.shape, len(units)))
        for trial in np.argsort(edges[:, 0]):  # in time: compressed chunks are opened once
            begin, end = first[trial, 0], first[trial, -1]
            piece = np.asarray(self.data[begin:end, columns], dtype=float)
            chosen = piece[:, np.asarray(units) - columns.start]
            binned[trial] = np.add.reduceat(chosen, first[trial, :-1] - begin, axis=0)
        binned = binned if self.counted else binned / samples[..., None]
        yield from binned.reshape(-1, len(units)).T

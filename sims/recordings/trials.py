"""Trials of a recording: their events, their conditions, which of them can be used, and windows
around an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from biorrr.hints import did_you_mean
from biorrr.sims.data.values import DataError, Pair
from biorrr.sims.recordings.activity import Windows
from biorrr.sims.words import counted, listed, printable


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
        codes = []
        for name in [named] if named in self.columns else named.split("+"):
            if name not in self.columns:
                hint = did_you_mean(name, self.columns)
                raise DataError(
                    f"condition: no column {name!r} in {self.name}{hint}; there are"
                    f" {listed(self.columns)}"
                )
            values = np.asarray(self.columns[name])
            if values.dtype.kind == "f":
                missing = np.isnan(values)
            else:
                missing = np.isin(values.astype(str), ("", "nan", "null", "N/A"))
            values = values if values.dtype.kind in "fiub" else values.astype(str)
            codes.append(np.where(missing, -1, np.unique(values, return_inverse=True)[1]))
        joint = np.column_stack(codes)
        known, numbers = (joint >= 0).all(axis=1), np.full(len(joint), -1)
        numbers[known] = np.unique(joint[known], axis=0, return_inverse=True)[1].ravel()
        return numbers


def align(
    trials: Trials, span: tuple[float, float], pair: Pair, used: dict[str, str], notes: list[str]
) -> tuple[Windows, np.ndarray]:
    """Return windows around the event that ``pair`` names, and the number of each trial's
    condition, (trials,).

    Windows lie within the ``span`` of the recording, those of the target too. The event and the
    window are added to ``used``, and what is left out to ``notes``.
    """
    event, onsets = trials.event(pair.align)
    begin, end = pair.window or up_to_the_shortest(trials, event, onsets, pair.bin, notes)
    bins, (first, last) = bins_between(begin, end, pair.bin), span
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
    return (
        Windows(onsets[usable] + begin, bins, pair.bin),
        np.unique(codes[usable], return_inverse=True)[1],
    )


def up_to_the_shortest(
    trials: Trials, event: str, onsets: np.ndarray, bin: float, notes: list[str]
) -> tuple[float, float]:
    """Return begin and end of a window in seconds from the event: whole bins, to the end of the
    shortest trial.
    """
    if "stop_time" not in trials.times:
        raise DataError(
            "window: trials have no stop_time here; say from when to when, such as --window 0 1"
        )
    lasts = np.asarray(trials.times["stop_time"], dtype=float) - onsets
    lasts = lasts[np.isfinite(lasts) & (lasts > 0)]
    bins = int(np.floor(lasts.min() / bin + 1e-6)) if len(lasts) else 0
    if not bins:
        shortest = f"{lasts.min():g} s" if len(lasts) else "no time"
        raise DataError(
            f"bin: must fit into every trial (got {bin:g} s, and {shortest} from {event} to the end"
            " of the shortest); choose a window"
        )
    notes.append(
        f"window is 0 to {bins * bin:g} s from {event}, up to the end of the shortest trial"
    )
    return 0.0, bins * bin


def bins_between(begin: float, end: float, bin: float) -> int:
    """Return the number of bins that fill a window."""
    length = end - begin
    if not length > 0:
        raise DataError(f"window: must begin before it ends (got {begin:g} to {end:g} s)")
    if bin > length * (1 + 1e-9):
        raise DataError(
            f"bin: must not be longer than the window (got {bin:g} s, and a window of {length:g} s)"
        )
    bins = round(length / bin)
    if abs(bins * bin - length) > 1e-6 * bin:
        whole = begin + np.floor(length / bin) * bin
        raise DataError(
            f"window: must hold a whole number of bins (got {length:g} s and bins of {bin:g} s); "
            f"end it at {whole:g} s, for instance"
        )
    return bins


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

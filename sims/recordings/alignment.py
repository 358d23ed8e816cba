"""Windows around an event, one per trial, and the choice of trials that can be used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biorrr.sims.data.kinds import Pair
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import counted, printable
from biorrr.sims.recordings.trials import Trials


@dataclass(frozen=True)
class Alignment:
    """Windows of equal length around an event.

    Parameters
    ----------
    onsets
        (trials,) seconds at which the event happened, of the trials that are used.
    conditions
        (trials,) number of each trial's condition, from 0 on.
    begin
        Seconds from the event to the beginning of the window.
    bins, width
        How many bins, and how long each is, in seconds.
    """

    onsets: np.ndarray
    conditions: np.ndarray
    begin: float
    bins: int
    width: float


def align(trials: Trials, span: tuple[float, float], pair: Pair, used: dict[str, str], notes: list[str]) -> Alignment:
    """Return windows around the event that ``pair`` names, within the ``span`` of the recording.

    The event and the window are added to ``used``, and what is left out to ``notes``.
    """
    event, onsets = trials.event(pair.align)
    window = window_of(trials, pair.window, event, onsets, pair.bin, notes)
    bins = bins_in(window, pair.bin)
    kept, conditions = usable_trials(trials, span, event, onsets, pair.condition, window, pair.lag, notes)
    refuse_overlap(onsets[kept], window, pair.lag)
    used["trials"] = f"{len(kept)} of {len(onsets)} in {printable(trials.name)}"
    used["align"] = printable(event)
    used["window"] = f"{window[0]:g} to {window[1]:g} s, {counted(bins, 'bin')} of {pair.bin:g} s"
    used["condition"] = "all trials alike" if pair.condition is None else printable(pair.condition)
    return Alignment(onsets[kept], conditions, window[0], bins, pair.bin)


def window_of(
    trials: Trials, window: tuple[float, float] | None, event: str, onsets: np.ndarray, bin: float, notes: list[str]
) -> tuple[float, float]:
    """Return begin and end of the window in seconds from the event: as given, or to the end of the shortest trial."""
    if window is not None:
        begin, end = window
        if not begin < end:
            raise DataError(f"window: must begin before it ends (got {begin:g} to {end:g} s)")
        return float(begin), float(end)
    if "stop_time" not in trials.times:
        raise DataError("window: trials have no stop_time here; say from when to when, such as --window 0 1")
    lasts = np.asarray(trials.times["stop_time"], dtype=float) - onsets
    lasts = lasts[np.isfinite(lasts) & (lasts > 0)]
    bins = int(np.floor(lasts.min() / bin + 1e-6)) if len(lasts) else 0
    if not bins:
        shortest = f"{lasts.min():g} s" if len(lasts) else "no time"
        raise DataError(
            f"bin: must fit into every trial (got {bin:g} s, and {shortest} from {event} to the end of the shortest); "
            "choose a window"
        )
    notes.append(f"window is 0 to {bins * bin:g} s from {event}, up to the end of the shortest trial")
    return 0.0, bins * bin


def usable_trials(
    trials: Trials,
    span: tuple[float, float],
    event: str,
    onsets: np.ndarray,
    condition: str | None,
    window: tuple[float, float],
    lag: float,
    notes: list[str],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the trials that can be used, and the condition of each of them, from 0 on."""
    total = len(onsets)
    happened = np.isfinite(onsets)
    if not happened.any():
        raise DataError(f"align: {event} happened in none of the {total} trials of {trials.name}")
    if lost := total - int(happened.sum()):
        notes.append(f"{lost} of {total} trials left out, without {event}")
    first, last = span
    begins, ends = onsets + window[0] + min(lag, 0.0), onsets + window[1] + max(lag, 0.0)
    slack = 1e-9 * max(1.0, abs(last)) if np.isfinite(last) else 0.0
    inside = happened & (begins >= first - slack) & (ends <= last + slack)
    if lost := int((happened & ~inside).sum()):
        notes.append(f"{lost} of {total} trials left out, with windows that reach beyond the recording")
    if not inside.any():
        raise DataError(
            f"window: no trial's window lies within the recording, {first:g} to {last:g} s; the first would be "
            f"{begins[happened][0]:g} to {ends[happened][0]:g} s"
        )
    codes = np.zeros(total, dtype=int) if condition is None else trials.conditions(condition)
    usable = inside & (codes >= 0)
    if lost := int((inside & (codes < 0)).sum()):
        notes.append(f"{lost} of {total} trials left out, without a value of {condition}")
    if condition is not None:
        often = np.bincount(codes[usable], minlength=1)
        single = usable & (often[np.maximum(codes, 0)] < 2)
        if lost := int(single.sum()):
            notes.append(f"{lost} of {total} trials left out, the only ones of their {condition}")
        usable &= ~single
    if usable.sum() < 2:
        raise DataError(
            f"{trials.name}: at least two trials must be left to hold some out (got {int(usable.sum())} of {total}: "
            f"{'; '.join(note for note in notes if 'trials' in note) or 'there are no more'})"
        )
    kept = np.flatnonzero(usable)
    return kept, np.unique(codes[kept], return_inverse=True)[1]


def refuse_overlap(onsets: np.ndarray, window: tuple[float, float], lag: float) -> None:
    """Refuse windows that overlap: a spike that belongs to two trials would be in training and test at once."""
    ordered = np.sort(onsets)
    length = window[1] - window[0] + abs(lag)
    gaps = np.diff(ordered)
    overlapping = gaps < length - 1e-6  # a microsecond of rounding
    if overlapping.any():
        first = int(overlapping.argmax())
        raise DataError(
            f"window: trials must not overlap, or held-out spikes are seen in training (got {int(overlapping.sum())} "
            f"of {len(onsets)} that begin before the one before has ended, the first at {ordered[first + 1]:g} s); "
            f"with its lag the window takes {length:g} s, the closest events are {gaps.min():g} s apart"
        )


def bins_in(window: tuple[float, float], bin: float) -> int:
    """Return the number of bins that fill the window."""
    length = window[1] - window[0]
    if bin > length * (1 + 1e-9):
        raise DataError(f"bin: must not be longer than the window (got {bin:g} s, and a window of {length:g} s)")
    bins = round(length / bin)
    if abs(bins * bin - length) > 1e-6 * bin:
        whole = window[0] + np.floor(length / bin) * bin
        raise DataError(
            f"window: must hold a whole number of bins (got {length:g} s and bins of {bin:g} s); "
            f"end it at {whole:g} s, for instance"
        )
    return bins

"""Windows around an event, one per trial, and the choice of trials that can be used."""

from __future__ import annotations

import numpy as np

from biorrr.sims.data import DataError, Pair
from biorrr.sims.recordings.activity import Windows
from biorrr.sims.recordings.trials import Trials
from biorrr.sims.words import counted, printable


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
    bins = bins_between(begin, end, pair.bin)
    total, usable = len(onsets), np.isfinite(onsets)
    if not usable.any():
        raise DataError(f"align: {event} happened in none of the {total} trials of {trials.name}")

    def leave_out(these: np.ndarray, why: str) -> None:
        if lost := int(these.sum()):
            notes.append(f"{lost} of {total} trials left out, {why}")

    leave_out(~usable, f"without {event}")
    first, last = span
    begins, ends = onsets + begin + min(pair.lag, 0.0), onsets + end + max(pair.lag, 0.0)
    slack = 1e-9 * max(1.0, abs(last)) if np.isfinite(last) else 0.0
    inside = usable & (begins >= first - slack) & (ends <= last + slack)
    leave_out(usable & ~inside, "with windows that reach beyond the recording")
    if not inside.any():
        raise DataError(
            f"window: no trial's window lies within the recording, {first:g} to {last:g} s; the"
            f" first would be {begins[usable][0]:g} to {ends[usable][0]:g} s"
        )
    usable, codes = inside, np.zeros(total, dtype=int)
    if pair.condition is not None:
        codes = trials.conditions(pair.condition)
        leave_out(usable & (codes < 0), f"without a value of {pair.condition}")
        usable = usable & (codes >= 0)
        single = usable & (np.bincount(codes[usable], minlength=1)[np.maximum(codes, 0)] < 2)
        leave_out(single, f"the only ones of their {pair.condition}")
        usable = usable & ~single
    if usable.sum() < 2:
        raise DataError(
            f"{trials.name}: at least two trials must be left to hold some out (got"
            f" {int(usable.sum())} of {total}:"
            f" {'; '.join(note for note in notes if 'trials' in note) or 'there are no more'})"
        )
    refuse_overlap(np.sort(onsets[usable]), end - begin + abs(pair.lag))
    used["trials"] = f"{int(usable.sum())} of {total} in {printable(trials.name)}"
    used["align"] = printable(event)
    used["window"] = f"{begin:g} to {end:g} s, {counted(bins, 'bin')} of {pair.bin:g} s"
    used["condition"] = "all trials alike" if pair.condition is None else printable(pair.condition)
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

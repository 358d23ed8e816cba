"""Contents of a recording in words, and a command to run on it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np

from biorrr.sims.data.stores import open_store
from biorrr.sims.data.words import counted, listed
from biorrr.sims.recordings.nwb import trial_tables
from biorrr.sims.recordings.opening import open_recording
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.recordings.trials import Trials

FEWEST = 10  # units of an area that is proposed
MOST_CONDITIONS = 200
# Columns that often say which trials are alike.
LIKELY = ("stimulus_condition_id", "condition", "orientation", "frame", "image_name", "stimulus_name", "contrast")


def describe(path: Path, trials: str | None = None) -> str:
    """Return areas, units, trials, events and conditions of the recording at ``path``, and a command."""
    tables = ""
    with open_store(path) as store:
        if store.root is not None and store.is_nwb:
            found = {name: len(table) for name, table in trial_tables(store.root).items()}
            tables = listed(f"{name} ({count})" for name, count in found.items())
            if trials is None and "trials" not in found and len(found) > 1:
                trials = next(iter(found))  # the longest of those that look like trials
    recording = open_recording(str(path), trials=trials)
    lines = {
        "areas": listed(f"{name} ({counted(count, 'unit')})" for name, count in recording.units_of_areas().items()),
        "units": f"{len(recording.areas)}" + _quality(recording),
        **({"tables": tables} if tables else {}),
        "trials": f"{len(recording.trials)} in {recording.trials.name}",
        "events": listed(_event(name, times) for name, times in recording.trials.times.items()),
        "conditions": listed(_column(name, values) for name, values in recording.trials.columns.items()),
        "found in": "; ".join(f"{name}: {where}" for name, where in recording.used.items()) or "arrays",
        "to note": "; ".join([*recording.notes, *_few(recording)]) or "nothing",
        "run": _command(path, recording, trials),
    }
    width = max(map(len, lines))
    return "\n".join([str(path), *(f"  {name:{width}}  {text}" for name, text in lines.items())])


def _quality(recording: Recording) -> str:
    return "" if recording.good is None else f", {int(recording.good.sum())} of good quality"


def _few(recording: Recording) -> list[str]:
    few = [name for name, count in recording.units_of_areas().items() if count < FEWEST]
    return [f"fewer than {FEWEST} units in {listed(few)}: their ranks will be low"] if few else []


def _event(name: str, times: np.ndarray) -> str:
    known = times[np.isfinite(times)]
    if not len(known):
        return f"{name} (never)"
    missing = f", not in {len(times) - len(known)}" if len(known) < len(times) else ""
    return f"{name} ({known.min():g} to {known.max():g} s{missing})"


def _column(name: str, values: np.ndarray) -> str:
    return f"{name} ({counted(len(_distinct(values)), 'value')})"


def _distinct(values: np.ndarray) -> np.ndarray:
    return np.unique(values[np.isfinite(values)] if values.dtype.kind == "f" else values)


def _command(path: Path, recording: Recording, trials: str | None) -> str:
    """Return a command that fits the file: its two largest areas, an event, and a window that fits between events."""
    areas = [name for name in recording.units_of_areas() if name not in ("unknown", "root", "void", "nan")]
    if len(areas) < 2:
        return f"none: two areas are needed, and there is {listed(areas)}"
    words = ["biorrr", "communication", "--data", str(path), "--source", areas[0], "--target", areas[1]]
    if trials is not None:
        words += ["--trials", trials]
    event, window = _window(recording.trials)
    words += ["--align", event, "--window", "0", f"{window:g}", "--bin", "0.1" if window >= 0.2 else f"{window / 2:g}"]
    if condition := _condition(recording.trials):
        words += ["--condition", condition]
    return shlex.join(words)


def _window(trials: Trials) -> tuple[str, float]:
    """Return an event of nearly all trials, a stimulus if possible, and seconds that fit after it."""
    often = [name for name, times in trials.times.items() if np.isfinite(times).mean() > 0.9 and name != "stop_time"]
    event = next((name for name in often if "stim" in name.lower() and "off" not in name.lower()), often[0])
    times = np.asarray(trials.times[event], dtype=float)
    times = np.sort(times[np.isfinite(times)])
    room = float(np.diff(times).min()) if len(times) > 1 else 1.0
    if "stop_time" in trials.times:
        lasts = np.asarray(trials.times["stop_time"], dtype=float) - np.asarray(trials.times[event], dtype=float)
        lasts = lasts[np.isfinite(lasts) & (lasts > 0)]
        room = min(room, float(lasts.min())) if len(lasts) else room
    return event, min(max(np.floor(room * 10 + 1e-6) / 10, 0.1), 1.0) if room >= 0.1 else room


def _condition(trials: Trials) -> str | None:
    """Return a column that groups the trials, with each value in several of them."""
    for name in (*LIKELY, *trials.columns):
        if name in trials.columns:
            kinds = len(_distinct(trials.columns[name]))
            if 2 <= kinds <= min(MOST_CONDITIONS, len(trials) // 4):
                return name
    return None

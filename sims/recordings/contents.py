"""Contents of a recording in words, and a command to run on it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np

from biorrr.sims.data.look import aligned
from biorrr.sims.recordings.nwb import open_nwb, trial_tables
from biorrr.sims.recordings.opening import open_recording
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.words import counted, listed

FEWEST = 10  # units of an area that is proposed


def describe(path: Path, trials: str | None = None) -> str:
    """Return areas, units, trials, events and conditions of the recording at ``path``, and a
    command.
    """
    tables = ""
    if path.suffix.lower() == ".nwb":
        found = {name: len(table) for name, table in trial_tables(open_nwb(path)).items()}
        tables = listed(f"{name} ({count})" for name, count in found.items())
        if trials is None and "trials" not in found and len(found) > 1:
            trials = next(iter(found))  # the longest of those that look like trials
    recording = open_recording(str(path), trials=trials)
    good = "" if recording.good is None else f", {int(recording.good.sum())} of good quality"
    few = [name for name, count in recording.units_of_areas().items() if count < FEWEST]
    low = [f"fewer than {FEWEST} units in {listed(few)}: their ranks will be low"] if few else []
    lines = {
        "areas": recording.listed_areas,
        "units": f"{len(recording.areas)}{good}",
        **({"tables": tables} if tables else {}),
        "trials": f"{len(recording.trials)} in {recording.trials.name}",
        "events": listed(_event(name, times) for name, times in recording.trials.times.items()),
        "conditions": listed(
            _column(name, values) for name, values in recording.trials.columns.items()
        ),
        "found in": (
            "; ".join(f"{name}: {where}" for name, where in recording.used.items()) or "arrays"
        ),
        "to note": "; ".join([*recording.notes, *low]) or "nothing",
        "run": _command(path, recording, trials),
    }
    return aligned(str(path), lines)


def _event(name: str, times: np.ndarray) -> str:
    known = times[np.isfinite(times)]
    if not len(known):
        return f"{name} (never)"
    missing = f", not in {len(times) - len(known)}" if len(known) < len(times) else ""
    return f"{name} ({known.min():g} to {known.max():g} s{missing})"


def _column(name: str, values: np.ndarray) -> str:
    known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    return f"{name} ({counted(len(np.unique(known)), 'value')})"


def _command(path: Path, recording: Recording, trials: str | None) -> str:
    """Return a command that fits the file, with its two largest areas."""
    areas = [
        name
        for name in recording.units_of_areas()
        if name not in ("unknown", "root", "void", "nan")
    ]
    if len(areas) < 2:
        return f"none: two areas are needed, and there is {listed(areas)}"
    words = [
        "biorrr",
        "communication",
        "--data",
        str(path),
        "--source",
        areas[0],
        "--target",
        areas[1],
    ]
    return shlex.join(words if trials is None else [*words, "--trials", trials])

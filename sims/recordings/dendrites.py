"""Somas and dendrites of the same neurons, from arrays by name or from NWB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from biorrr.analysis.instructive import DendriticRecording
from biorrr.sims.data import DataError, Dendrites
from biorrr.sims.data.array_files import is_nwb, read_npz
from biorrr.sims.recordings.hdf5 import Group
from biorrr.sims.recordings.measured import Measured, checked_numbers
from biorrr.sims.recordings.nwb import (
    Table,
    find_trials,
    kind_of,
    open_nwb,
    series_in,
    series_named,
    times_of,
)
from biorrr.sims.words import listed

OF_NWB = (
    "soma",
    "dendrite",
    "error",
    "role",
    "condition",
)  # options that name something of an NWB file
SAME_PACE = 0.1  # frames by which the time from trial to trial may differ


def read_dendrites(value: Dendrites) -> Measured:
    """Read somas and dendrites.

    An .npz file has ``soma`` and ``dendrite`` (frames, neurons), ``rate`` in frames per second, and
    if known ``error`` (frames,) or (frames, components), ``role`` (neurons,) or (neurons,
    components), ``condition`` (frames,), and ``period`` in frames, of trials at a fixed pace. An
    NWB file has two series of ROIs, and by name a time series for the error, a column of the table
    of the somas' ROIs for the role, and a column of the trials for the condition.
    """
    path, used = Path(value.file), dict[str, str]()
    held = _from_nwb(open_nwb(path), value, used) if is_nwb(path) else _from_npz(path, value)
    try:
        recording = DendriticRecording(**held)
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: {error}") from error
    return Measured(value.file, recording, used)


def _from_npz(path: Path, value: Dendrites) -> dict[str, Any]:
    for name in OF_NWB:
        if getattr(value, name) is not None:
            raise DataError(
                f"{name}: applies to NWB files only; the arrays of {path} have fixed names"
            )
    known = ("error", "role", "condition", "period")
    held: dict[str, Any] = {**read_npz(path, ("soma", "dendrite", "rate"), known)}
    for name in {"rate", "period"} & held.keys():
        held[name] = float(checked_numbers(str(path), name, held[name], 0))
    if "condition" in held and held["condition"].dtype.kind in "US":
        held["condition"] = np.unique(held["condition"], return_inverse=True)[1]
    if float(held.get("period", 1.0)).is_integer():
        held["period"] = int(held.get("period", 1))
    return held


# -- NWB -------------------------------------------------------------------------------------------


def _from_nwb(root: Group, value: Dendrites, used: dict[str, str]) -> dict[str, Any]:
    series = [one for one in series_in(root) if one.array("data").ndim <= 2]
    rois = [
        one for one in series if kind_of(one) == "RoiResponseSeries" and one.array("data").ndim == 2
    ]
    soma = _named(root, rois, "soma", value.soma or "soma", used)
    dendrite = _named(root, rois, "dendrite", value.dendrite or "dend", used)
    (times, rate), (other, _) = times_of(soma), times_of(dendrite)
    if len(times) != len(other) or np.abs(times - other).max() * rate >= 1:
        raise DataError(
            f"{root.file}: somas and dendrites must be imaged together, frame by frame (got"
            f" {len(times)} and {len(other)} frames, up to"
            f" {np.abs(times[: len(other)] - other[: len(times)]).max():.3g} s apart)"
        )
    held = {"soma": soma.array("data")[()], "dendrite": dendrite.array("data")[()], "rate": rate}
    if value.error is not None:
        others = [one for one in series if kind_of(one) != "RoiResponseSeries"]
        held["error"] = _at(times, rate, _named(root, others, "error", value.error, used))
    if value.role is not None:
        planes, rows = Table(soma).references("rois")
        if not planes.group.has_array(value.role):
            there = listed(planes.columns())
            raise DataError(
                f"role: no column {value.role!r} in {planes.name} of {root.file}; there are {there}"
            )
        roles = planes.group.array(value.role).numbers(1, 2)
        held["role"] = roles[rows[rows < len(roles)]]
        used["role"] = f"{planes.name}.{value.role}"
    if value.condition is not None:
        held |= _conditions(root, value.condition, times, rate)
        used["condition"] = value.condition + (
            f", every {held['period']} frames" if "period" in held else ""
        )
    return held


def _named(root: Group, found: list[Group], part: str, name: str, used: dict[str, str]) -> Group:
    """Return the one series that ``name`` means."""
    fitting = series_named(found, name)
    if len(fitting) != 1:
        there = listed(one.name.strip("/") for one in found)
        raise DataError(
            f"{part}: must be one series of {root.file} called {name!r} (got {len(fitting)}); name"
            f" one of {there}"
        )
    used[part] = fitting[0].name.strip("/")
    return fitting[0]


def _at(times: np.ndarray, rate: float, series: Group) -> np.ndarray:
    """Return the last values of a series at each of ``times``, the frames of the recording."""
    values, (moments, _) = series.array("data")[()].astype(float), times_of(series)
    if moments[0] > times[0] + 1 / rate or moments[-1] < times[-1] - 1 / rate:
        raise DataError(
            f"{series.file}: {series.name} must cover the recording, {times[0]:g} to {times[-1]:g}"
            f" s (got {moments[0]:g} to {moments[-1]:g} s)"
        )
    return values[np.maximum(np.searchsorted(moments, times, side="right") - 1, 0)]


def _conditions(root: Group, column: str, times: np.ndarray, rate: float) -> dict[str, Any]:
    """Return the condition of each frame, -1 between trials, and the period of trials that come at
    a fixed pace.
    """
    trials = find_trials(root, None)
    codes, start = trials.conditions(column), trials.times["start_time"]
    order = np.argsort(start, kind="stable")
    order = order[np.isfinite(start[order])]
    codes, start = codes[order], start[order]
    stop = (
        trials.times["stop_time"][order]
        if "stop_time" in trials.times
        else np.append(start[1:], times[-1])
    )
    last = np.searchsorted(start, times, side="right") - 1
    inside = (last >= 0) & (times < stop[np.maximum(last, 0)])
    held: dict[str, Any] = {"condition": np.where(inside, codes[np.maximum(last, 0)], -1)}
    pace = np.diff(start) * rate
    if len(pace) and np.abs(pace - np.round(pace[0])).max() < SAME_PACE:
        held["period"] = max(1, round(float(pace[0])))
    return held

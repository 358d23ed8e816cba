"""Somas and dendrites of the same neurons, from arrays by name or from NWB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from biorrr.analysis.instructive import DendriticRecording
from biorrr.sims.data.hdf5 import Array, Group
from biorrr.sims.data.kinds import Dendrites
from biorrr.sims.data.stores import Store, open_store
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import listed
from biorrr.sims.recordings.measured import Measured, checked_numbers, one_number
from biorrr.sims.recordings.nwb import find_trials, opened_nwb
from biorrr.sims.recordings.nwb_tables import (
    Table,
    kind_of,
    location_of,
    row_numbers,
    series_in,
    series_named,
    times_of,
)

NEEDED, KNOWN = ("soma", "dendrite", "rate"), ("error", "role", "condition")
# Words by which an NWB file's own names are found, where none is given.
WORDS = {"soma": ("soma", "somata"), "dendrite": ("dend", "apical", "tuft"), "error": ("error",), "role": ("role",)}
SAME_PACE = 0.1  # frames by which the time from trial to trial may differ


def read_dendrites(value: Dendrites) -> Measured:
    """Read somas and dendrites.

    A file of arrays has ``soma`` and ``dendrite`` (frames, neurons), ``rate`` in frames per second, and if known
    ``error`` (frames,) or (frames, components), ``role`` (neurons,) or (neurons, components), ``condition`` (frames,),
    and ``period`` in frames, of trials at a fixed pace. An NWB file has two series of ROIs, a time series for the
    error, a column of the table of the somas' ROIs for the role, and a column of the trials for the condition. Unless
    they are named, they are found by words such as soma, apical, error and role; conditions are not guessed.
    """
    path, used = Path(value.file), dict[str, str]()
    with open_store(path) as store:
        if store.is_nwb:
            held = _from_nwb(opened_nwb(path), value, used)
        else:
            named = [name for name in WORDS | {"condition": ()} if getattr(value, name) is not None]
            if named:
                raise DataError(f"{named[0]}: names something of an NWB file; {path} has its own names")
            held = _from_arrays(store)
    for name in ("soma", "dendrite", "error", "role"):
        if name in held:
            held[name] = checked_numbers(value.file, name, held[name], 1, 2, nan=True)
    try:
        recording = DendriticRecording(**held)
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: {error}") from error
    return Measured(value.file, recording, used)


def _from_arrays(store: Store) -> dict[str, Any]:
    missing = [name for name in NEEDED if name not in store.names]
    if missing:
        raise DataError(
            f"{store.path}: must hold soma and dendrite (frames, neurons) and rate (frames per second) (got "
            f"{store.described}, and no {missing[0]})"
        )
    held: dict[str, Any] = {name: store.read(name) for name in ("soma", "dendrite", *KNOWN) if name in store.names}
    held |= {name: one_number(str(store.path), name, store.read(name)) for name in ("rate", "period")
             if name in store.names}  # fmt: skip
    if "condition" in held and held["condition"].dtype.kind in "US":
        held["condition"] = np.unique(held["condition"], return_inverse=True)[1]
    if float(held.get("period", 1.0)).is_integer():
        held["period"] = int(held.get("period", 1))
    return held


# -- NWB ---------------------------------------------------------------------------------------------------------------


def _from_nwb(root: Group, value: Dendrites, used: dict[str, str]) -> dict[str, Any]:
    series = [one for one in series_in(root) if one.array("data").ndim <= 2]
    rois = [one for one in series if kind_of(one) == "RoiResponseSeries" and one.array("data").ndim == 2]
    others = [one for one in series if kind_of(one) != "RoiResponseSeries"]
    soma, dendrite = (_named(root, rois, part, getattr(value, part), used) for part in ("soma", "dendrite"))
    assert soma is not None
    assert dendrite is not None
    (times, rate), (other, _) = times_of(soma), times_of(dendrite)
    if len(times) != len(other) or np.abs(times - other).max() * rate >= 1:
        raise DataError(
            f"{root.file}: somas and dendrites must be imaged together, frame by frame (got {len(times)} and "
            f"{len(other)} frames, up to {np.abs(times[: len(other)] - other[: len(times)]).max():.3g} s apart)"
        )
    held: dict[str, Any] = {one: part.array("data")[()] for one, part in (("soma", soma), ("dendrite", dendrite))}
    held["rate"] = rate
    error = _named(root, others, "error", value.error, used, needed=False)
    if error is not None:
        held["error"] = _at(times, rate, error)
    if isinstance(rows := soma.get("rois"), Array):
        planes = Table(soma).targets("rois")
        columns = [name for name in planes.columns if value.role == name or (not value.role and "role" in name.lower())]
        if value.role and not columns:
            raise DataError(f"role: no column {value.role!r} in {planes.name} of {root.file}; there are "
                            f"{listed(planes.columns)}")  # fmt: skip
        if columns:
            roles = planes.group.array(columns[0]).numbers(1, 2)
            held["role"] = roles[row_numbers(rows, min(len(planes), len(roles)), planes.name)]
            used["role"] = f"{planes.name}.{columns[0]}"
    elif value.role:
        raise DataError(f"role: {soma.name} of {root.file} must point to ROIs, whose column it is (got no rois)")
    if value.condition is not None:
        held |= _conditions(root, value.condition, times, rate)
        used["condition"] = value.condition + (f", every {held['period']} frames" if "period" in held else "")
    return held


def _at(times: np.ndarray, rate: float, series: Group) -> np.ndarray:
    """Return the last values of a series at each of ``times``, the frames of the recording."""
    values, (moments, _) = series.array("data")[()].astype(float), times_of(series)
    if moments[0] > times[0] + 1 / rate or moments[-1] < times[-1] - 1 / rate:
        raise DataError(
            f"{series.file}: {series.name} must cover the recording, {times[0]:g} to {times[-1]:g} s (got "
            f"{moments[0]:g} to {moments[-1]:g} s)"
        )
    return values[np.maximum(np.searchsorted(moments, times, side="right") - 1, 0)]


def _conditions(root: Group, column: str, times: np.ndarray, rate: float) -> dict[str, Any]:
    """Return the condition of each frame, -1 between trials, and the period of trials that come at a fixed pace."""
    trials = find_trials(root, None)
    codes, start = trials.conditions(column), trials.times["start_time"]
    order = np.argsort(start, kind="stable")
    order = order[np.isfinite(start[order])]
    codes, start = codes[order], start[order]
    stop = trials.times["stop_time"][order] if "stop_time" in trials.times else np.append(start[1:], times[-1])
    last = np.searchsorted(start, times, side="right") - 1
    inside = (last >= 0) & (times < stop[np.maximum(last, 0)])
    held: dict[str, Any] = {"condition": np.where(inside, codes[np.maximum(last, 0)], -1)}
    pace = np.diff(start) * rate
    if len(pace) and np.abs(pace - np.round(pace[0])).max() < SAME_PACE:
        held["period"] = max(1, round(float(pace[0])))
    return held


def _named(
    root: Group, found: list[Group], part: str, name: str | None, used: dict[str, str], needed: bool = True
) -> Group | None:
    """Return the series that ``name`` means or, without a name, the one whose own name or imaging plane has a word."""

    def words(one: Group) -> str:
        place = location_of(Table(one).targets("rois")) if isinstance(one.get("rois"), Array) else None
        return f"{one.name} {place or ''}".lower()

    if name is not None:
        fitting = series_named(found, name)
    else:
        fitting = [one for one in found if any(word in words(one) for word in WORDS[part])]
    if len(fitting) == 1:
        used[part] = fitting[0].name.strip("/")
        return fitting[0]
    if not fitting and not needed and name is None:
        return None
    kind = "series of ROIs" if needed else "time series"
    there = listed(one.name.strip("/") for one in found)
    called = f"called {name!r}" if name else f"with {' or '.join(WORDS[part])} in its name or plane"
    raise DataError(f"{part}: must be one {kind} {called} in {root.file} (got {len(fitting)}); name one of {there}")

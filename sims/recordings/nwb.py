"""Neurodata Without Borders files as recordings, in the layouts of Allen, IBL, Steinmetz and their like.

HDF5 is read directly: only what is asked for, and without the classes that a file's own extensions would define.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from biorrr.sims.data.hdf5 import Array, Group, opened
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import did_you_mean, listed
from biorrr.sims.recordings.activity import Series, SpikeTrains, Traces
from biorrr.sims.recordings.nwb_tables import (
    Table,
    kind_of,
    location_of,
    row_numbers,
    sampling_of,
    series_in,
    series_named,
)
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.recordings.trials import Trials

# Where areas are written, the first that is there: IBL's map to Beryl regions, then what others use.
AREAS = (
    "beryl_location", "area", "areas", "brain_area", "brain_region", "region", "ecephys_structure_acronym",
    "structure_acronym", "structure", "location", "allen_location", "anatomical_location",
)  # fmt: skip
# Columns that say whether a unit is good, and what they then hold: text, or the least number.
QUALITY: dict[str, str | float] = {
    "quality": "good", "kilosort2_label": "good", "ks2_label": "good", "KSLabel": "good", "kslabel": "good",
    "ibl_quality_score": 1.0, "phy_annotations": 2.0, "group": "good", "valid_roi": 1.0, "is_cell": 1.0,
}  # fmt: skip
NOT_TRIALS = ("epochs", "invalid_times", "spontaneous", "spontaneous_presentations")
SLACK = 1.0  # seconds by which an event may lie outside its trial


def opened_nwb(path: Path) -> Group:
    """Open an NWB file of version 2."""
    if path.is_dir():
        raise DataError(
            f"{path}: must be a file, NWB in HDF5 (got a folder); NWB in Zarr is not read, export it to HDF5"
        )
    root = opened(path)
    version = root.attribute("nwb_version")
    if version is None:
        raise DataError(f"{path}: must be an NWB file (got HDF5 with {listed(root.names())})")
    if str(version).lstrip("NWB-").startswith("1."):
        raise DataError(f"{path}: must be NWB 2 (got {version}); convert it")
    return root


def open_nwb(path: Path, area: str | None, trials: str | None, series: str | None) -> Recording:
    """Open the file at ``path``; see :func:`biorrr.sims.recordings.opening.open_recording`."""
    root = opened_nwb(path)
    used: dict[str, str] = {}
    table = find_trials(root, trials)
    units = root.group("units")
    if series is None and units is not None and isinstance(units.get("spike_times"), Array):
        columns = Table(units)
        areas = _areas(root, columns, area, used)
        good = _good(columns, text_counts=True)
        if good is not None:
            used["quality"] = f"units.{good[0]}"
        used["activity"] = "spike times"
        return Recording(
            str(path), areas, _spikes(columns), table, None if good is None else good[1], columns.read("id"), used
        )
    traces = find_series(root, series)
    if not traces:
        kinds = sorted({kind_of(one) for one in root.walk()} - {""})
        raise DataError(
            f"{path}: must hold spike times, dF/F or another series with one column per unit (got none); "
            f"it has {listed(kinds)}"
        )
    parts = [_described(one, area) for one in traces]
    used["activity"] = listed(one.name for one in traces)
    good_columns = np.concatenate([part[2] for part in parts])
    return Recording(
        str(path),
        np.concatenate([part[1] for part in parts]),
        Traces(tuple(part[0] for part in parts)),
        table,
        None if good_columns.all() else good_columns,
        used=used,
    )


# -- trials ------------------------------------------------------------------------------------------------------------


def trial_tables(root: Group) -> dict[str, Table]:
    """Return the tables of intervals by name, those that look like trials first."""
    intervals = root.group("intervals")
    groups = intervals.groups() if intervals is not None else []
    found = {group.last_name: Table(group) for group in groups if isinstance(group.get("start_time"), Array)}
    return dict(sorted(found.items(), key=lambda item: (item[0] != "trials", item[0] in NOT_TRIALS, -len(item[1]))))


def find_trials(root: Group, named: str | None) -> Trials:
    """Return the table of trials that ``named`` means, or the one there is."""
    tables = trial_tables(root)
    there = listed(f"{name} ({len(table)})" for name, table in tables.items())
    if named is not None:
        found = [name for name in tables if name in (named, f"{named}_presentations")]
        found = found or [name for name in tables if named.lower() in name.lower()]
        if len(found) != 1:
            hint = "" if found else did_you_mean(named, tables)
            several = "several tables are called" if found else "no table of intervals is called"
            raise DataError(f"trials: {several} {named!r} in {root.file}{hint}; there are {there}")
    else:
        found = [name for name in tables if name not in NOT_TRIALS]
        if "trials" in found:
            found = ["trials"]
        if not found:
            raise DataError(f"{root.file}: must hold a table of trials or presentations (got {there})")
        if len(found) > 1:
            raise DataError(f"trials: say which table of {root.file} to use, there are {there}")
    table = tables[found[0]]
    if not len(table):
        raise DataError(f"{root.file}: must hold trials (got none in {table.name})")
    return _table_of_trials(table)


def _table_of_trials(table: Table) -> Trials:
    times = {name: table.read_numbers(name) for name in ("start_time", "stop_time")
             if isinstance(table.group.get(name), Array)}  # fmt: skip
    others = {}
    start = times["start_time"]
    if not np.isfinite(start).any():
        raise DataError(f"{table.file}: start_time of {table.name} must hold times (got none that is finite)")
    for name in table.plain_columns():
        if name in times:
            continue
        values = table.read(name)
        if values.dtype.kind == "f" and _are_moments(values, start, times.get("stop_time", start)):
            times[name] = values.astype(float)
        else:
            others[name] = values
    return Trials(times, others, table.name)


def _are_moments(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> bool:
    """Return True if numbers are times of the session: nearly all lie within their own trial, and not all are early."""
    known = np.isfinite(values) & np.isfinite(start)
    within = (values >= start - SLACK) & (values <= stop + SLACK)
    first = start[np.isfinite(start)][0]
    return bool(known.sum() > 1 and within[known].mean() > 0.9 and start[known].max() > SLACK + np.abs(first))


# -- units -------------------------------------------------------------------------------------------------------------


def _spikes(units: Table) -> SpikeTrains:
    held = units.group.array("spike_times")
    if held.ndim != 1 or not held.is_number:
        raise DataError(f"{held.file}: {held.name} must be a list of times (got shape {held.shape}, {held.dtype})")
    held.check_claim()
    ends = units.ends("spike_times")
    begins = np.concatenate([[0], ends[:-1]])
    return SpikeTrains(lambda unit: held[begins[unit] : ends[unit]])


def _good(table: Table, text_counts: bool) -> tuple[str, np.ndarray] | None:
    """Return the column that says which rows are good, and for each row whether it is; None where no column does."""
    columns = table.plain_columns()
    for column, wanted in QUALITY.items():
        if column not in columns:
            continue
        values = table.read(column)
        numbers = values.dtype.kind in "fiub"
        if isinstance(wanted, str) and not numbers and text_counts:
            good = np.char.lower(values.astype(str)) == wanted
        elif not isinstance(wanted, str) and numbers:
            good = values >= wanted
        else:
            continue
        if good.any():
            return column, good
    return None


def _areas(root: Group, units: Table, area: str | None, used: dict[str, str]) -> np.ndarray:
    """Return the area of each unit, (units,), from the units themselves or from their electrodes."""
    wanted = AREAS if area is None else (area,)
    own = units.plain_columns()
    for column in wanted:
        if column in own:
            used["areas"] = f"units.{column}"
            return units.read(column).astype(str)
    places = [(where, table, table.plain_columns(), rows) for where, table, rows in _electrode_tables(root, units)]
    for column in wanted:
        for where, table, columns, rows in places:
            if column in columns:
                used["areas"] = f"{table.name}.{column}, by {where}"
                return _most_common(table.read(column).astype(str), rows)
    there = {*own, *(name for _, _, columns, _ in places for name in columns)}
    raise DataError(
        f"area: no column {repr(area) if area else 'such as area or location'} of units or electrodes in "
        f"{root.file} says where units are; there are {listed(sorted(there))}"
    )


def _electrode_tables(root: Group, units: Table) -> list[tuple[str, Table, list[np.ndarray]]]:
    """Return tables of places, each with how units are found in it and the rows (of any number) of each unit."""
    found: list[tuple[str, Table, list[np.ndarray]]] = []
    electrodes = root.get("general/extracellular_ephys/electrodes")
    if isinstance(electrodes, Group) and "peak_channel_id" in units.columns:
        table = Table(electrodes)
        channels = units.read_numbers("peak_channel_id")
        found.append(("peak_channel_id", table, _rows_of(table.read_numbers("id"), channels[:, None])))
    elif "electrodes" in units.columns:
        table = units.targets("electrodes")
        entries = units.rows_in(table, "electrodes")
        if isinstance(units.group.get("electrodes_index"), Array):
            ends = units.ends("electrodes")
        elif len(entries) == len(units):
            ends = np.arange(1, len(units) + 1)
        else:
            raise DataError(f"{root.file}: units.electrodes must have an electrodes_index, or one entry per unit")
        found.append(("units.electrodes", table, np.split(entries, ends)[: len(units)]))
    localization = root.get("general/localization")
    if found and isinstance(localization, Group):  # tables of places beside the electrodes
        _, _, rows = found[0]
        for group in localization.groups():
            if isinstance(group.get("localized_entity"), Array):
                table = Table(group)
                found.append(("units.electrodes", table, _rows_of(table.read_numbers("localized_entity"), rows)))
    return found


def _rows_of(names: np.ndarray, wanted) -> list[np.ndarray]:
    """Return for each of ``wanted``, lists of names, the rows that have these names."""
    row_of = {float(name): row for row, name in enumerate(names)}
    return [np.array([row_of[float(one)] for one in some if float(one) in row_of], dtype=int) for some in wanted]


def _most_common(values: np.ndarray, rows: list[np.ndarray]) -> np.ndarray:
    """Return the value that most of each unit's rows have, (units,); ``unknown`` where there are no rows."""
    common = []
    for some in rows:
        names, counts = (
            np.unique(values[some], return_counts=True) if len(some) else (np.array(["unknown"]), np.array([1]))
        )
        common.append(names[counts.argmax()] or "unknown")
    return np.array(common, dtype=str)


# -- sampled series ----------------------------------------------------------------------------------------------------


def find_series(root: Group, named: str | None) -> list[Group]:
    """Return series with one column per unit: dF/F where there is some, else other responses of ROIs, else any."""
    tables = [one for one in series_in(root) if one.array("data").ndim == 2]
    places = ("/processing/", "/acquisition/")
    rois = [one for one in tables if kind_of(one) == "RoiResponseSeries" and one.name.startswith(places)]
    plain = [one for one in tables if kind_of(one) == "TimeSeries" and one.name.startswith(places)]
    if named is not None:
        found = series_named(rois + plain, named)
        if not found:
            there = listed(one.last_name for one in rois + plain)
            raise DataError(f"series: no series {named!r} with one column per unit in {root.file}; there are {there}")
        return found
    dff = [one for one in rois if re.search(r"df.?over.?f|dff|df_f", one.name, re.IGNORECASE)]
    kinds = {one.name.rpartition("/")[0] for one in rois}
    if rois and not dff and len(kinds) > 1:
        raise DataError(f"series: say which of {listed(one.name.strip('/') for one in rois)} to use, in {root.file}")
    return dff or rois or plain


def _described(group: Group, area: str | None) -> tuple[Series, np.ndarray, np.ndarray]:
    """Return a series, the area of each of its columns, and whether each is good."""
    data, name = group.array("data"), group.last_name
    data.check_claim()
    counts = str(data.attribute("unit") or "").lower() in ("count", "counts", "spikes", "spike counts")
    series = Series(name, data, sampling_of(group), counts)
    columns = data.shape[1]
    if not isinstance(held := group.get("rois"), Array):
        return series, np.full(columns, name), np.ones(columns, dtype=bool)
    planes = Table(group).targets("rois")
    rows = row_numbers(held, len(planes), planes.name)
    if len(rows) != columns:
        raise DataError(
            f"{group.file}: {name} must have one column per ROI, samples by ROIs (got {data.shape} for {len(rows)} "
            "ROIs)"
        )
    told = _good(planes, text_counts=False)
    good = np.ones(len(planes), dtype=bool) if told is None else told[1]
    there = planes.plain_columns()
    for column in AREAS if area is None else (area,):
        if column in there:
            return series, planes.read(column).astype(str)[rows], good[rows]
    if area is not None:
        raise DataError(f"area: no column {area!r} in {planes.name} of {group.file}; there are {listed(there)}")
    return series, np.full(columns, location_of(planes) or name), good[rows]

"""Neurodata Without Borders files as recordings, in the layouts of Allen, IBL, Steinmetz and their like.

HDF5 is read directly: only what is asked for, and without the classes that a file's own extensions would define.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import h5py
import numpy as np

from biorrr.sims.data.values import DataError
from biorrr.sims.recordings.activity import Series, SpikeTrains, Traces
from biorrr.sims.recordings.hdf5_tables import Table, check_claim, kind_of, read, refuse_outside_storage, text
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.recordings.trials import Trials, listed

CHUNK_CACHE = 2**26  # bytes: a chunk is decompressed once for all units that have spikes in it
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


def open_nwb(path: Path, area: str | None, trials: str | None, series: str | None) -> Recording:
    """Open the file at ``path``; see :meth:`Recording.from_nwb`."""
    file = opened(path)
    notes: list[str] = []
    table = find_trials(file, trials)
    if series is None and "units" in file and "spike_times" in file["units"]:
        units = Table(file["units"])
        areas = _areas(file, units, area, notes)
        good = _good(units, notes)
        return Recording(str(path), areas, _spikes(units), table, good, _ids(units), tuple(notes))
    traces = find_series(file, series)
    if not traces:
        raise DataError(
            f"{path}: must hold spike times, dF/F or another series with one column per unit (got none); "
            f"it has {listed(_contents(file))}"
        )
    parts = [_described(one, file, area) for one in traces]
    notes.append(f"activity is that of {listed(str(one.name) for one in traces)}")
    good = np.concatenate([part[2] for part in parts])
    return Recording(
        str(path),
        np.concatenate([part[1] for part in parts]),
        Traces(tuple(part[0] for part in parts)),
        table,
        None if good.all() else good,
        notes=tuple(notes),
    )


def opened(path: Path) -> h5py.File:
    """The file, looked through for what would be read from elsewhere."""
    if path.is_dir():
        raise DataError(
            f"{path}: must be a file, NWB in HDF5 (got a folder); NWB in Zarr is not read, export it to HDF5"
        )
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        file = h5py.File(path, "r", rdcc_nbytes=CHUNK_CACHE, rdcc_nslots=100_003)
    except OSError as error:
        raise DataError(f"{path}: not a readable NWB file, perhaps damaged or truncated ({error})") from error
    if "nwb_version" not in file.attrs:
        raise DataError(f"{path}: must be an NWB file (got HDF5 with {listed(file)}); arrays go into an .npz file")
    if text(file.attrs["nwb_version"]).lstrip("NWB-").startswith("1."):
        raise DataError(f"{path}: must be NWB 2 (got {text(file.attrs['nwb_version'])}); convert it")
    refuse_outside_storage(file)
    return file


# -- trials ------------------------------------------------------------------------------------------------------------


def trial_tables(file: h5py.File) -> dict[str, Table]:
    """Tables of intervals by name, those that look like trials first."""
    found = {}
    if isinstance(file.get("intervals"), h5py.Group):
        found = {name: Table(group) for name, group in file["intervals"].items() if "start_time" in group}
    return dict(sorted(found.items(), key=lambda item: (item[0] != "trials", item[0] in NOT_TRIALS, -len(item[1]))))


def find_trials(file: h5py.File, named: str | None) -> Trials:
    """The table of trials that ``named`` means, or the one there is."""
    tables = trial_tables(file)
    there = listed(f"{name} ({len(table)})" for name, table in tables.items())
    if named is not None:
        found = [name for name in tables if name in (named, f"{named}_presentations")]
        found = found or [name for name in tables if named.lower() in name.lower()]
        if len(found) != 1:
            near = difflib.get_close_matches(named, tables, n=1)
            hint = f"; did you mean {near[0]!r}?" if near and not found else ""
            several = "several tables are called" if found else "no table of intervals is called"
            raise DataError(f"trials: {several} {named!r} in {file.filename}{hint}; there are {there}")
    else:
        found = [name for name in tables if name not in NOT_TRIALS]
        if "trials" in found:
            found = ["trials"]
        if not found:
            raise DataError(f"{file.filename}: must hold a table of trials or presentations (got {there})")
        if len(found) > 1:
            raise DataError(f"trials: say which table of {file.filename} to use, there are {there}")
    table = tables[found[0]]
    if not len(table):
        raise DataError(f"{file.filename}: must hold trials (got none in {table.name})")
    return _table_of_trials(table)


def _table_of_trials(table: Table) -> Trials:
    times, others = {}, {}
    edges = [
        np.asarray(table.read(name), dtype=float) if name in table.group else None
        for name in ("start_time", "stop_time")
    ]
    start = edges[0]
    assert start is not None
    stop = start if edges[1] is None else edges[1]
    for name in dict.fromkeys(("start_time", "stop_time", *table.columns)):
        if name not in table.group or not table.is_plain(name):
            continue
        values = table.read(name)
        if name in ("start_time", "stop_time") or (values.dtype.kind == "f" and _are_moments(values, start, stop)):
            times[name] = values.astype(float)
        else:
            others[name] = values
    return Trials(times, others, table.name)


def _are_moments(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> bool:
    """Whether numbers are times of the session: nearly all lie within their own trial, and not all trials are early."""
    known = np.isfinite(values)
    within = (values >= start - SLACK) & (values <= stop + SLACK)
    return bool(known.sum() > 1 and within[known].mean() > 0.9 and start[known].max() > SLACK + np.abs(start[0]))


# -- units -------------------------------------------------------------------------------------------------------------


def _ids(units: Table) -> np.ndarray:
    return units.read("id")


def _spikes(units: Table) -> SpikeTrains:
    held = units.group["spike_times"]
    check_claim(held)
    ends = units.ends("spike_times")
    begins = np.concatenate([[0], ends[:-1]])
    return SpikeTrains(lambda unit: held[begins[unit] : ends[unit]])


def _good(units: Table, notes: list[str]) -> np.ndarray | None:
    """Whether each unit is good, (units,), where a column says so."""
    for column, wanted in QUALITY.items():
        if column not in units.columns or not units.is_plain(column):
            continue
        values = units.read(column)
        numbers = values.dtype.kind in "fiub"
        if isinstance(wanted, str) and not numbers:
            good = np.char.lower(values.astype(str)) == wanted
        elif not isinstance(wanted, str) and numbers:
            good = values >= wanted
        else:
            continue
        if good.any():
            notes.append(f"quality of units is told by {column}")
            return good
    return None


def _areas(file: h5py.File, units: Table, area: str | None, notes: list[str]) -> np.ndarray:
    """Area of each unit, (units,), from the units themselves or from their electrodes."""
    wanted = AREAS if area is None else (area,)
    for column in wanted:
        if column in units.columns and units.is_plain(column):
            notes.append(f"areas are those of units.{column}")
            return units.read(column).astype(str)
    places = _electrode_tables(file, units)
    for column in wanted:
        for where, table, rows in places:
            if column in table.columns and table.is_plain(column):
                notes.append(f"areas are those of {table.name}.{column}, by {where}")
                return _most_common(table.read(column).astype(str), rows)
    there = {
        name for table in (units, *(table for _, table, _ in places)) for name in table.columns if table.is_plain(name)
    }
    raise DataError(
        f"area: no column {repr(area) if area else 'such as area or location'} of units or electrodes in "
        f"{file.filename} says where units are; there are {listed(sorted(there))}"
    )


def _electrode_tables(file: h5py.File, units: Table) -> list[tuple[str, Table, list[np.ndarray]]]:
    """Tables of places, each with how units are found in it and the rows (of any number) of each unit."""
    found: list[tuple[str, Table, list[np.ndarray]]] = []
    electrodes = file.get("general/extracellular_ephys/electrodes")
    if isinstance(electrodes, h5py.Group) and "peak_channel_id" in units.columns:
        table = Table(electrodes)
        row_of = {int(one): row for row, one in enumerate(table.read("id"))}
        channels = units.read("peak_channel_id").ravel()
        rows = [np.array([row_of[int(one)]]) if int(one) in row_of else np.array([], dtype=int) for one in channels]
        found.append(("peak_channel_id", table, rows))
    elif "electrodes" in units.columns:
        table = units.targets("electrodes")
        entries = units.read("electrodes").astype(np.int64)
        ends = units.ends("electrodes") if "electrodes_index" in units.group else np.arange(1, len(units) + 1)
        found.append(("units.electrodes", table, np.split(entries, ends[:-1])))
    if found and isinstance(file.get("general/localization"), h5py.Group):  # tables of places beside the electrodes
        _, _, rows = found[0]
        for group in file["general/localization"].values():
            if isinstance(group, h5py.Group) and "localized_entity" in group:
                table = Table(group)
                row_of = {int(one): row for row, one in enumerate(table.read("localized_entity"))}
                own = [np.array([row_of[int(one)] for one in some if int(one) in row_of], dtype=int) for some in rows]
                found.append(("units.electrodes", table, own))
    return found


def _most_common(values: np.ndarray, rows: list[np.ndarray]) -> np.ndarray:
    """The value that most of each unit's rows have, (units,); ``unknown`` where there are no rows."""
    common = []
    for some in rows:
        names, counts = (
            np.unique(values[some], return_counts=True) if len(some) else (np.array(["unknown"]), np.array([1]))
        )
        common.append(names[counts.argmax()] or "unknown")
    return np.array(common, dtype=str)


# -- sampled series ----------------------------------------------------------------------------------------------------


def find_series(file: h5py.File, named: str | None) -> list[h5py.Group]:
    """Series with one column per unit: dF/F where there is some, else other responses of ROIs, else any there are."""
    rois: list[h5py.Group] = []
    plain: list[h5py.Group] = []
    for place in ("processing", "acquisition"):
        if isinstance(file.get(place), h5py.Group):
            file[place].visititems(lambda _, one: _sort_in(one, rois, plain))
    every = rois + plain
    if named is not None:
        found = [one for one in every if named in (str(one.name).strip("/"), one.name.rpartition("/")[2])]
        found = found or [one for one in every if named.lower() in str(one.name).lower()]
        if not found:
            there = listed(one.name.rpartition("/")[2] for one in every)
            raise DataError(
                f"series: no series {named!r} with one column per unit in {file.filename}; there are {there}"
            )
        return found
    dff = [one for one in rois if re.search(r"df.?over.?f|dff|df_f", str(one.name), re.IGNORECASE)]
    kinds = {one.name.rpartition("/")[0] for one in rois}
    if rois and not dff and len(kinds) > 1:
        raise DataError(
            f"series: say which of {listed(one.name.strip('/') for one in rois)} to use, in {file.filename}"
        )
    return dff or rois or plain


def _sort_in(one: object, rois: list[h5py.Group], plain: list[h5py.Group]) -> None:
    if isinstance(one, h5py.Group) and isinstance(one.get("data"), h5py.Dataset) and one["data"].ndim == 2:
        kind = kind_of(one)
        if kind == "RoiResponseSeries":
            rois.append(one)
        elif kind == "TimeSeries" and one["data"].dtype.kind in "fiub":
            plain.append(one)


def _described(group: h5py.Group, file: h5py.File, area: str | None) -> tuple[Series, np.ndarray, np.ndarray]:
    """A series, the area of each of its columns, and whether each is good."""
    data = group["data"]
    check_claim(data)
    name = str(group.name).rpartition("/")[2]
    if "timestamps" in group:
        times: np.ndarray | tuple[float, float] = read(group["timestamps"]).astype(float)
    elif "starting_time" in group:
        times = float(group["starting_time"][()]), float(group["starting_time"].attrs["rate"])
    else:
        raise DataError(f"{file.filename}: {name} must have timestamps or a starting time with a rate")
    counts = text(data.attrs.get("unit", "")).lower() in ("count", "counts", "spikes", "spike counts")
    series = Series(name, data, times, counts)
    columns = data.shape[1]
    if "rois" not in group:
        return series, np.full(columns, name), np.ones(columns, dtype=bool)
    planes = Table(group).targets("rois")
    rows = read(group["rois"]).astype(np.int64)
    if len(rows) != columns:
        raise DataError(
            f"{file.filename}: {name} must have one column per ROI, samples by ROIs (got {data.shape} for {len(rows)} "
            "ROIs)"
        )
    good = np.ones(len(planes), dtype=bool)
    for column, wanted in QUALITY.items():
        if column in planes.columns and planes.is_plain(column) and not isinstance(wanted, str):
            good = planes.read(column) >= wanted
            break
    for column in AREAS if area is None else (area,):
        if column in planes.columns and planes.is_plain(column):
            return series, planes.read(column).astype(str)[rows], good[rows]
    plane = planes.group.get("imaging_plane")
    place = text(plane["location"][()]) if isinstance(plane, h5py.Group) and "location" in plane else name
    return series, np.full(columns, place), good[rows]


def _contents(file: h5py.File) -> list[str]:
    """What kinds of things are in the file."""
    kinds: set[str] = set()
    file.visititems(lambda _, one: kinds.add(kind_of(one)) if isinstance(one, h5py.Group) else None)
    return sorted(kinds - {""})

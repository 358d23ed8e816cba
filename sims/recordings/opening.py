"""Recordings of areas in files: arrays by name, or NWB in the layouts of Allen, IBL, Steinmetz and
their like.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from biorrr.sims.data.array_files import is_nwb, read_npz
from biorrr.sims.data.values import DataError
from biorrr.sims.recordings.activity import Series, SpikeTrains, Traces
from biorrr.sims.recordings.hdf5 import Array, Group
from biorrr.sims.recordings.nwb import (
    Table,
    find_trials,
    kind_of,
    open_nwb,
    series_in,
    series_named,
    times_of,
)
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.words import listed, printable

# Where areas are written, the first that is there: IBL's map to Beryl regions, then what others
# use.
AREAS = (
    "beryl_location",
    "area",
    "areas",
    "brain_area",
    "brain_region",
    "region",
    "ecephys_structure_acronym",
    "structure_acronym",
    "structure",
    "location",
    "allen_location",
    "anatomical_location",
)
# Columns that say whether a unit is good, and what they then hold: text, or the least number.
QUALITY: dict[str, str | float] = {
    "quality": "good",
    "kilosort2_label": "good",
    "ks2_label": "good",
    "KSLabel": "good",
    "kslabel": "good",
    "ibl_quality_score": 1.0,
    "phy_annotations": 2.0,
    "group": "good",
    "valid_roi": 1.0,
    "is_cell": 1.0,
}
PLACES = ("/processing/", "/acquisition/")  # where activity is


def open_recording(
    file: str, *, area: str | None = None, trials: str | None = None, series: str | None = None
) -> Recording:
    """Open an NWB file, or arrays: ``activity`` (trials, bins, units), ``areas``, and perhaps
    ``bin``, ``conditions``.

    Parameters
    ----------
    file
        Path of the file.
    area, trials, series
        Column of areas, table of trials and series of activity, of an NWB file.
    """
    path = Path(file)
    if is_nwb(path):
        return recording_in_nwb(path, area, trials, series)
    for name, value in (("area", area), ("trials", trials), ("series", series)):
        if value is not None:
            raise DataError(f"{name}: applies to NWB files only (got {path}, which holds arrays)")
    held = read_npz(path, ("activity", "areas"), ("bin", "conditions", "counts"))
    for name in {"bin", "counts"} & held.keys():
        one = held[name]
        if one.ndim or one.dtype.kind not in "fiub" or not np.isfinite(one):
            raise DataError(
                f"{file}: {name} must be one finite number (got {printable(one.dtype)}, shape"
                f" {one.shape})"
            )
    return Recording.from_tensor(**held, name=file)  # type: ignore[arg-type]


def recording_in_nwb(
    path: Path, area: str | None, trials: str | None, series: str | None
) -> Recording:
    """Return the units in an NWB file, with their spikes or else with their sampled activity."""
    root = open_nwb(path)
    table, units = find_trials(root, trials), root.group("units")
    if series is None and units is not None and units.has_array("spike_times"):
        columns = Table(units)
        used: dict[str, str] = {"activity": "spike times"}
        areas, used["areas"] = _areas(root, columns, area)
        column, good = _good(columns)
        if column:
            used["quality"] = f"units.{column}"
        return Recording(str(path), areas, _spikes(columns), table, good, columns.read("id"), used)
    traces = _activity_series(root, series)
    if not traces:
        kinds = sorted({kind_of(one) for one in root.walk()} - {""})
        raise DataError(
            f"{path}: must hold spike times, dF/F or another series with one column per unit (got"
            f" none); it has {listed(kinds)}"
        )
    parts, of_areas, of_good = zip(*(_sampled(one, area) for one in traces), strict=True)
    good = np.concatenate(of_good)
    used = {"activity": listed(one.name for one in traces)}
    return Recording(
        str(path),
        np.concatenate(of_areas),
        Traces(parts),
        table,
        None if good.all() else good,
        used=used,
    )


# -- spikes ----------------------------------------------------------------------------------------


def _spikes(units: Table) -> SpikeTrains:
    held = units.group.array("spike_times")
    if held.ndim != 1 or not held.is_number:
        raise DataError(
            f"{held.file}: {held.name} must be a list of times (got shape {held.shape})"
        )
    ends = units.ends("spike_times")
    begins = np.concatenate([[0], ends[:-1]])
    return SpikeTrains(lambda unit: held[begins[unit] : ends[unit]])


def _good(table: Table) -> tuple[str, np.ndarray | None]:
    """Return the column that says which rows are good, and for each row whether it is; None where
    no column does.
    """
    columns = table.columns()
    for column in (one for one in QUALITY if one in columns):
        wanted, values = QUALITY[column], table.read(column)
        is_text = values.dtype.kind not in "fiub"
        if is_text == isinstance(wanted, str):
            good = np.char.lower(values.astype(str)) == wanted if is_text else values >= wanted
            if good.any():
                return column, good
    return "", None


def _areas(root: Group, units: Table, area: str | None) -> tuple[np.ndarray, str]:
    """Return the area of each unit, (units,), from the units themselves or from their electrodes,
    and its place.
    """
    wanted = AREAS if area is None else (area,)
    own = units.columns()
    for column in (one for one in wanted if one in own):
        return units.read(column).astype(str), f"units.{column}"
    places = [
        (where, table, table.columns(), rows)
        for where, table, rows in _electrode_tables(root, units)
    ]
    for column in wanted:
        for where, table, columns, rows in places:
            if column in columns:
                return (
                    _most_common(table.read(column).astype(str), rows),
                    f"{table.name}.{column}, by {where}",
                )
    there = {*own, *(name for _, _, columns, _ in places for name in columns)}
    raise DataError(
        f"area: no column {repr(area) if area else 'such as area or location'} of units or"
        f" electrodes in {root.file} holds the areas of units; there are {listed(sorted(there))}"
    )


def _electrode_tables(root: Group, units: Table) -> list[tuple[str, Table, list[np.ndarray]]]:
    """Return tables of places, each with how units are found in it and the rows (of any number) of
    each unit.
    """
    electrodes = root.get("general/extracellular_ephys/electrodes")
    if isinstance(electrodes, Group) and units.group.has_array("peak_channel_id"):
        table, where = Table(electrodes), "peak_channel_id"
        rows = _rows_of(table.numbers("id"), units.numbers("peak_channel_id")[:, None])
    elif units.group.has_array("electrodes"):
        (table, entries), where = units.references("electrodes"), "units.electrodes"
        if not units.group.has_array("electrodes_index") and len(entries) != len(units):
            raise DataError(
                f"{root.file}: units.electrodes must have an electrodes_index, or one entry per"
                " unit"
            )
        ragged = units.group.has_array("electrodes_index")
        ends = units.ends("electrodes") if ragged else np.arange(1, len(units) + 1)
        rows = np.split(entries, ends)[: len(units)]
    else:
        return []
    found, localization = [(where, table, rows)], root.get("general/localization")
    for group in (
        localization.groups() if isinstance(localization, Group) else ()
    ):  # places beside the electrodes
        if group.has_array("localized_entity"):
            found.append(
                (where, Table(group), _rows_of(Table(group).numbers("localized_entity"), rows))
            )
    return found


def _rows_of(names: np.ndarray, wanted) -> list[np.ndarray]:
    """Return for each of ``wanted``, lists of names, the rows that have these names."""
    row_of = {float(name): row for row, name in enumerate(names)}
    return [
        np.array([row_of[float(one)] for one in some if float(one) in row_of], dtype=int)
        for some in wanted
    ]


def _most_common(values: np.ndarray, rows: list[np.ndarray]) -> np.ndarray:
    """Return the value that most of each unit's rows have, (units,); ``unknown`` where there are no
    rows.
    """
    common = []
    for some in rows:
        names, counts = np.unique(values[some] if len(some) else ["unknown"], return_counts=True)
        common.append(names[counts.argmax()] or "unknown")
    return np.array(common, dtype=str)


# -- sampled activity ------------------------------------------------------------------------------


def _activity_series(root: Group, named: str | None) -> list[Group]:
    """Return series with one column per unit: dF/F where there is some, else other responses of
    ROIs, else any.
    """
    tables = [
        one
        for one in series_in(root)
        if one.array("data").ndim == 2 and one.name.startswith(PLACES)
    ]
    rois = [one for one in tables if kind_of(one) == "RoiResponseSeries"]
    plain = [one for one in tables if kind_of(one) == "TimeSeries"]
    if named is not None:
        found = series_named(rois + plain, named)
        if not found:
            there = listed(one.last_name for one in rois + plain)
            raise DataError(
                f"series: no series {named!r} with one column per unit in {root.file}; there are"
                f" {there}"
            )
        return found
    dff = [one for one in rois if re.search(r"df.?over.?f|dff|df_f", one.name, re.IGNORECASE)]
    if not dff and len({one.name.rpartition("/")[0] for one in rois}) > 1:
        raise DataError(
            f"series: choose one of {listed(one.name.strip('/') for one in rois)} in {root.file}"
        )
    return dff or rois or plain


def _sampled(group: Group, area: str | None) -> tuple[Series, np.ndarray, np.ndarray]:
    """Return a series, the area of each of its columns, and whether each is good."""
    data, name = group.array("data"), group.last_name
    counts = str(data.attribute("unit") or "").lower() in (
        "count",
        "counts",
        "spikes",
        "spike counts",
    )
    series, columns = Series(name, data, *times_of(group), counts), data.shape[1]
    if not group.has_array("rois"):
        return series, np.full(columns, name), np.ones(columns, dtype=bool)
    planes, rows = Table(group).references("rois")
    if len(rows) != columns:
        raise DataError(
            f"{group.file}: {name} must have one column per ROI, samples by ROIs (got {data.shape}"
            f" for {len(rows)} ROIs)"
        )
    _, told = _good(planes)
    good = np.ones(len(planes), dtype=bool) if told is None else told
    there = planes.columns()
    for column in (one for one in (AREAS if area is None else (area,)) if one in there):
        return series, planes.read(column).astype(str)[rows], good[rows]
    if area is not None:
        raise DataError(
            f"area: no column {area!r} in {planes.name} of {group.file}; there are {listed(there)}"
        )
    plane = planes.group.group("imaging_plane")
    place = plane.get("location") if plane is not None else None
    location = str(place[()]) if isinstance(place, Array) and not place.ndim else name
    return series, np.full(columns, location), good[rows]

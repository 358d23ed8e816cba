"""Neurodata Without Borders files, read by pynwb, in the layouts of Allen, IBL, Steinmetz and their
like.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biorrr.hints import did_you_mean
from biorrr.sims.data.files import readable
from biorrr.sims.data.hdf5 import check_hdf5
from biorrr.sims.data.values import DataError
from biorrr.sims.recordings.activity import Series, SpikeTrains, Trials
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.words import as_text, listed, printable

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
DFF = re.compile(r"df.?over.?f|dff|df_f", re.IGNORECASE)  # in the place of a series
NOT_TRIALS = ("epochs", "invalid_times", "spontaneous", "spontaneous_presentations")
SLACK = 1.0  # seconds by which an event may lie outside its trial

# Areas, activity, which units are good, and places in the file.
Units = tuple[np.ndarray, tuple[SpikeTrains | Series, ...], np.ndarray, dict[str, str]]


def open_nwb(path: Path) -> Any:
    """Open an NWB file of version 2 and return it as pynwb does; numbers are read when they are
    needed.
    """
    try:
        from pynwb import NWBHDF5IO
    except ImportError as error:
        raise DataError(f"{path}: reading NWB needs pynwb; pip install 'biorrr[nwb]'") from error
    check_hdf5(path)
    with readable(path, "not a readable NWB file of version 2"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what inspectors of NWB would say
        return NWBHDF5IO(path, "r").read()


def recording_in_nwb(
    path: Path, area: str | None, trials: str | None, series: str | None
) -> Recording:
    """Return the units in an NWB file, with their spikes or else with their sampled activity."""
    file = open_nwb(path)
    with readable(path, "not a readable NWB file"):
        table = find_trials(path, file, trials)
        if series is None and file.units is not None and "spike_times" in file.units.colnames:
            found = _spikes(path, file, area)
        else:
            found = _traces(path, file, area, series)
        areas, activity, good, used = found
        return Recording(str(path), areas, activity, table, good, used, source=file)


def _spikes(path: Path, file: Any, area: str | None) -> Units:
    """Return sorted spikes."""
    units, spikes = file.units, file.units["spike_times"]
    areas, place = _areas(path, file, area)
    column, good = _good(units)
    used = {"activity": "spike times", "areas": place}
    used |= {"quality": f"units.{column}"} if column else {}
    _ends(path, spikes)

    def read(unit: int) -> np.ndarray:
        with readable(path, "units.spike_times cannot be read"):
            return np.asarray(spikes[unit], dtype=float)

    return areas, (SpikeTrains(read, len(units)),), good, used


def _traces(path: Path, file: Any, area: str | None, named: str | None) -> Units:
    """Return sampled activity."""
    chosen = _activity_series(path, file, named)
    parts, areas, good = zip(*(_sampled(path, one, area) for one in chosen.values()), strict=True)
    used = {"activity": listed(chosen)}
    return np.concatenate(areas), parts, np.concatenate(good), used


# -- tables ----------------------------------------------------------------------------------------


def _columns(table: Any) -> dict[str, np.ndarray]:
    """Return the columns with one number or text per row by name, (rows,) each."""
    from hdmf.common import DynamicTableRegion, VectorIndex

    plain = {}
    for name in table.colnames:
        column = table[name]
        if not isinstance(column, VectorIndex | DynamicTableRegion):
            values = np.asarray(column.data[:])
            if values.dtype.kind in "OSU":
                values = np.array([str(as_text(one)) for one in values.tolist()], dtype=str)
            if values.shape == (len(table),) and values.dtype.kind in "fiubU":
                plain[name] = values
    return plain


def _ends(path: Path, index: Any) -> np.ndarray:
    """Return the ends of the rows of a ragged column, (rows,): ascending places in its entries."""
    ends, entries = np.asarray(index.data[:]).astype(np.int64), len(index.target.data)
    if (np.diff(ends, prepend=0) < 0).any() or ends.max(initial=0) > entries:
        raise DataError(
            f"{path}: {index.name} must ascend, from 0 to at most {entries} entries; damaged?"
        )
    return ends


def _good(table: Any) -> tuple[str, np.ndarray]:
    """Return the column that says which rows are good, and for each row whether it is: all of them
    where no column says it.
    """
    columns = _columns(table)
    for column in (one for one in QUALITY if one in columns):
        wanted, values = QUALITY[column], columns[column]
        is_text = values.dtype.kind == "U"
        if is_text == isinstance(wanted, str):
            good = np.char.lower(values) == wanted if is_text else values >= wanted
            if good.any():
                return column, good
    return "", np.ones(len(table), dtype=bool)


def _areas(path: Path, file: Any, area: str | None) -> tuple[np.ndarray, str]:
    """Return the area of each unit, (units,), from the units themselves or from most of their
    electrodes, and its place.
    """
    wanted, own = AREAS if area is None else (area,), _columns(file.units)
    for column in (one for one in wanted if one in own):
        return own[column].astype(str), f"units.{column}"
    where, electrodes, unit_of, rows = _electrodes(path, file)
    by_electrode = pd.DataFrame({} if electrodes is None else _columns(electrodes))
    for table in file.objects.values():  # places beside the electrodes, as IBL has them
        if "localized_entity" in (getattr(table, "colnames", None) or ()):
            more = pd.DataFrame(_columns(table), index=table["localized_entity"].data[:])
            by_electrode = by_electrode.combine_first(more)
    for column in (one for one in wanted if one in by_electrode):
        names = by_electrode[column].reindex(rows).set_axis(unit_of).dropna().astype(str)
        common = names.groupby(level=0).agg(lambda some: some.mode()[0]).replace("", "unknown")
        areas = common.reindex(range(len(file.units)), fill_value="unknown")
        return areas.to_numpy(str), f"electrodes.{column}, by {where}"
    raise DataError(
        f"area: no column {repr(area) if area else 'such as area or location'} of units or"
        f" electrodes in {path} holds the areas of units; there are"
        f" {listed(sorted({*own, *by_electrode}))}"
    )


def _electrodes(path: Path, file: Any) -> tuple[str, Any, np.ndarray, np.ndarray]:
    """Return how units name their electrodes, the table of these, and the pairs of a unit and a row
    of the table that belong together, as two arrays.
    """
    units, electrodes = file.units, file.electrodes
    if electrodes is not None and "peak_channel_id" in units.colnames:
        rows = pd.Index(electrodes.id[:]).get_indexer(units["peak_channel_id"].data[:])
        return "peak_channel_id", electrodes, np.flatnonzero(rows >= 0), rows[rows >= 0]
    if "electrodes" not in units.colnames:
        return "", None, np.empty(0, int), np.empty(0, int)
    column = units["electrodes"]
    region = getattr(column, "target", column)
    rows = _entries(path, region)
    sizes = 1 if region is column else np.diff(_ends(path, column), prepend=0)
    unit_of = np.repeat(np.arange(len(units)), sizes)
    return "units.electrodes", region.table, unit_of, rows[: len(unit_of)]


def _entries(path: Path, region: Any) -> np.ndarray:
    """Return the rows of its table that a region's entries are, (entries,)."""
    entries, rows = np.asarray(region.data[:]), len(region.table)
    if entries.dtype.kind not in "iu" or ((entries < 0) | (entries >= rows)).any():
        raise DataError(
            f"{path}: {region.name} must hold rows of {region.table.name}, 0 to {rows - 1};"
            " damaged?"
        )
    return entries.astype(np.int64)


# -- time series -----------------------------------------------------------------------------------


def _series_in(file: Any) -> dict[str, Any]:
    """Return time series with one column per unit by their place, those of acquisition and of
    processing modules.
    """
    from pynwb import TimeSeries

    places = {
        one.data.name.strip("/").removesuffix("/data"): one
        for one in file.objects.values()
        if isinstance(one, TimeSeries)
        and len(getattr(one.data, "shape", ())) == 2
        and one.data.dtype.kind in "fiub"
    }
    return {
        place: places[place]
        for place in sorted(places)
        if place.startswith(("acquisition/", "processing/"))
    }


def _activity_series(path: Path, file: Any, named: str | None) -> dict[str, Any]:
    """Return series by their place: dF/F where there is some, else other responses of ROIs, else
    any.
    """
    series = _series_in(file)
    rois = {place: one for place, one in series.items() if hasattr(one, "rois")}
    dff = {place: one for place, one in rois.items() if DFF.search(place)}
    found = dff or rois or series
    if named is not None:
        found = {p: one for p, one in series.items() if named in (p, one.name)}
        found = found or {p: one for p, one in series.items() if named.lower() in p.lower()}
    elif not dff and len({place.rpartition("/")[0] for place in rois}) > 1:
        raise DataError(f"series: choose one of {listed(rois)} in {path}")
    if not found:
        what = "spike times, nor series" if named is None else f"series {named!r}"
        there = listed(one.name for one in series.values())
        raise DataError(f"series: no {what} with one column per unit in {path}; there are {there}")
    return found


def _times_of(path: Path, series: Any) -> tuple[np.ndarray, float]:
    """Return the times of a series' samples, (samples,) seconds, and their rate."""
    samples = len(series.data)
    if series.timestamps is not None:
        times = np.asarray(series.timestamps[:], dtype=float)
    else:
        times = float(series.starting_time) + np.arange(samples) / float(series.rate or np.nan)
    finite = np.isfinite(times).all() and times.shape == (samples,)
    if not finite or samples < 2 or not (np.diff(times) > 0).all():
        raise DataError(
            f"{path}: {series.name} must have a finite time for each of its {samples} samples, at"
            f" least two, in ascending order (got {listed(times[:3])} ...)"
        )
    return times, float(series.rate or 1 / np.median(np.diff(times)))


def _sampled(path: Path, series: Any, area: str | None) -> tuple[Series, np.ndarray, np.ndarray]:
    """Return a series, the area of each of its columns, and whether each is good."""
    counts = str(series.unit).lower() in ("count", "counts", "spikes", "spike counts")
    sampled = Series(series.name, series.data, *_times_of(path, series), counts)
    columns = series.data.shape[1]
    if not hasattr(series, "rois"):
        return sampled, np.full(columns, series.name), np.ones(columns, dtype=bool)
    rows, planes = _entries(path, series.rois), series.rois.table
    if len(rows) != columns:
        raise DataError(
            f"{path}: {series.name} must have one column per ROI, samples by ROIs (got"
            f" {series.data.shape} for {len(rows)} ROIs)"
        )
    good, there = _good(planes)[1][rows], _columns(planes)
    for column in (one for one in (AREAS if area is None else (area,)) if one in there):
        return sampled, there[column].astype(str)[rows], good
    if area is not None:
        raise DataError(
            f"area: no column {area!r} in {planes.name} of {path}; there are {listed(there)}"
        )
    return sampled, np.full(columns, str(planes.imaging_plane.location)), good


# -- trials ----------------------------------------------------------------------------------------


def trial_tables(file: Any) -> dict[str, Any]:
    """Return the tables of intervals by name, those that look like trials first."""
    from pynwb.epoch import TimeIntervals

    found = [one for one in file.objects.values() if isinstance(one, TimeIntervals)]
    found.sort(key=lambda one: (one.name != "trials", one.name in NOT_TRIALS, -len(one)))
    return {one.name: one for one in found}


def find_trials(path: Path, file: Any, named: str | None) -> Trials:
    """Return the table of trials that ``named`` means, or the one there is."""
    tables, wanted = trial_tables(file), named or "trials"
    found = [name for name in tables if name in (wanted, f"{wanted}_presentations")]
    if not found and named is None:
        found = [name for name in tables if name not in NOT_TRIALS]
    elif not found:
        found = [name for name in tables if wanted.lower() in name.lower()]
    if len(found) != 1:
        what = "choose a table" if found else f"no table of intervals is called {wanted!r}"
        hint = "" if found else did_you_mean(wanted, tables)
        there = listed(f"{name} ({len(table)})" for name, table in tables.items())
        raise DataError(f"trials: {what} in {path}{hint}; there are {there}")
    table = tables[found[0]]
    if not len(table):
        raise DataError(f"{path}: must hold trials (got none in {table.name})")
    return _table_of_trials(path, table)


def _table_of_trials(path: Path, table: Any) -> Trials:
    columns = _columns(table)
    start, stop = (columns.get(name, np.array("")) for name in ("start_time", "stop_time"))
    if "U" in start.dtype.kind + stop.dtype.kind or not np.isfinite(start).any():
        raise DataError(
            f"{path}: start_time and stop_time of {printable(table.name)} must hold times (got none"
            " that is finite)"
        )
    times = {
        name: values.astype(float)
        for name, values in columns.items()
        if name in ("start_time", "stop_time") or _are_moments(values, start, stop)
    }
    others = {name: values for name, values in columns.items() if name not in times}
    return Trials(times, others, table.name)


def _are_moments(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> bool:
    """Return True if numbers are times of the session: nearly all lie within their own trial, and
    not all are early.
    """
    if values.dtype.kind != "f":
        return False
    known = np.isfinite(values) & np.isfinite(start)
    within = (values >= start - SLACK) & (values <= stop + SLACK)
    first = start[np.isfinite(start)][0]
    return bool(
        known.sum() > 1
        and within[known].mean() > 0.9
        and start[known].max() > SLACK + np.abs(first)
    )

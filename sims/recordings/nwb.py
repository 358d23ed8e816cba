"""Neurodata Without Borders files: their tables, time series and trials.

HDF5 is read directly: only what is asked for, and without the classes that a file's own extensions
would define.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from biorrr.sims.data.values import DataError
from biorrr.sims.recordings.hdf5 import Array, Group, open_hdf5
from biorrr.sims.recordings.trials import Trials
from biorrr.sims.words import as_text, did_you_mean, listed, printable

NOT_TRIALS = ("epochs", "invalid_times", "spontaneous", "spontaneous_presentations")
SLACK = 1.0  # seconds by which an event may lie outside its trial


def open_nwb(path: Path) -> Group:
    """Open an NWB file of version 2."""
    root = open_hdf5(path)
    version = root.attribute("nwb_version")
    if version is None:
        raise DataError(f"{path}: must be an NWB file (got HDF5 with {listed(root.names())})")
    if str(version).lstrip("NWB-").startswith("1."):
        raise DataError(f"{path}: must be NWB 2 (got {version}); convert it")
    return root


def kind_of(group: Group) -> str:
    """Return NWB's type of an object, such as ``RoiResponseSeries``."""
    return printable(group.attribute("neurodata_type") or "")


# -- tables ----------------------------------------------------------------------------------------


class Table:
    """One table; columns are read when they are asked for.

    Parameters
    ----------
    group
        Group of the columns, each an array with one entry per row. A ragged column has its entries
        in one array and the ends of the rows in another, called ``<column>_index``.
    """

    def __init__(self, group: Group) -> None:
        self.group, self.file, self.name = group, group.file, group.last_name

    def __len__(self) -> int:
        ids = self.group.array("id")
        if ids.ndim != 1:
            raise DataError(
                f"{self.file}: {ids.name} must have one entry per row (got shape {ids.shape})"
            )
        return len(ids)

    def _is_plain(self, column: str) -> bool:
        held = self.group.array(column)
        one_each = (
            held.ndim == 1
            and len(held) == len(self)
            and not self.group.has_array(f"{column}_index")
        )
        return one_each and held.is_readable

    def columns(self) -> list[str]:
        """Return the names of the columns with one number or text per row, as the table lists
        them.
        """
        declared = self.group.attribute("colnames")
        names = [str(as_text(name)) for name in np.ravel([] if declared is None else declared)]
        return [name for name in names if self.group.has_array(name) and self._is_plain(name)]

    def read(self, column: str) -> np.ndarray:
        """Return a column with one number or text per row, (rows,)."""
        if not self._is_plain(column):
            shape = self.group.array(column).shape
            raise DataError(
                f"{self.file}: {column} of {self.name} must have one number or text for each of"
                f" {len(self)} rows (got shape {shape})"
            )
        return self.group.array(column)[()]

    def numbers(self, column: str) -> np.ndarray:
        """Return a column of numbers as floats, (rows,)."""
        values = self.read(column)
        if values.dtype.kind not in "fiub":
            raise DataError(
                f"{self.file}: {column} of {self.name} must be numbers (got {values.dtype})"
            )
        return values.astype(float)

    def ends(self, column: str) -> np.ndarray:
        """Return the ends of the rows of a ragged column, (rows,): ascending places in the array of
        its entries.
        """
        index, entries = self.group.array(f"{column}_index"), self.group.array(column)
        ends = index.numbers(1)
        ascending = (np.diff(ends, prepend=0) >= 0).all()
        if len(ends) != len(self) or not ascending or (len(ends) and ends[-1] > len(entries)):
            raise DataError(
                f"{self.file}: {index.name} must have an end for each of {len(self)} rows, in"
                f" ascending order, up to {len(entries)} entries (got {len(ends)}"
                f" ends{'' if ascending else ', not ascending'}); damaged?"
            )
        return ends.astype(np.int64)

    def references(self, column: str) -> tuple[Table, np.ndarray]:
        """Return the table that a column points into, and the numbers of rows there that are its
        entries.
        """
        held = self.group.array(column)
        table = Table(self.group.target(held.attribute("table")))
        rows, numbers = len(table), held.numbers(1)
        wrong = ~((numbers >= 0) & (numbers < rows) & (numbers == np.floor(numbers)))
        if wrong.any():
            raise DataError(
                f"{held.file}: {held.name} must hold rows of {table.name}, 0 to {rows - 1} (got "
                f"{numbers[wrong][0]:g}); damaged?"
            )
        return table, numbers.astype(np.int64)


# -- time series -----------------------------------------------------------------------------------


def series_in(root: Group) -> list[Group]:
    """Return all time series of numbers in a file, of one or more dimensions, each once."""
    held = [(group, group.get("data")) for group in root.walk() if "data" in group.names()]
    return [
        group for group, data in held if isinstance(data, Array) and data.is_number and data.ndim
    ]


def series_named(series: list[Group], name: str) -> list[Group]:
    """Return the series called ``name``: by their whole or last name, or else by a part of it."""
    exact = [one for one in series if name in (one.name.strip("/"), one.last_name)]
    return exact or [one for one in series if name.lower() in one.name.lower()]


def times_of(series: Group) -> tuple[np.ndarray, float]:
    """Return the times of a series' samples, (samples,) seconds, and their rate."""
    data = series.array("data")
    data.check_claim()
    samples = len(data)
    if isinstance(held := series.get("timestamps"), Array):
        times = held.numbers(1)
        if (
            len(times) != samples
            or samples < 2
            or not np.isfinite(times).all()
            or not (np.diff(times) > 0).all()
        ):
            raise DataError(
                f"{series.file}: {held.name} must have an ascending time for each of {samples}"
                f" samples, at least two (got {len(times)})"
            )
        return times, float(1 / np.median(np.diff(times)))
    if not isinstance(held := series.get("starting_time"), Array):
        raise DataError(
            f"{series.file}: {series.name} must have timestamps, or a starting_time with a rate"
        )
    start, rate = float(held.numbers(0)), held.attribute("rate")
    with held.guard("attribute rate of "):
        rate = float(np.asarray(np.nan if rate is None else rate, dtype=float).reshape(()))
    if not (np.isfinite(start) and np.isfinite(rate) and rate > 0):
        raise DataError(
            f"{series.file}: {held.name} must be a finite time with a positive rate (got {start:g}"
            f" s, rate {rate:g})"
        )
    return start + np.arange(samples) / rate, rate


# -- trials ----------------------------------------------------------------------------------------


def trial_tables(root: Group) -> dict[str, Table]:
    """Return the tables of intervals by name, those that look like trials first."""
    intervals = root.group("intervals")
    groups = intervals.groups() if intervals is not None else []
    found = {group.last_name: Table(group) for group in groups if group.has_array("start_time")}
    return dict(
        sorted(
            found.items(),
            key=lambda item: (item[0] != "trials", item[0] in NOT_TRIALS, -len(item[1])),
        )
    )


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
            raise DataError(
                f"{root.file}: must hold a table of trials or presentations (got {there})"
            )
        if len(found) > 1:
            raise DataError(f"trials: choose a table of {root.file}; there are {there}")
    table = tables[found[0]]
    if not len(table):
        raise DataError(f"{root.file}: must hold trials (got none in {table.name})")
    return _table_of_trials(table)


def _table_of_trials(table: Table) -> Trials:
    there = [name for name in ("start_time", "stop_time") if table.group.has_array(name)]
    times = {name: table.numbers(name) for name in there}
    others = {}
    start = times["start_time"]
    if not np.isfinite(start).any():
        raise DataError(
            f"{table.file}: start_time of {table.name} must hold times (got none that is finite)"
        )
    for name in table.columns():
        if name in times:
            continue
        values = table.read(name)
        if values.dtype.kind == "f" and _are_moments(values, start, times.get("stop_time", start)):
            times[name] = values.astype(float)
        else:
            others[name] = values
    return Trials(times, others, table.name)


def _are_moments(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> bool:
    """Return True if numbers are times of the session: nearly all lie within their own trial, and
    not all are early.
    """
    known = np.isfinite(values) & np.isfinite(start)
    within = (values >= start - SLACK) & (values <= stop + SLACK)
    first = start[np.isfinite(start)][0]
    return bool(
        known.sum() > 1
        and within[known].mean() > 0.9
        and start[known].max() > SLACK + np.abs(first)
    )

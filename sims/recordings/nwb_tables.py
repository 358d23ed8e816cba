"""Tables and time series as NWB keeps them: columns, some of them ragged, some that point into other tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.data.hdf5 import Array, Group, as_text
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import printable


class Table:
    """One table; columns are read when they are asked for.

    Parameters
    ----------
    group
        Group of the columns, each an array with one entry per row. A ragged column has its entries in one array and
        the ends of the rows in another, called ``<column>_index``.
    """

    def __init__(self, group: Group) -> None:
        self.group = group
        self.file, self.name = group.file, group.last_name
        self._rows: int | None = None

    def __len__(self) -> int:
        if self._rows is None:
            ids = self.group.array("id")
            if ids.ndim != 1:
                raise DataError(f"{self.file}: {ids.name} must have one entry per row (got shape {ids.shape})")
            self._rows = len(ids)
        return self._rows

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are there, as the table lists them."""
        declared = self.group.attribute("colnames")
        names = [str(as_text(name)) for name in np.ravel([] if declared is None else declared)]
        return [name for name in names if isinstance(self.group.get(name), Array)]

    def is_plain(self, column: str) -> bool:
        """Return True if a column has one number or text per row."""
        held = self.group.array(column)
        index = self.group.get(f"{column}_index")
        return held.ndim == 1 and len(held) == len(self) and index is None and held.is_readable

    def plain_columns(self) -> list[str]:
        """Return the names of the columns with one number or text per row."""
        return [name for name in self.columns if self.is_plain(name)]

    def read(self, column: str) -> np.ndarray:
        """Return a column with one number or text per row, (rows,)."""
        if not self.is_plain(column):
            shape = self.group.array(column).shape
            raise DataError(
                f"{self.file}: {column} of {self.name} must have one number or text for each of {len(self)} rows (got "
                f"shape {shape})"
            )
        return self.group.array(column)[()]

    def read_numbers(self, column: str) -> np.ndarray:
        """Return a column of numbers as floats, (rows,)."""
        values = self.read(column)
        if values.dtype.kind not in "fiub":
            raise DataError(f"{self.file}: {column} of {self.name} must be numbers (got {values.dtype})")
        return values.astype(float)

    def ends(self, column: str) -> np.ndarray:
        """Return the ends of the rows of a ragged column, (rows,): ascending places in the array of its entries."""
        index, entries = self.group.array(f"{column}_index"), self.group.array(column)
        ends = index.numbers(1)
        ascending = (np.diff(ends, prepend=0) >= 0).all()
        if len(ends) != len(self) or not ascending or (len(ends) and ends[-1] > len(entries)):
            raise DataError(
                f"{self.file}: {index.name} must have an end for each of {len(self)} rows, in ascending order, up to "
                f"{len(entries)} entries (got {len(ends)} ends{'' if ascending else ', not ascending'}); damaged?"
            )
        return ends.astype(np.int64)

    def targets(self, column: str) -> Table:
        """Return the table that a column points into."""
        return Table(self.group.target(self.group.array(column).attribute("table")))

    def rows_in(self, other: Table, column: str) -> np.ndarray:
        """Return the entries of a column that point into another table, as numbers of its rows."""
        return row_numbers(self.group.array(column), len(other), other.name)


def row_numbers(held: Array, rows: int, of: str) -> np.ndarray:
    """Return an array as numbers of rows of a table, each from 0 to ``rows`` - 1."""
    numbers = held.numbers(1)
    wrong = ~((numbers >= 0) & (numbers < rows) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise DataError(
            f"{held.file}: {held.name} must hold rows of {of}, 0 to {rows - 1} (got {numbers[wrong][0]:g}); damaged?"
        )
    return numbers.astype(np.int64)


def kind_of(group: Group) -> str:
    """Return NWB's type of an object, such as ``RoiResponseSeries``."""
    return printable(group.attribute("neurodata_type") or "")


def location_of(table: Table) -> str | None:
    """Return the location of the imaging plane of a table of ROIs, where it has one."""
    plane = table.group.group("imaging_plane")
    if plane is None or not isinstance(place := plane.get("location"), Array):
        return None
    values: Any = place[()]
    return str(values) if np.ndim(values) == 0 else None


def sampling_of(series: Group) -> np.ndarray | tuple[float, float]:
    """Return the times of a series' samples, (samples,) seconds, or first time and rate where sampling is even."""
    samples = len(series.array("data"))
    if isinstance(held := series.get("timestamps"), Array):
        times = held.numbers(1)
        if len(times) != samples or samples < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0).all():
            raise DataError(
                f"{series.file}: {held.name} must have an ascending time for each of {samples} samples, at least two "
                f"(got {len(times)})"
            )
        return times
    if not isinstance(held := series.get("starting_time"), Array):
        raise DataError(f"{series.file}: {series.name} must have timestamps, or a starting_time with a rate")
    start, rate = float(held.numbers(0)), held.number("rate") if held.attribute("rate") is not None else np.nan
    if not (np.isfinite(start) and np.isfinite(rate) and rate > 0):
        raise DataError(
            f"{series.file}: {held.name} must be a finite time with a positive rate (got {start:g} s, rate {rate:g})"
        )
    return start, rate


def times_of(series: Group) -> tuple[np.ndarray, float]:
    """Return the times of a series' samples, (samples,) seconds, and their rate."""
    sampling = sampling_of(series)
    if isinstance(sampling, tuple):
        start, rate = sampling
        return start + np.arange(len(series.array("data"))) / rate, rate
    return sampling, float(1 / np.median(np.diff(sampling)))


def series_in(root: Group) -> list[Group]:
    """Return all time series of numbers in a file, of one or two dimensions or more, each once."""
    found = []
    for group in root.walk():
        held = group.get("data") if "data" in group.names() else None
        if isinstance(held, Array) and held.is_number and held.ndim:
            found.append(group)
    return found


def series_named(series: list[Group], name: str) -> list[Group]:
    """Return the series called ``name``: by their whole or last name, or else by a part of it."""
    exact = [one for one in series if name in (one.name.strip("/"), one.last_name)]
    return exact or [one for one in series if name.lower() in one.name.lower()]

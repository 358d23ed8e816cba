"""Tables of numbers as text, separated by commas."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np

from biorrr.sims.data.values import DataError


def table(path: Path) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Values (rows, columns) and the column names, where the first line has some; says so where that is a guess.

    The first line has names if nothing in it is a number, or if it counts the columns, as pandas names them: 0, 1, 2.
    The first of several columns is left out if it is the only one without a name: so pandas writes the index.
    """
    header = index = False
    try:
        with path.open(encoding="utf-8-sig") as file:
            cells = [cell.strip() for cell in next(csv.reader([file.readline()]), [""])]
        nameless, named = len(cells) > 1 and not cells[0], not any(map(_is_number, cells))
        counted = len(cells) > 1 and cells[nameless:] == [str(i) for i in range(len(cells) - nameless)]
        index = nameless and (counted or (named and all(cells[1:])))
        header = named or counted
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an empty file, which Dataset refuses
            values = np.loadtxt(
                path, delimiter=",", skiprows=int(header), ndmin=2, encoding="utf-8-sig", comments=None, quotechar='"',
                converters={0: lambda cell: 0.0} if index else None,  # an index may be words
            )  # fmt: skip
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: must be numbers separated by commas, as UTF-8 text ({error})") from error
    except (ValueError, csv.Error) as error:
        slip = _slip(path, header, index)
        raise DataError(f"{path}: must be numbers separated by commas, as many in each row (got {slip})") from error
    if header and values.size and len(cells) != values.shape[1]:
        raise DataError(f"{path}: must have a name for each of {values.shape[1]} columns (got {len(cells)})")
    counts_rows = len(values) > 2 and values.shape[1] > 1 and np.array_equal(values[:, 0], np.arange(len(values)))
    if index or (header and counts_rows and cells[0].startswith("Unnamed: ")):  # as pandas calls an index it reads back
        values, cells = values[:, 1:], cells[1:]
        _say(path, "the first column has no name and is left out as an index", "name it if it is an input")
    elif counts_rows:
        _say(path, "the first column, 0, 1, 2 ..., is taken for an input", "take it out if it is an index")
    if counted:
        _say(path, "the first line, 0, 1, 2 ..., is taken for column names", "put names above it if it is a sample")
    elif not header and len(values) > 2 and _whole(values[:1]).all() and not _whole(values[1:]).any():
        _say(path, "the first line, whole numbers, is taken for a sample", "take it out if it holds column names")
    return values, tuple(cells) if header else None


def _say(path: Path, guess: str, remedy: str) -> None:
    warnings.warn(f"{path}: {guess}; {remedy}", stacklevel=5)


def _whole(values: np.ndarray) -> np.ndarray:
    """Which rows hold whole numbers only."""
    return (values == np.round(values)).all(axis=1)


def _slip(path: Path, header: bool, index: bool) -> str:
    """The first place where the file at ``path`` is not a table of numbers, in words."""
    width = None
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        for row in filter(None, rows):
            wrong = [cell for cell in row[index:] if not _is_number(cell)]
            if wrong and not (header and width is None):
                return f"{wrong[0][:40]!r} in line {rows.line_num}"
            if width not in (None, len(row)):
                return f"{len(row)} in line {rows.line_num} and {width} above it"
            width = len(row)
    return "something else"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # 1_000 is a number of Python's alone

"""The user's own data: X and Y in one .npz or .mat file, or in two .npy or .csv files."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np

from biorrr.sims.data import matlab
from biorrr.sims.data.dataset import DataError, Dataset, require

FORMS = "an .npz or .mat file with X and Y, or two .npy or .csv files as x.csv,y.csv"


def load(*paths: Path) -> Dataset:
    """Read X and Y from one file that holds both, or from two files."""
    for path in paths:
        if not path.is_file():
            raise DataError(f"{path}: no such file; data are a name that `biorrr data` lists, {FORMS}")
    suffixes = tuple(path.suffix.lower() for path in paths)
    name = ",".join(map(str, paths))
    x_names = y_names = None
    if suffixes == (".npz",):
        X, Y = _npz(paths[0])
    elif suffixes == (".mat",):
        X, Y = matlab.arrays(paths[0], ("X", "Y")).values()
    elif suffixes == (".npy", ".npy"):
        X, Y = map(_npy, paths)
    elif suffixes == (".csv", ".csv"):
        (X, x_names), (Y, y_names) = map(_csv, paths)
    else:
        raise DataError(f"{name}: must be {FORMS} (got {' and '.join(suffix or 'no suffix' for suffix in suffixes)})")
    return Dataset(name, X, Y, x_names=x_names, y_names=y_names, source=name, licence="your own", citation="your own")


def _npz(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        # Opened here: of a damaged file np.load leaves its own open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            require(path, ("X", "Y"), held.files)
            return held["X"], held["Y"]
    except DataError:
        raise
    except Exception as error:  # a damaged file makes zipfile and NumPy raise a dozen kinds
        raise _unreadable(path, error) from error


def _npy(path: Path) -> np.ndarray:
    """Map the array rather than read it: it may be larger than memory."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except Exception as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DataError:
    if "allow_pickle" in str(error) or "Python objects" in str(error):
        return DataError(f"{path}: holds Python objects, which can run code and are never read; save numbers")
    return DataError(f"{path}: not a readable NumPy file, perhaps damaged or truncated ({error})")


def _csv(path: Path) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Values (rows, columns) and, where nothing in the first line is a number, the column names in it."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            cells = [cell.strip().strip('"') for cell in file.readline().split(",")]
        header = not any(_is_number(cell) for cell in cells)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an empty file, which Dataset refuses
            values = np.loadtxt(
                path, delimiter=",", skiprows=int(header), ndmin=2, encoding="utf-8-sig", comments=None, quotechar='"'
            )
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: must be numbers separated by commas, as UTF-8 text ({error})") from error
    except ValueError as error:
        raise DataError(
            f"{path}: must be numbers separated by commas, as many in each row (got {_slip(path)})"
        ) from error
    if header and values.size and len(cells) != values.shape[1]:
        raise DataError(f"{path}: must have a name for each of {values.shape[1]} columns (got {len(cells)})")
    return values, tuple(cells) if header else None


def _slip(path: Path) -> str:
    """The first place where the file at ``path`` is not a table of numbers, in words."""
    width = None
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        for row in filter(None, rows):
            wrong = [cell for cell in row if not _is_number(cell)]
            names = width is None and len(wrong) == len(row)
            if wrong and not names:
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

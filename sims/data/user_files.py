"""The user's own data: X and Y in one .npz or .mat file, or in two .npy or .csv files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from biorrr.sims.data import csv_files, matlab
from biorrr.sims.data.dataset import DataError, Dataset, check_stamps, file_stamp, require

FORMS = "an .npz or .mat file with X and Y, or two .npy or .csv files as x.csv,y.csv"


def load(*paths: Path) -> Dataset:
    """Read X and Y from one file that holds both, or from two files."""
    for path in paths:
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{os.fsencode(path)!r}: the name of a data file must be UTF-8, since config.toml holds it; rename it"
            ) from None
        if not path.is_file():
            raise DataError(f"{path}: no such file; data are a name that `biorrr data` lists, {FORMS}")
    stamps = {path: file_stamp(path) for path in paths}
    try:
        data = _read(*paths)
    except DataError:
        check_stamps(stamps)  # what is wrong with a file may be that it is being written
        raise
    check_stamps(stamps)
    return data


def _read(*paths: Path) -> Dataset:
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
        (X, x_names), (Y, y_names) = map(csv_files.table, paths)
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

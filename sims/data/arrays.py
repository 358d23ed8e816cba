"""Arrays in files: .npz and MATLAB's hold several by name, .npy and .csv one without a name.

The ending of a file says what it is. MATLAB's versions 4, 6 and 7 are read by SciPy, and version
7.3, which is HDF5, by h5py.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.sims.data.files import check_regular, readable
from biorrr.sims.data.hdf5 import check_hdf5
from biorrr.sims.data.values import DataError
from biorrr.sims.words import as_text, brief, listed

NOT_NUMPY = "not a readable NumPy file"
NUMBER = re.compile(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|\.\d+(e[-+]?\d+)?|inf|nan)", re.IGNORECASE)


def read_samples(path: Path, x: str | None, y: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return X and Y, from one file that holds both, as ``x`` and ``y`` unless these are None, or
    from a file for each.
    """
    check_regular(path)
    kind = path.suffix.lower()
    if kind in (".npz", ".mat"):
        names = x or "X", y or "Y"
        held = read_mat(path, names) if kind == ".mat" else read_npz(path, names)
        return held[names[0]], held[names[1]]
    if y is None:
        raise DataError(
            f"y: {path} is no .npz or .mat file with X and Y; if it holds X alone (.csv, .npy),"
            " name Y's file with --y"
        )
    return read_single(path), read_single(Path(y))


def read_npz(path: Path, needed: Sequence[str], known: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return the arrays called ``needed``, which must be in the .npz file, and those of ``known``
    that are.
    """
    check_regular(path)
    with readable(path, NOT_NUMPY), path.open("rb") as file, np.lib.npyio.NpzFile(file) as held:
        if not set(needed) <= {*held}:
            hint = (
                "two areas of a recording take --source and --target"
                if "areas" in held
                else f"np.savez saves arrays as {', '.join(f'{name}=...' for name in needed)}"
            )
            raise DataError(
                f"{path}: must hold {listed(needed)} (got {listed(sorted(held))}); {hint}"
            )
        return {name: np.asanyarray(held[name]) for name in (*needed, *known) if name in held}


def read_single(path: Path) -> np.ndarray:
    """Return the array in a .npy file, as a memory map since it may be larger than memory, or in a
    text file.
    """
    check_regular(path)
    match path.suffix.lower():
        case ".npy":
            with readable(path, NOT_NUMPY):
                return np.lib.format.open_memmap(path, mode="r")
        case ".npz":
            raise DataError(
                f"{path}: must hold one array beside another file (got .npz, which holds several)"
            )
    return read_csv(path)


def read_csv(path: Path) -> np.ndarray:
    """Return numbers separated by commas, (rows, columns); a first line in which nothing is a
    number holds names.

    What looks like an index, or may be either names or a sample, is refused: learned as an input,
    an index would spoil the result without a word.
    """
    wanted = f"{path}: must be numbers separated by commas, as many in each row"
    try:
        with path.open(encoding="utf-8-sig") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a table without rows, which has no samples
            lines = csv.reader(file)
            first = [cell.strip() for cell in next(filter(None, lines), [])]
            _refuse_index_names(path, first)
            skipped = 0 if any(map(NUMBER.fullmatch, first)) else lines.line_num
            file.seek(0)
            values = np.loadtxt(
                file, delimiter=",", skiprows=skipped, comments=None, quotechar='"', ndmin=2
            )
    except DataError:
        raise
    except (ValueError, csv.Error) as error:
        raise DataError(f"{wanted}, as UTF-8 text ({brief(error)})") from error
    rows, width = values.shape
    if rows and width != len(first):
        raise DataError(f"{wanted} (got {width} below {len(first)} names)")
    if rows > 2 and width > 1 and np.array_equal(values[:, 0], np.arange(rows)):
        raise DataError(
            f"{path}: must have inputs only (got a first column that counts the rows, like an"
            " index); leave it out"
        )
    return values


def _refuse_index_names(path: Path, cells: list[str]) -> None:
    """Refuse a first line as pandas writes it, with an unnamed index or columns called 0, 1, 2."""
    unnamed = bool(cells) and not cells[0]
    counted = cells[unnamed:] == [str(i) for i in range(len(cells) - unnamed)]
    if len(cells) > 1 and (counted or unnamed):
        what = "column names 0, 1, 2 ..." if counted else "a first column without a name"
        raise DataError(
            f"{path}: must have inputs only, with names or without (got {what}); pandas "
            "saves it so with df.to_csv(path, index=False, header=False)"
        )


# -- MATLAB ----------------------------------------------------------------------------------------


def read_mat(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return the variables called ``names`` in a MATLAB file: arrays, or what SciPy makes of
    others.
    """
    import h5py
    import scipy.io

    check_regular(path)
    with readable(path, "not a readable MATLAB file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of variables that are not read
        if h5py.is_hdf5(path):
            return _read_hdf5(path, names)
        _refuse_missing(path, names, scipy.io.whosmat(path, appendmat=False))
        held = scipy.io.loadmat(path, appendmat=False, variable_names=names)
        return {name: held[name] for name in names}


def _read_hdf5(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return matrices in a file of version 7.3, which holds them transposed."""
    import h5py

    check_hdf5(path)
    with h5py.File(path, "r") as file:
        held = {name: one for name, one in file.items() if name[0] != "#"}
        kinds = {n: as_text(one.attrs.get("MATLAB_class", "unmarked")) for n, one in held.items()}
        shapes = {name: getattr(one, "shape", ())[::-1] for name, one in held.items()}
        _refuse_missing(path, names, [(name, shapes[name], kinds[name]) for name in held])
        for name in names:
            is_array = isinstance(held[name], h5py.Dataset) and kinds[name] != "char"
            if not is_array or "MATLAB_empty" in held[name].attrs:
                raise DataError(
                    f"{path}: {name} must be a full matrix of real numbers (got {kinds[name]},"
                    " sparse or empty)"
                )
        return {name: held[name][()].T for name in names}


def _refuse_missing(
    path: Path, names: Sequence[str], there: Sequence[tuple[str, tuple[int, ...], str]]
) -> None:
    """Refuse a file without the variables ``names``; it has others, with a shape and a class."""
    if not {*names} <= {name for name, *_ in there}:
        got = (f"{name} ({' x '.join(map(str, shape))} {kind})" for name, shape, kind in there)
        raise DataError(
            f"{path}: must hold the variables {' and '.join(names)} (got {listed(got)}); choose"
            " with x=NAME and y=NAME (--x, --y)"
        )

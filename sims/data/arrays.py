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


def read_mat(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the matrices called ``names`` in a MATLAB file."""
    import h5py

    check_regular(path)
    with readable(path, "not a readable MATLAB file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of variables that are not read
        read = _read_hdf5 if h5py.is_hdf5(path) else _read_older
        variables, matrices = read(path, names)
    got = f"(got {listed(f'{name} ({kind})' for name, kind in variables.items())})"
    if not variables.keys() >= {*names}:
        raise DataError(
            f"{path}: must hold the variables {' and '.join(names)} {got}; choose with x=NAME and"
            " y=NAME (--x, --y)"
        )
    for name in names:
        if name not in matrices:
            raise DataError(f"{path}: {name} must be a full matrix of real numbers {got}")
    return matrices


def _read_older(path: Path, names: Sequence[str]) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Return the variables, each in words, and those of ``names`` that are matrices of real
    numbers, of version 4, 6 or 7.
    """
    import scipy.io

    held = scipy.io.loadmat(path, appendmat=False, variable_names=names)
    words = {}
    for name, shape, kind in scipy.io.whosmat(path, appendmat=False):
        size = "" if kind == "char" else " x ".join(map(str, shape))  # SciPy counts a text as one
        words[name] = f"{size}{' complex' * np.iscomplexobj(held.get(name))} {kind}".lstrip()
    matrices = {
        name: held[name]
        for name in names
        if isinstance(held.get(name), np.ndarray) and held[name].dtype.kind in "fiub"
    }
    return words, matrices


def _read_hdf5(path: Path, names: Sequence[str]) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Return the same of version 7.3."""
    import h5py

    check_hdf5(path)
    with h5py.File(path, "r") as file:
        variables = {name: _in_words(one) for name, one in file.items() if name[0] != "#"}
        matrices = {
            name: file[name][()].T  # HDF5 holds the transposed matrix
            for name in names
            if isinstance(file.get(name), h5py.Dataset)
            and file[name].dtype.kind in "fiub"
            and "MATLAB_empty" not in file[name].attrs
            and file[name].attrs.get("MATLAB_class") != b"char"  # in numbers
        }
    return variables, matrices


def _in_words(held: Any) -> str:
    """Return the shape and the class in MATLAB's words of the variable that an object in HDF5
    stands for; no shape where it is not a matrix.
    """
    kind = as_text(held.attrs.get("MATLAB_class", b"unmarked"))
    if "MATLAB_sparse" in held.attrs:
        return "sparse"
    if kind == "char" or not hasattr(held, "dtype"):
        return kind
    shape = "empty" if "MATLAB_empty" in held.attrs else " x ".join(map(str, held.shape[::-1]))
    return f"{shape} {'complex ' if held.dtype.names else ''}{kind}"

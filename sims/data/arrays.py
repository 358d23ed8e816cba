"""Arrays in files: .npz and MATLAB's hold several by name, .npy and .csv one without a name.

The format of all but MATLAB's is told by the first bytes of a file and not by its name. MATLAB's
versions 4, 6 and 7 are read by SciPy, and version 7.3, which is HDF5, by h5py.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.sims.data.files import check_hdf5, first_bytes, readable, run_apart
from biorrr.sims.data.values import DataError
from biorrr.sims.words import as_text, brief, listed

NOT_NUMPY = "not a readable NumPy file"
ZIP, HDF5 = b"PK", b"\x89HDF\r\n\x1a\n"  # how .npz files and those of HDF5 begin


def holds_recording(path: Path) -> bool:
    """Return True for an .npz file with arrays of activity and no samples."""
    if not first_bytes(path).startswith(ZIP):
        return False
    with readable(path, NOT_NUMPY), path.open("rb") as file, np.lib.npyio.NpzFile(file) as held:
        return "areas" in held and not {"X", "Y"} <= {*held}


def read_npz(path: Path, needed: Sequence[str], known: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return the arrays called ``needed``, which must be in the .npz file, and those of ``known``
    that are.
    """
    with readable(path, NOT_NUMPY), path.open("rb") as file, np.lib.npyio.NpzFile(file) as held:
        if not set(needed) <= {*held}:
            hint = (
                "; two areas of a recording take --source and --target"
                if "areas" in held
                else f"; np.savez saves arrays as {', '.join(f'{name}=...' for name in needed)}"
            )
            raise DataError(
                f"{path}: must hold {listed(needed)} (got {listed(sorted(held))}){hint}"
            )
        return {name: np.asanyarray(held[name]) for name in (*needed, *known) if name in held}


def read_samples(file: str, y: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return X and Y, from one file that holds both or from a file for each."""
    path = Path(file)
    if y is not None:
        return read_single(path), read_single(Path(y))
    if not first_bytes(path).startswith(ZIP) and path.suffix.lower() != ".npz":
        raise DataError(
            f"y: {path} is no .npz or .mat file with X and Y; if it holds X alone (.csv, .npy),"
            " name Y's file with --y"
        )
    held = read_npz(path, ("X", "Y"))
    return held["X"], held["Y"]


def read_single(path: Path) -> np.ndarray:
    """Return the array in a .npy file, as a memory map since it may be larger than memory, or in a
    .csv file.
    """
    if (begin := first_bytes(path)).startswith(ZIP):
        raise DataError(
            f"{path}: must hold one array beside another file (got .npz, which holds several)"
        )
    if begin.startswith(b"\x93NUMPY") or path.suffix.lower() == ".npy":
        with readable(path, NOT_NUMPY):
            return np.lib.format.open_memmap(path, mode="r")
    return read_csv(path)


def read_csv(path: Path) -> np.ndarray:
    """Return numbers separated by commas, (rows, columns); a first line in which nothing is a
    number holds names.

    What looks like an index, or may be either names or a sample, is refused: learned as an input,
    an index would spoil the result without a word.
    """
    wanted = f"{path}: must be numbers separated by commas, as many in each row"
    rows, width = [], 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            for cells in filter(None, lines):
                numbers = [_number(cell) for cell in cells]
                if not width:
                    width = len(cells)
                    _refuse_index_names(path, [cell.strip() for cell in cells])
                    if not any(number is not None for number in numbers):
                        continue
                if None in numbers:
                    got = repr(cells[numbers.index(None)][:40])
                    raise DataError(f"{wanted} (got {got} in line {lines.line_num})")
                if len(cells) != width:
                    raise DataError(
                        f"{wanted} (got {len(cells)} in line {lines.line_num} and {width} above it)"
                    )
                rows.append(np.array(numbers))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{wanted}, as UTF-8 text ({error})") from error
    values = np.array(rows).reshape(len(rows), width)
    if len(rows) > 2 and width > 1 and np.array_equal(values[:, 0], np.arange(len(rows))):
        raise DataError(
            f"{path}: must have inputs only (got a first column that counts the rows, like an"
            " index); leave it out"
        )
    return values


def _refuse_index_names(path: Path, cells: list[str]) -> None:
    """Refuse a first line as pandas writes it, with an unnamed index or columns called 0, 1, 2."""
    unnamed = not cells[0]
    counted = cells[unnamed:] == [str(i) for i in range(len(cells) - unnamed)]
    if len(cells) > 1 and (counted or unnamed):
        what = "column names 0, 1, 2 ..." if counted else "a first column without a name"
        raise DataError(
            f"{path}: must have inputs only, with names or without (got {what}); pandas "
            "saves it so with df.to_csv(path, index=False, header=False)"
        )


def _number(cell: str) -> float | None:
    """Return the number in a cell; None if there is none. 1_000 is a number in Python alone."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


# -- MATLAB ----------------------------------------------------------------------------------------


def read_mat(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the matrices called ``names`` in a MATLAB file."""
    begin = first_bytes(path, 512 + len(HDF5))
    if found := _what_else(begin):
        raise DataError(f"{path}: must be a MATLAB file (got {found})")
    # In version 7.3 there are 512 bytes of text before HDF5 begins.
    is_hdf5 = begin.startswith((HDF5, b"MATLAB 7.3")) or begin.endswith(HDF5)
    variables, matrices = (_read_hdf5 if is_hdf5 else _read_older)(path, names)
    got = f"(got {listed(f'{name} ({kind})' for name, kind in variables.items())})"
    if not variables.keys() >= {*names}:
        raise DataError(
            f"{path}: must hold the variables {' and '.join(names)} {got}; choose with x=NAME and"
            " y=NAME (--x, --y)"
        )
    for name in names:
        if name not in matrices or matrices[name].ndim != 2 or not matrices[name].size:
            raise DataError(f"{path}: {name} must be a full matrix of real numbers {got}")
    return {name: matrices[name] for name in names}


def _what_else(begin: bytes) -> str:
    """Return what a file is that begins so and is clearly none of MATLAB's; empty for others."""
    if not begin:
        return "an empty file"
    if begin.startswith(b"# "):
        return "text of Octave; save it with -v7"
    if begin.startswith(ZIP):
        return "a zip archive; NumPy's end with .npz"
    if begin.isascii() and b"\0" not in begin and not begin.startswith(b"MATLAB"):
        line = brief(begin.decode().lstrip().partition("\n")[0])
        return f"text that begins with {line!r}; tables of numbers end with .csv"
    return ""


def _read_older(path: Path, names: Sequence[str]) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Return the variables, each in words, and those of ``names`` that are matrices of real
    numbers, of version 4, 6 or 7.
    """
    try:
        output = run_apart("MATLAB", path, *names)
    except ChildProcessError as error:
        text, *_ = re.split(rb"[^ -~]|,", first_bytes(path, 116), maxsplit=1)
        begins = f" that begin with {text.decode()!r}" if len(text) > 3 else ""
        raise DataError(
            f"{path}: not a readable MATLAB file, perhaps damaged or truncated ({error}; got"
            f" {path.stat().st_size:,} bytes{begins})"
        ) from None
    header, _, numbers = output.partition(b"\n")
    variables, shapes = json.loads(header)
    matrices, at = {}, 0
    for name, shape in shapes.items():
        matrices[name] = np.frombuffer(numbers, count=math.prod(shape), offset=at).reshape(shape)
        at += matrices[name].nbytes
    return variables, matrices


def _read_hdf5(path: Path, names: Sequence[str]) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Return the same of version 7.3."""
    import h5py

    check_hdf5(path)
    with readable(path, "not a readable MATLAB file"), h5py.File(path, "r") as file:
        variables = {name: _in_words(one) for name, one in file.items() if name[0] != "#"}
        matrices = {
            name: file[name][()].T  # HDF5 holds the transposed matrix
            for name in names
            if isinstance(file.get(name), h5py.Dataset)
            and file[name].dtype.kind in "fiub"
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
    if kind == "unmarked" and held.dtype.kind in "fiub":  # MATLAB reads it in its order, too
        kind = "double"
    shape = held[()].tolist() if "MATLAB_empty" in held.attrs else held.shape[::-1]
    return f"{' x '.join(map(str, shape))} {'complex ' if held.dtype.names else ''}{kind}"

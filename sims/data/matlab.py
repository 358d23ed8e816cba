"""Matrices in MATLAB files: versions 4, 6 and 7 by SciPy, version 7.3, which is HDF5, by h5py."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biorrr.sims.data.files import check_hdf5, first_bytes, readable, run_apart
from biorrr.sims.data.values import DataError
from biorrr.sims.lazy import np
from biorrr.sims.words import as_text, brief, listed

HDF5 = b"\x89HDF\r\n\x1a\n"


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
    if begin.startswith(b"PK"):
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

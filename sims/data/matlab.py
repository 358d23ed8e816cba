"""Matrices in MATLAB files: versions 4, 6 and 7 by SciPy, version 7.3, which is HDF5, by h5py."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from biorrr.sims.data import older_matlab
from biorrr.sims.data.files import open_regular, readable, run_apart
from biorrr.sims.data.values import DataError
from biorrr.sims.lazy import np
from biorrr.sims.words import as_text, brief, listed

HDF5 = b"\x89HDF\r\n\x1a\n"


class Variable(NamedTuple):
    """A variable in a file: its class and shape in MATLAB's words; no shape where it is not a
    matrix.
    """

    name: str
    kind: str
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        size = " x ".join(map(str, self.shape))
        return f"{self.name} ({size} {self.kind})" if size else f"{self.name} ({self.kind})"


class MatFile(NamedTuple):
    """What a file holds, and the matrices of real numbers that were asked for."""

    variables: list[Variable]
    matrices: dict[str, np.ndarray]


def read_mat(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the matrices called ``names`` in a MATLAB file."""
    variables, matrices = open_mat(path, names)
    known, got = {one.name: one for one in variables}, f"(got {listed(variables)})"
    if not known.keys() >= set(names):
        raise DataError(
            f"{path}: must hold the variables {' and '.join(names)} {got}; choose with x=NAME and"
            " y=NAME (--x, --y)"
        )
    for name in names:
        if math.prod(known[name].shape) > older_matlab.MOST_PACKED * path.stat().st_size:
            raise DataError(f"{path}: must hold the numbers it declares {got}; damaged?")
        if name not in matrices or matrices[name].ndim != 2 or not matrices[name].size:
            raise DataError(f"{path}: {name} must be a full matrix of real numbers {got}")
    return {name: matrices[name] for name in names}


def open_mat(path: Path, names: Sequence[str] = ()) -> MatFile:
    """Return what a MATLAB file holds, and those of ``names`` that are matrices of real numbers."""
    with open_regular(path) as file:
        begin = file.read(512 + len(HDF5))
    if found := _what_else(begin):
        raise DataError(f"{path}: must be a MATLAB file (got {found})")
    # In version 7.3 there are 512 bytes of text before HDF5 begins.
    is_hdf5 = begin.startswith((HDF5, b"MATLAB 7.3")) or begin.endswith(HDF5)
    return _open_hdf5(path, names) if is_hdf5 else _open_older(path, names)


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


def _open_older(path: Path, names: Sequence[str]) -> MatFile:
    output, trouble = run_apart(older_matlab.__file__, path, *names)
    header, _, numbers = output.partition(b"\n")
    told: dict[str, Any] = json.loads(header) if header and not trouble else {"error": trouble}
    if "error" in told:
        raise DataError(
            f"{path}: not a readable MATLAB file, perhaps damaged or truncated"
            f" ({brief(told['error'])}; got {_beginning(path)})"
        )
    matrices, at = {}, 0
    for name, shape in told["matrices"].items():
        matrices[name] = np.frombuffer(numbers, count=math.prod(shape), offset=at).reshape(shape)
        at += matrices[name].nbytes
    variables = [
        Variable(name, kind, () if kind == "char" else tuple(shape))  # SciPy counts a text as one
        for name, shape, kind in told["variables"]
    ]
    return MatFile(variables, matrices)


def _beginning(path: Path) -> str:
    """Return how long the file at ``path`` is, and the text with which it begins."""
    with open_regular(path) as file:
        text, *_ = re.split(rb"[^ -~]|,", file.read(116), maxsplit=1)
    begins = f" that begin with {text.decode()!r}" if len(text) > 3 else ""
    return f"{path.stat().st_size:,} bytes{begins}"


def _open_hdf5(path: Path, names: Sequence[str]) -> MatFile:
    import h5py

    from biorrr.sims.recordings.hdf5_check import check_hdf5

    check_hdf5(path)
    with readable(path, "not a readable MATLAB file"), h5py.File(path, "r") as file:
        held = {name: file[name] for name in file if not name.startswith("#")}
        variables = [_variable(name, one) for name, one in held.items()]
        matrices = {
            one.name: held[one.name][()].T  # HDF5 holds the transposed matrix
            for one in variables
            if one.name in names and one.shape and held[one.name].dtype.kind in "fiub"
        }
    return MatFile(variables, matrices)


def _variable(name: str, held: Any) -> Variable:
    """Return the variable that an object in HDF5 stands for."""
    import h5py

    kind = as_text(held.attrs.get("MATLAB_class", b"unmarked"))
    if isinstance(held, h5py.Group):
        return Variable(name, "sparse" if "MATLAB_sparse" in held.attrs else kind)
    if kind == "char":  # in numbers
        return Variable(name, kind)
    if kind == "unmarked" and held.dtype.kind in "fiub":  # MATLAB reads it in its order, too
        kind = "double"
    shape = tuple(held[()].tolist()) if "MATLAB_empty" in held.attrs else held.shape[::-1]
    return Variable(name, f"complex {kind}" if held.dtype.names else kind, shape)

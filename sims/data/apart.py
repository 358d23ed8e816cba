"""Readers of data files, run as a program of their own, which imports nothing of ours.

A damaged file can crash or hang HDF5's library and SciPy's reader of MATLAB, which no exception
handler helps against. :func:`biorrr.sims.data.files.run_apart` starts this program. It writes what
was read to its output, and what went wrong to its errors.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import warnings

LARGE = 2**24  # bytes of an array of which only the first row is looked at
MOST_PACKED = 2000  # numbers in a byte of file: zlib packs at most 1032 bytes into one


def look_through(path: str) -> None:
    """Write what is wrong with an HDF5 file that leads to other files, or that declares more
    numbers than it can hold.

    Links, external storage and virtual datasets can read any other file. The look touches all
    objects, all attributes, and the values of arrays that are not large.
    """
    import h5py

    def trouble(name: str, link: object) -> str | None:
        """Return what is wrong with an object, in words; None goes on with the next."""
        if isinstance(link, h5py.SoftLink):  # within the file: NWB links its own objects
            return None
        try:
            found = file[name] if isinstance(link, h5py.HardLink) else None
            is_array = isinstance(found, h5py.Dataset)
            if found is None or (is_array and (found.is_virtual or found.external)):
                return (
                    f"all of it must be held in the file itself (got /{name}, a link, external"
                    " storage or a virtual dataset, which can read any other file); make a plain"
                    " copy of it"
                )
            dict(found.attrs)
            if is_array and found.nbytes > MOST_PACKED * size:
                return (
                    f"must hold the numbers it declares (got {found.nbytes} bytes of /{name} in"
                    f" {size} bytes of file); damaged?"
                )
            if is_array:
                _ = found[()] if found.nbytes <= LARGE or not found.ndim else found[:1]
        except Exception as error:
            return f"/{name} cannot be read, perhaps damaged or truncated ({in_words(error)})"
        return None

    with h5py.File(path, "r") as file:
        size = os.path.getsize(path)
        dict(file.attrs)
        print(file.visititems_links(trouble) or "")


def read_matlab(path: str, *names: str) -> None:
    """Write two things of a MATLAB file of version 4, 6 or 7 as a line of JSON, the variables, each
    in MATLAB's words, and the shapes of those of ``names`` that are matrices of real numbers; then
    these matrices as float64, row by row.
    """
    import numpy as np
    import scipy.io

    variables = scipy.io.whosmat(path, appendmat=False)
    for name, shape, _ in variables:
        if name in names and math.prod(shape) > MOST_PACKED * os.path.getsize(path):
            sys.exit(f"{name} must hold the numbers it declares, {shape}")
    held = scipy.io.loadmat(path, appendmat=False, variable_names=names)
    words = {}
    for name, shape, kind in variables:
        size = "" if kind == "char" else " x ".join(map(str, shape))  # SciPy counts a text as one
        words[name] = f"{size}{' complex' * np.iscomplexobj(held.get(name))} {kind}".lstrip()
    matrices = {
        name: np.ascontiguousarray(held[name], float)
        for name in names
        if isinstance(held.get(name), np.ndarray) and held[name].dtype.kind in "fiub"
    }
    print(json.dumps([words, {name: one.shape for name, one in matrices.items()}]), flush=True)
    for matrix in matrices.values():
        sys.stdout.buffer.write(matrix.data)


def in_words(error: Exception) -> str:
    """Return what a library says of an error, on one line."""
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # SciPy's, of variables that are not read
    work, reader, *arguments = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(work), int(work) + 1))
    try:
        {"HDF5": look_through, "MATLAB": read_matlab}[reader](*arguments)
    except Exception as error:
        sys.exit(in_words(error))

"""A look through HDF5 files before they are read.

A damaged file can crash or hang HDF5's library, which no exception handler helps against. So the
first look is a program of its own, which imports nothing of ours.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

# Processor seconds for a small file, most of them to start Python; and how much longer a large file
# may take.
WORK, BYTES_PER_SECOND = 2, 2e7
LARGE = 2**24  # bytes of an array of which only the first row is read


def check_hdf5(path: Path) -> None:
    """Refuse a file that the library cannot read to its end, that leads to other files or that
    declares more numbers than it holds.
    """
    import h5py

    from biorrr.circuit.results.netcdf import refuse_unsafe
    from biorrr.sims.data.files import check_regular, readable

    check_regular(path)
    size = path.stat().st_size
    work = WORK + int(size / BYTES_PER_SECOND)
    command = [sys.executable, "-I", __file__, str(path), str(work)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    with readable(path, "not a readable HDF5 file"):
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace")
            raise OSError(said or f"reading it ends with signal {-done.returncode}")
        with h5py.File(path, "r") as file:
            refuse_unsafe(file, size)


def look_through(path: str) -> None:
    """Read all attributes of a file, and what it holds itself of arrays that are not large."""
    import h5py

    def look(name: str, found: h5py.Group | h5py.Dataset) -> None:
        dict(found.attrs)
        if isinstance(found, h5py.Dataset) and not (found.is_virtual or found.external):
            found[:1] if found.ndim and found.nbytes > LARGE else found[()]

    with h5py.File(path, "r") as file:
        dict(file.attrs)
        file.visititems(look)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2]) + 1))
    try:
        look_through(sys.argv[1])
    except Exception as error:
        sys.exit(str(error) or type(error).__name__)

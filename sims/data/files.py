"""Checks that hold for every data file that is read."""

from __future__ import annotations

import functools
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from biorrr.sims.data import apart
from biorrr.sims.data.values import DataError
from biorrr.sims.words import brief

# Processor seconds for a small file, most of them to start Python and SciPy; and how much longer a
# large file may take.
WORK, BYTES_PER_SECOND = 3, 2e7


@contextmanager
def readable(path: Path | str, otherwise: str) -> Iterator[None]:
    """Turn whatever a damaged file makes a library raise into a sentence: ``otherwise`` says what
    cannot be read.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # HDF5, h5py, NumPy, SciPy and zipfile raise a dozen kinds
        if "allow_pickle" in str(error) or "Python objects" in str(error):
            raise DataError(
                f"{path}: holds Python objects, which can run code and are never read; save numbers"
            ) from error
        raise DataError(
            f"{path}: {otherwise}, perhaps damaged or truncated ({brief(error)})"
        ) from error


def check_regular(path: Path) -> None:
    """Refuse whatever is no regular file, such as a named pipe, whose reader would wait for
    ever.
    """
    try:
        str(path).encode()
        mode = os.stat(path).st_mode
    except UnicodeEncodeError:
        raise DataError(
            f"{os.fsencode(path)!r}: the name of a data file must be UTF-8, since config.toml holds"
            " it; rename it"
        ) from None
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        why = "no such file" if missing else getattr(error, "strerror", None) or str(error)
        raise DataError(
            f"{path}: {why}; data are a name that `biorrr data` lists, or a file"
        ) from None
    if not stat.S_ISREG(mode):
        what = "a folder; export Zarr to HDF5" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise DataError(f"{path}: must be a regular file (got {what})")


def first_bytes(path: Path, count: int = 8) -> bytes:
    """Return the beginning of a regular file."""
    check_regular(path)
    with path.open("rb") as file:
        return file.read(count)


def run_apart(reader: str, path: Path, *names: str) -> bytes:
    """Return what a reader of :mod:`~biorrr.sims.data.apart` says of a file, in a process of its
    own; raise ChildProcessError with what went wrong, in words.
    """
    work = WORK + int(path.stat().st_size / BYTES_PER_SECOND)
    done = subprocess.run(
        [sys.executable, "-I", apart.__file__, str(work), reader, str(path), *names],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode == -signal.SIGXCPU:
        raise ChildProcessError("reading it does not come to an end")
    if done.returncode < 0:
        raise ChildProcessError(f"it ends with signal {-done.returncode}")
    if done.returncode:
        raise ChildProcessError(brief(done.stderr.decode("utf-8", "replace")))
    return done.stdout


def check_hdf5(path: Path) -> None:
    """Refuse a file that the library cannot read to its end, and one that leads to other files."""
    check_regular(path)
    found = path.stat()
    if trouble := _trouble_in_hdf5(path, (found.st_ino, found.st_size, found.st_mtime_ns)):
        raise DataError(f"{path}: {trouble}")


@functools.lru_cache(maxsize=64)
def _trouble_in_hdf5(path: Path, stamp: tuple[int, ...]) -> str:
    """Return what is wrong with a file, in words; it is tried once, until its ``stamp`` changes."""
    try:
        return run_apart("HDF5", path).decode("utf-8", "replace").strip()
    except ChildProcessError as error:
        return f"not a readable HDF5 file, perhaps damaged or truncated ({error})"

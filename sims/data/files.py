"""Checks that hold for every data file that is read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from biorrr.sims.data.values import DataError
from biorrr.sims.words import brief

# Processor seconds for a small file, most of them to start Python and SciPy; seconds on the clock,
# of which a busy machine takes many; and how much longer a large file may take.
WORK, PATIENCE, BYTES_PER_SECOND = 3.0, 60.0, 2e7


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


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading."""
    check_regular(path)
    # Not to wait if it has become a pipe since.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")


def run_apart(script: str, path: Path, *arguments: str) -> tuple[bytes, str]:
    """Run a program of ours on a data file in a process of its own, for readers in C that a damaged
    file can crash; return its output, and what went wrong, in words.
    """
    check_regular(path)
    more = path.stat().st_size / BYTES_PER_SECOND
    deadline = time.monotonic() + PATIENCE + more
    with subprocess.Popen(
        [sys.executable, "-I", script, str(path), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        while True:
            try:
                output, _ = process.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                if _worked(process.pid) > WORK + more or time.monotonic() > deadline:
                    process.kill()
                    process.communicate()
                    return b"", "reading it does not come to an end"
    if process.returncode:
        return b"", f"it ends with signal {-process.returncode}"
    return output, ""


def _worked(process: int) -> float:
    """Return the processor seconds that a process has taken."""
    import psutil

    try:
        times = psutil.Process(process).cpu_times()
    except psutil.Error:  # it has just ended
        return 0.0
    return times.user + times.system


def file_stamp(path: Path) -> tuple[int, ...] | None:
    """Return numbers that change when the file at ``path`` is written or replaced; None where there
    is none.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def check_stamps(stamps: Mapping[Path, tuple[int, ...] | None]) -> None:
    """Refuse to go on if one of these files was written to or replaced since its stamp was taken.

    One that was deleted is still there for those who have it open.
    """
    for path, stamp in stamps.items():
        if file_stamp(path) not in (stamp, None):
            raise DataError(
                f"{path}: must stay as it is while it is in use (got another file, or one that was"
                " written to); start again when it is whole"
            )

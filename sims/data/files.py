"""Checks that hold for every data file that is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from biorrr.errors import InputError
from biorrr.sims.data.values import DataError
from biorrr.sims.words import brief


@contextmanager
def readable(path: Path | str, otherwise: str) -> Iterator[None]:
    """Turn whatever a damaged file makes a library raise into a sentence: ``otherwise`` says what
    cannot be read.
    """
    try:
        yield
    except DataError:
        raise
    except InputError as error:
        raise DataError(f"{path}: {error}") from error
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
    except UnicodeEncodeError:
        raise DataError(
            f"{os.fsencode(path)!r}: the name of a data file must be UTF-8, since config.toml holds"
            " it; rename it"
        ) from None
    if not os.path.exists(path):
        raise DataError(
            f"{path}: no such file; data are a name that `biorrr data` lists, or a file"
        )
    if not os.path.isfile(path):
        what = "a folder; export Zarr to HDF5" if path.is_dir() else "a pipe, socket or device"
        raise DataError(f"{path}: must be a regular file (got {what})")

"""Data files are regular files: nothing else is opened, and so nothing hangs."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from biorrr.sims.data.values import DataError


def check_regular(path: Path) -> None:
    """Refuse whatever is no regular file, such as a named pipe, whose reader would wait for ever."""
    try:
        str(path).encode()
        mode = os.stat(path).st_mode
    except UnicodeEncodeError:
        raise DataError(
            f"{os.fsencode(path)!r}: the name of a data file must be UTF-8, since config.toml holds it; rename it"
        ) from None
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        why = "no such file" if missing else getattr(error, "strerror", None) or str(error)
        raise DataError(f"{path}: {why}; data are a name that `biorrr data` lists, or a file") from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise DataError(f"{path}: must be a regular file (got {what})")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading."""
    check_regular(path)
    # Not to wait if it has become a pipe since.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")

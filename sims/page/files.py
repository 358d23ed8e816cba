"""Files of a folder that somebody may have sent: read where they lie in it, and never where a link leads."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from biorrr.errors import InputError


class ReportError(InputError):
    """A folder that there is nothing to report of."""

    exit_code = 2


def is_linked(path: Path, folder: Path) -> bool:
    """Whether a link stands between ``folder`` and ``path``, or is ``path``; what it leads to is not even looked at."""
    below = path.relative_to(folder)
    return ".." in below.parts or any((folder / part).is_symlink() for part in reversed([below, *below.parents][:-1]))


def is_inside(path: Path, folder: Path) -> bool:
    """Whether ``path`` is a file below ``folder`` with no link on the way."""
    try:
        opened_inside(path, folder).close()
    except (OSError, ReportError):
        return False
    return True


def opened_inside(path: Path, folder: Path) -> BinaryIO:
    """Open the file ``path`` below ``folder`` for reading; refuse links, and what is no file."""
    refusal = ReportError(
        f"{path}: must be a file in the folder itself and no link, which could lead to any file of yours; if it is "
        "meant to be read, copy it there"
    )
    if is_linked(path, folder):
        raise refusal
    # Without following a link put there since, and without waiting for the other end of a pipe.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise refusal
    return os.fdopen(handle, "rb")

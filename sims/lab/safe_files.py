"""Files of a folder that may come from others: opened only where they lie in it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from biorrr.errors import InputError


class FolderError(InputError):
    """A folder that a run must not or cannot be written to or read from."""

    exit_code = 2


def inside(folder: Path, *names: str) -> Path:
    """Return the path of ``names`` in ``folder``; refuse all but regular files, folders and what is
    not there.

    In a folder that was sent a link may lead anywhere, and whoever opens a pipe waits for good.
    """
    path = folder
    for name in names:
        if name in ("", "..") or "/" in name:
            raise FolderError(f"{path / name}: must lie in {folder}; copy it there")
        path = path / name
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = "a link, which may lead anywhere" if stat.S_ISLNK(mode) else "a pipe or a device"
            raise FolderError(
                f"{path}: must be a file in the folder itself (got {kind}); delete it, or put a"
                " copy there"
            )
    return path


def open_inside(folder: Path, *names: str) -> BinaryIO:
    """Open the file ``names`` in ``folder`` for reading; see :func:`inside`."""
    path = inside(folder, *names)
    # Without following a link put there since, and without waiting for the other end of a pipe.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")


def read_json(folder: Path, *names: str) -> Any:
    """Return the contents of a JSON file in ``folder``; None where it is missing or damaged."""
    try:
        with open_inside(folder, *names) as file:
            content = file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None

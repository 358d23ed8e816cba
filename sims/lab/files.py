"""Files of a folder that may come from others: opened only where they lie in it, and written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from biorrr.errors import InputError


class FolderError(InputError):
    """A folder that a run must not or cannot be written to or read from."""

    exit_code = 2


def inside(folder: Path, *names: str) -> Path:
    """Return the path of ``names`` in ``folder``; refuse all but regular files, folders and what is not there.

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
                f"{path}: must be a file in the folder itself (got {kind}); delete it, or put a copy there"
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


@contextmanager
def whole_file(path: Path, called: Path | None = None) -> Iterator[Path]:
    """Give a path to write to; the file becomes ``path`` when the block ends well, and else is deleted.

    ``called`` is what errors call it, if not ``path``.
    """
    partial = path.with_name(f".{os.getpid()}-{path.name}")
    partial.unlink(missing_ok=True)  # a link of that name, in a folder that was sent, must not be written through
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        if error.filename in (None, str(partial)):  # a full disk names no file
            error.filename = str(called or path)
        raise
    finally:
        partial.unlink(missing_ok=True)

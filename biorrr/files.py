"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path, called: Path | None = None) -> Iterator[Path]:
    """Give a path to write to; the file becomes ``path`` when the block ends well, and else is
    deleted.

    ``called`` is what errors call it, if not ``path``.
    """
    partial = path.with_name(f".{os.getpid()}-{path.name}")
    partial.unlink(
        missing_ok=True
    )  # a link of that name, in a folder that was sent, must not be written through
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

"""Temporary folders, for long signals and for compiled circuits, that are deleted even after a
kill.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

_PREFIX = "biorrr-scratch-"
_SETTLED = 60.0  # seconds after which a folder without a lock is not about to get one
_NO_ROOM = (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # NumPy's errors have no number


class Scratch:
    """A temporary folder, held by a lock that the kernel releases when its process dies.

    Attributes
    ----------
    path
        The folder.
    """

    def __init__(self) -> None:
        clear_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._holder = os.open(self.path, os.O_RDONLY)
        lock_descriptor(self._holder, blocking=True)

    def delete(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._holder)

    @contextmanager
    def filling(self, what: str) -> Iterator[Path]:
        """Give the folder to write ``what`` into; a disk without room raises OSError in words."""
        try:
            yield self.path
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            raise OSError(
                error.errno or errno.ENOSPC,
                f"{what} does not fit there ({error.strerror or error}); free some room, or set"
                " $TMPDIR to another folder",
                str(self.path.parent),
            ) from error


def clear_abandoned() -> None:
    """Delete our temporary folders on which no process holds a lock."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, in use, or already gone
            facts = path.lstat()
            if facts.st_uid != os.getuid() or time.time() - facts.st_mtime < _SETTLED:
                continue
            holder = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                if lock_descriptor(holder, blocking=False):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(holder)

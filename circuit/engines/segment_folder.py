"""Folders for what a compiled circuit reads and writes while it runs, cleared even after a kill."""

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

_PREFIX = "biorrr-circuit-"
_SETTLED = 60.0  # seconds after which a folder that nobody holds is not one about to be held


@contextmanager
def segment_folder() -> Iterator[Path]:
    """Give a new folder, held by a lock that the kernel releases when its holder dies."""
    _clear_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        holder = os.open(name, os.O_RDONLY)
        try:
            lock_descriptor(holder, blocking=True)
            yield Path(name)
        except OSError as error:
            # NumPy says how much it could write, and not why.
            if error.errno not in (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise OSError(
                error.errno or errno.ENOSPC,
                f"what the compiled circuit reads and writes does not fit there ({error.strerror or error}); free some "
                "room, or set $TMPDIR to another folder",
                str(Path(name).parent),
            ) from error
        finally:
            os.close(holder)


def _clear_abandoned(root: Path) -> None:
    """Delete our folders in ``root`` whose process was killed before it could: data may lie in them by the gigabyte."""
    for folder in root.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # somebody else's, in use, or already gone
            facts = folder.lstat()
            if facts.st_uid != os.getuid() or time.time() - facts.st_mtime < _SETTLED:
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if lock_descriptor(handle, blocking=False):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)

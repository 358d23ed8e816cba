"""Temporary files and folders of processes that were killed before they could delete them."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from filelock import lock_descriptor

_SETTLED = 60.0  # seconds after which something that no process holds is not about to be held


def clear_abandoned(prefix: str) -> None:
    """Delete our temporary files and folders that begin with ``prefix`` and that no process holds a lock on."""
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # another user's, in use, or already gone
            facts = path.lstat()
            if facts.st_uid != os.getuid() or time.time() - facts.st_mtime < _SETTLED:
                continue
            if not (stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode)):
                continue
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if lock_descriptor(handle, blocking=False):
                    shutil.rmtree(path, ignore_errors=True) if stat.S_ISDIR(facts.st_mode) else path.unlink()
            finally:
                os.close(handle)

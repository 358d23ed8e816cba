"""Folders for what a compiled circuit reads and writes while it runs, cleared even after a kill."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import lock_descriptor

from biorrr.circuit.simulation.abandoned import clear_abandoned

_PREFIX = "biorrr-circuit-"


@contextmanager
def segment_folder() -> Iterator[Path]:
    """Give a new folder, held by a lock that the kernel releases when its holder dies."""
    clear_abandoned(_PREFIX)
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

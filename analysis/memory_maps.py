"""Data in memory-mapped files, which may be larger than memory."""

from __future__ import annotations

import mmap

from numpy.typing import NDArray


def forget_pages(*views: NDArray) -> None:
    """Let go of what was read of those of ``views`` that are memory-mapped: a pass over them leaves
    nothing in memory.

    They can be read as before; the system may still hold them in its own cache.
    """
    for view in views:
        mapped = getattr(view, "_mmap", None)
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)

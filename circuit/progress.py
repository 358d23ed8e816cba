"""A progress bar with samples a second and time left; silent where nobody is looking."""

from __future__ import annotations

import sys


def progress_bar(total: int, unit: str = " samples", desc: str = "learning"):
    """A bar for ``total`` of ``unit``; its ``update(count)`` adds to it."""
    from tqdm.auto import tqdm

    in_notebook = "ipykernel" in sys.modules
    return tqdm(
        total=total,
        unit=unit,
        unit_scale=True,
        desc=desc,
        leave=False,
        disable=not (in_notebook or sys.stderr.isatty()),
        delay=0.5,
    )

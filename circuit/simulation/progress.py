"""A progress bar with samples per second and the time left; silent where nobody is looking."""

from __future__ import annotations

import importlib.util
import sys


def progress_bar(total: int, unit: str = " samples", desc: str = "learning", initial: int = 0):
    """A bar for ``total`` of ``unit``, ``initial`` of them done before; its ``update(count)`` adds to it."""
    in_notebook = "ipykernel" in sys.modules
    if in_notebook and importlib.util.find_spec("ipywidgets"):  # tqdm.auto would warn where there are no widgets
        from tqdm.notebook import tqdm
    else:
        from tqdm import tqdm
    return tqdm(
        total=total,
        initial=initial,
        unit=unit,
        unit_scale=True,
        desc=desc,
        leave=False,
        disable=not (in_notebook or sys.stderr.isatty()),
        delay=0.5,
    )

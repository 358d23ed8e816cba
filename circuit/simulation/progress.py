"""A progress bar with samples per second and the time left; silent where nobody is looking."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def progress_bar(total: int, unit: str = " samples", desc: str = "learning", initial: int = 0):
    """Return a bar for ``total`` of ``unit``, ``initial`` of them done before; its ``update(count)`` adds to it."""
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


@contextmanager
def notice(text: str) -> Iterator[None]:
    """Show ``text`` while something takes its time, to a person at a terminal; the line is cleared after."""
    shown = sys.stderr is not None and sys.stderr.isatty()
    if shown:
        print(f"{text}...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

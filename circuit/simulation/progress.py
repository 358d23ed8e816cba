"""Progress of a run: a bar with samples per second and the time left, on terminals only, and
notices in the log.
"""

from __future__ import annotations

import importlib.util
import logging
import sys


def progress_bar(total: int, unit: str = " samples", desc: str = "learning", initial: int = 0):
    """Return a bar for ``total`` of ``unit``, ``initial`` of them done before; its
    ``update(count)`` adds to it.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    in_notebook = hasattr(shell, "kernel")
    if in_notebook and importlib.util.find_spec(
        "ipywidgets"
    ):  # tqdm.auto would warn where there are no widgets
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


def notice(text: str) -> None:
    """Log ``text`` before a slow step; the command line shows it on a terminal."""
    logging.getLogger("biorrr").info("%s...", text)

"""In a notebook, an error of ours is said in one sentence before its traceback."""

from __future__ import annotations

import sys
import traceback


def say_errors_first() -> None:
    """Ask IPython, where it is running, to print what went wrong above the traceback.

    Errors that do not come from biorrr look as ever, and a handler that somebody has set stays.
    """
    # Whoever runs in IPython has loaded it.
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if ipython is not None and not ipython.custom_exceptions:
        ipython.set_custom_exc((Exception,), _show)


def _show(ipython, kind, error, trace, tb_offset=None) -> None:
    deepest = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(trace)][-1]
    if deepest.startswith("biorrr."):
        print(f"biorrr: {error}", file=sys.stderr)
    ipython.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)

"""Ctrl-C during a run: noted at once, obeyed between two samples."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from contextlib import contextmanager
from unittest.mock import patch


def import_brian2() -> None:
    """Import Brian2 from whatever thread, such as a Dask worker's.

    Importing it installs a handler for Ctrl-C, which Python allows in the main thread alone; elsewhere it does without,
    and so where Ctrl-C is ignored, as it is by what a shell script starts in the background: Brian2's would fail there.
    It also takes all of Python's warnings for its log, ours and the caller's: they are given back.
    """
    if "brian2" in sys.modules:
        return
    if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
        import brian2
    else:
        with patch("signal.signal"):
            import brian2  # noqa: F401
    logging.captureWarnings(False)


@contextmanager
def held_interrupt():
    """Yield an event that is set by Ctrl-C, in place of KeyboardInterrupt; a second Ctrl-C is not held back."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    before = signal.getsignal(signal.SIGINT)

    def note(signum, frame):
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)

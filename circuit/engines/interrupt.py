"""Ctrl-C during a run: noted at once, obeyed between two samples."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

from biorrr.interrupt import PRESSED


@contextmanager
def hold_interrupt():
    """Yield an event that is set by Ctrl-C, in place of KeyboardInterrupt; a second Ctrl-C is not
    held back.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    if PRESSED.is_set():
        raise KeyboardInterrupt
    before = signal.getsignal(signal.SIGINT)

    def note(signum, frame):
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)

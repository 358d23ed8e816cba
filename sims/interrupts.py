"""Ctrl-C at any moment of a command: never lost, and never more than one sentence."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SENTENCE = "biorrr: interrupted\n"
_notes: int | None = None  # a pipe into which Python writes the number of every signal, whoever handles it
_pressed = 0  # times
_raised = False


def leave_at_once(signum: int, frame: FrameType | None) -> None:
    """Handle Ctrl-C while nothing has begun, or for the second time: what we have started ends with us."""
    with suppress(OSError):
        os.write(2, SENTENCE.encode())
    os._exit(130)


def watch() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, again where a callback has swallowed it, and :func:`pressed` knows.

    Where Ctrl-C is ignored, as by what a script starts in the background, it stays so.
    """
    global _notes
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        return
    _notes, write = os.pipe()
    for end in (_notes, write):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    sys.unraisablehook = _raise_again


def _interrupt(signum: int, frame: FrameType | None) -> None:
    global _raised
    if _raised:
        leave_at_once(signum, frame)
    _raised = True
    raise KeyboardInterrupt


def _raise_again(unraisable: Any) -> None:
    """Of an exception in a place from which none can be raised, such as a destructor."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, 0.01)  # when that place is left
    else:
        sys.__unraisablehook__(unraisable)


def pressed() -> bool:
    """Whether Ctrl-C was pressed since :func:`watch`, whatever became of it."""
    global _pressed
    if _notes is not None:
        with suppress(BlockingIOError):
            _pressed += os.read(_notes, 4096).count(signal.SIGINT)
    return _pressed > 0


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends; processes and threads that are started in it never see one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

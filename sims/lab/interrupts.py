"""Ctrl-C at any moment of a command: never lost, and never more than one sentence."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from biorrr.sims.start import leave_at_once

_notes: int | None = (
    None  # a pipe into which Python writes the number of every signal, whoever handles it
)
_pressed = 0  # times
_raised = False


def watch() -> None:
    """Make Ctrl-C raise KeyboardInterrupt, again and again until :func:`heed`; :func:`pressed`
    knows of it.

    Where Ctrl-C is ignored, as by what a script starts in the background, it stays so.
    """
    global _notes
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    _notes, write = os.pipe()
    for end in (_notes, write):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGALRM, _insist)
    sys.unraisablehook = _keep_quiet


def heed() -> None:
    """Say that the interrupt has come through."""
    if _notes is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    global _raised
    if _raised:
        leave_at_once(signum, frame)
    _raised = True
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    raise KeyboardInterrupt


def _insist(signum: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt unless it is on its way: a callback, or a library's ``except:``, may
    swallow it.
    """
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return
        error = error.__context__
    raise KeyboardInterrupt


def _keep_quiet(unraisable: Any) -> None:
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def pressed() -> bool:
    """Return True if Ctrl-C was pressed since :func:`watch`, whatever became of it."""
    global _pressed
    if _notes is not None:
        with suppress(BlockingIOError):
            _pressed += os.read(_notes, 4096).count(signal.SIGINT)
    return _pressed > 0


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends; processes and threads that are started in it never see
    one.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Brian2, imported so that it takes over nothing of the caller's process."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from unittest.mock import patch

_TURN = threading.Lock()


def import_brian2() -> None:
    """Import Brian2 from whatever thread, such as a Dask worker's.

    Importing it installs a handler for Ctrl-C, which Python allows in the main thread alone; elsewhere it does without,
    and so where Ctrl-C is ignored, as it is by what a shell script starts in the background: Brian2's would fail there.
    It also takes all of Python's warnings and uncaught errors for its log, ours and the caller's, and begins that log
    and a copy of the script in the temporary folder, where they stay after a kill: all that is given back.
    """
    with _TURN:
        if "brian2" in sys.modules:
            return
        excepthook = sys.excepthook
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            import brian2
        else:
            with patch("signal.signal"):
                import brian2  # noqa: F401
        logging.captureWarnings(False)
        sys.excepthook = excepthook
        _end_log()


def _end_log() -> None:
    """End the log that Brian2 keeps in files."""
    from brian2 import BrianLogger

    if BrianLogger.file_handler is not None:
        BrianLogger.file_handler.close()
        logging.getLogger("brian2").removeHandler(BrianLogger.file_handler)
        BrianLogger.file_handler = None
    for path in (BrianLogger.tmp_log, BrianLogger.tmp_script):
        if path is not None:
            with suppress(OSError):
                os.remove(path)
    BrianLogger.tmp_log = BrianLogger.tmp_script = None

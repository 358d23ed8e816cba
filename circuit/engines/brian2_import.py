"""Brian2, imported so that it takes over nothing of the caller's process."""

from __future__ import annotations

import importlib.metadata
import logging
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from types import ModuleType
from unittest.mock import patch

from biorrr.circuit.simulation.progress import notice

TESTED = ("2.9", "2.10", "2.11")  # Brian2's versions with which all engines were seen to agree with a plain loop
_TURN = threading.Lock()


def installed_brian2() -> str:
    """Return the version of Brian2 that is installed."""
    return importlib.metadata.version("brian2")


def is_tested(version: str) -> bool:
    """Return True if Brian2's ``version``, such as "2.10.1", is among those tested."""
    return ".".join(version.split(".")[:2]) in TESTED


class UntestedBrian2(RuntimeError):
    """The installed Brian2 is not one with which the C++ engine was tested."""


def check_tested() -> None:
    """Refuse a Brian2 with which the C++ engine was not tested."""
    if not is_tested(installed_brian2()):
        *most, last = TESTED
        raise UntestedBrian2(
            f"engine 'cpp': Brian2 must be {', '.join(most)} or {last}, with which it was tested (got "
            f"{installed_brian2()}); install one of those, or use engine='numpy'"
        )


@contextmanager
def _without_preferences() -> Iterator[None]:
    """Let Brian2 be imported without its files of preferences, in which every value is evaluated as Python."""
    finder = _PreferencesFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
    if not finder.disarmed:
        raise UntestedBrian2(f"Brian2 {installed_brian2()}: must read its preferences as those tested do (it does not)")


class _PreferencesFinder(MetaPathFinder):
    """A finder of Brian2's module of preferences, whose method that reads files then does nothing."""

    _MODULE = "brian2.core.preferences"

    def __init__(self) -> None:
        self.disarmed = False

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None):
        """Return the spec of that module, which disarms it once it is loaded; None for all others."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname == self._MODULE else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_disarm(module: ModuleType) -> None:
            load(module)
            if hasattr(module.BrianGlobalPreferences, "load_preferences"):
                module.BrianGlobalPreferences.load_preferences = lambda preferences: None
                self.disarmed = True

        spec.loader.exec_module = load_and_disarm  # type: ignore[method-assign]
        return spec


def import_brian2() -> None:
    """Import Brian2 from whatever thread, such as a Dask worker's.

    Importing it installs a handler for Ctrl-C, which Python allows in the main thread alone; elsewhere it does without,
    and so where Ctrl-C is ignored, as it is by what a shell script starts in the background: Brian2's would fail there.
    It also takes all of Python's warnings and uncaught errors for its log, ours and the caller's, and begins that log
    and a copy of the script in the temporary folder, where they stay after a kill: all that is given back. And it
    evaluates the files of preferences in the current folder and the user's home: neither is read.
    """
    with _TURN:
        if "brian2" in sys.modules:
            return
        excepthook = sys.excepthook
        with notice("Importing Brian2"), _without_preferences():
            if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
                import brian2
            else:
                with patch("signal.signal"):
                    import brian2  # noqa: F401
        logging.captureWarnings(False)
        sys.excepthook = excepthook
        from biorrr.circuit.engines.brian2_private import end_log

        end_log()

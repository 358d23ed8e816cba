"""The first and the last of the ``biorrr`` command: its streams, and Ctrl-C."""

from __future__ import annotations

import atexit
import gc
import io
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from biorrr.interrupt import PRESSED

SENTENCE = "biorrr: interrupted\n"
CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\r\t"
}


class PlainStream(io.TextIOWrapper):
    """A stream that shows control codes and letters that the terminal lacks as escapes, and stops
    nothing when its reader goes away.

    Names in files of others could otherwise move the cursor and forge lines of ours.
    """

    failure: OSError | None = None  # the first one; what follows is written to nowhere

    def write(self, text: str) -> int:
        """Write text without control codes."""
        with self._forgiving():
            super().write(text.translate(CONTROLS))
        return len(text)

    def flush(self) -> None:
        """Write what is held back."""
        with self._forgiving():
            super().flush()

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # a full disk, or nobody reads on
            self.failure = self.failure or error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


def main() -> None:
    """Entry point of the ``biorrr`` command."""
    # Most of the objects that a command makes are there to stay. To look for garbage among them
    # again and again, and once more at the end, took a quarter of `biorrr learn`.
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)
    # 2**20 cycles, a third of a millisecond, for which OpenBLAS's threads wait for more work before
    # they sleep. With its own 2**26 they took a quarter of `biorrr learn` by waiting.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    try:
        heed_interrupts()
        _open_streams()
        # Takes long enough to be interrupted.
        from biorrr.sims.main import run

        code = run(sys.argv[1:])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write(SENTENCE)
        code = 130
    sys.stdout.flush()
    if failure := getattr(sys.stdout, "failure", None):
        print(f"biorrr: standard output: {failure.strerror}", file=sys.stderr)
        code = code or 1
    sys.exit(code)


def heed_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt and be remembered, unless it is ignored, as in a
    background job.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _press)
        sys.unraisablehook = _report_unless_pressed


def _press(signum: int, frame: FrameType | None) -> None:
    PRESSED.set()
    raise KeyboardInterrupt


def _report_unless_pressed(unraisable: Any) -> None:
    """Report errors of destructors, but for a KeyboardInterrupt, which has been noted."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends; processes that are started in it never see one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def once() -> Callable[[str], bool]:
    """Return a function that is true of each text at the first time: several processes may say
    it.
    """
    said: set[str] = set()

    def is_new(text: str) -> bool:
        new = text not in said
        said.add(text)
        return new

    return is_new


def _open_streams() -> None:
    """Replace the standard streams by plain ones, and show notices if a terminal is there."""
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:  # closed: the next file must not take its number
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        kept = {one: getattr(stream, one) for one in ("line_buffering", "write_through")}
        plain = PlainStream(stream.buffer, stream.encoding, "backslashreplace", **kept)
        setattr(sys, name, plain)
    if sys.stderr.isatty():
        log, is_new = logging.getLogger("biorrr"), once()
        log.addHandler(logging.StreamHandler(sys.stderr))
        log.addFilter(lambda record: is_new(record.getMessage()))
        log.setLevel(logging.INFO)

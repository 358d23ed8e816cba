"""The first and the last of the ``biorrr`` command: its streams, and Ctrl-C before and after all
else.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import sys

SENTENCE = "biorrr: interrupted\n"


CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\r\t"
}


class PlainStream(io.TextIOWrapper):
    """A stream that shows control codes and letters that the terminal lacks as escapes.

    Names in files of others could otherwise move the cursor and forge lines of ours.
    """

    def write(self, text: str) -> int:
        """Write text without control codes."""
        return super().write(text.translate(CONTROLS))


def leave_at_once(*_: object) -> None:
    """Handle Ctrl-C while nothing has begun, or for the second time: what we have started ends with
    us.
    """
    try:
        os.write(2, SENTENCE.encode())
    finally:
        os._exit(130)


def main() -> None:
    """Entry point of the ``biorrr`` command."""
    heeded = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if heeded:
        signal.signal(signal.SIGINT, leave_at_once)
    _open_streams()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        as_before = {"line_buffering": stream.line_buffering, "write_through": stream.write_through}
        setattr(
            sys, name, PlainStream(stream.buffer, stream.encoding, "backslashreplace", **as_before)
        )
    if sys.stderr.isatty():
        log = logging.getLogger("biorrr")
        log.addHandler(logging.StreamHandler(sys.stderr))
        log.setLevel(logging.INFO)
    # Takes long enough to be interrupted.
    from biorrr.sims.lab.interrupts import watch
    from biorrr.sims.main import run

    try:
        watch()
        code = run(sys.argv[1:])
        if heeded:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done
    except KeyboardInterrupt:  # at the very first or last
        leave_at_once()
    try:
        sys.stdout.flush()
    except OSError as error:  # nobody reads on, or a full disk
        print(f"biorrr: standard output: {error.strerror}", file=sys.stderr)
        os._exit(code or 1)  # or Python would try again, and complain
    sys.exit(code)


def _open_streams() -> None:
    """Open those of the standard streams that are closed, to nowhere: the next file must not take
    their place.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
            stream = open(number, "w" if number else "r", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(
                sys, f"__{name}__", stream
            )  # as Python does: a stream that nobody holds is closed

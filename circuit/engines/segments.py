"""Runs in segments of about a second, the same for every engine.

An engine loads jobs, and then simulates samples from one count to another. Progress, checkpoints
and an early end come between two segments. Ctrl-C is noted at once, and obeyed there.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.recorder import Recorder
from biorrr.interrupt import PRESSED

_SEGMENT_SECONDS = 1.0  # aim; short enough for progress and Ctrl-C, long against the cost of a call
_FIRST_SEGMENT = 2_000  # ticks, before the speed is known
_LARGEST_ORDER = 2**20  # rows and replayed inputs of a segment; bounds the memory that they take


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


def advance(
    engine: Any, jobs: Sequence[Job], recorders: Sequence[Recorder], interrupted: threading.Event
) -> list[Outcome]:
    """Simulate ``jobs``, which differ in their states and seeds alone, side by side on ``engine``;
    at most one for each of its lanes.
    """
    run, job = engine.load(jobs), jobs[0]
    at, length = job.start, max(_FIRST_SEGMENT // job.ticks_per_sample, 1)
    largest = _LARGEST_ORDER // (run.lanes * (1 + job.presentation.replay))
    outcomes: dict[int, Outcome] = {}
    while left := {n: one for n, one in enumerate(recorders) if n not in outcomes}:
        stop = min(at + length, job.stop)
        if any(recorder.callback for recorder in recorders):  # it may end at any snapshot
            stop = min([stop, *job.snapshots[job.snapshots > at][:1].tolist()])
        began, first = time.perf_counter(), at
        at, diverged = run.advance(at, stop, left)
        pace = (at - first) / max(time.perf_counter() - began, 1e-3)
        length = max(int(min(largest, 8 * length, pace * _SEGMENT_SECONDS)), 1)
        for lane, recorder in left.items():
            state = run.states[lane]
            if lane in diverged:
                ended = "diverged"
            else:
                recorder.note(at, state)
                if at == job.stop:
                    ended = "done"
                elif recorder.stopped:
                    ended = "stopped"
                elif interrupted.is_set():
                    ended = "interrupted"
                else:
                    continue
            # The sample in which a run diverges does not count.
            last = {key: values.copy() for key, values in state.items()}
            outcomes[lane] = Outcome(at - (lane in diverged), last, ended)
    return [outcomes[lane] for lane in range(len(jobs))]

"""The simulation of jobs, the same for every circuit and engine: one after another, or side by
side in the lanes of one compiled circuit and on all cores.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from biorrr.circuit.engines.compiler import CompileFailed
from biorrr.circuit.engines.interrupt import hold_interrupt
from biorrr.circuit.simulation.events import after_events
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorder import Callback, Checkpoint, Recorder, engine_of

LANES = 8  # numbers in a vector of AVX-512; two of AVX2
_SEGMENT_SECONDS = 1.0  # aim; short enough for progress and Ctrl-C, long against the cost of a call
_FIRST_SEGMENT = 2_000  # ticks, before the speed is known
_LARGEST_ORDER = 2**20  # rows and replayed inputs of a segment; bounds the memory that they take


def simulate(
    job: Job,
    checkpoint: Checkpoint | None = None,
    callback: Callback | None = None,
    progress: bool = False,
) -> Outcome:
    """Simulate ``job`` on the engine that its circuit asks for; return how it ended, with all that
    was recorded.

    Parameters
    ----------
    job
        What to simulate.
    checkpoint
        File that keeps it.
    callback, progress
        As :meth:`biorrr.circuit.Microcircuit.run` takes them.
    """
    return simulate_seeds([job], [checkpoint], callback, progress)[0]


def simulate_seeds(
    jobs: Sequence[Job],
    checkpoints: Sequence[Checkpoint | None],
    callback: Callback | None = None,
    progress: bool = False,
) -> list[Outcome]:
    """Simulate ``jobs``, which differ in their seeds alone, each with its checkpoint; return how
    each ended, up to the first that was interrupted.
    """
    alone = len(jobs) == 1 or callback is not None or bool(jobs[0].events)
    name, engine, lanes = _engine(jobs, checkpoints, 1 if alone else LANES)
    total = sum(job.stop - job.start for job in jobs)
    watched: Any = progress_bar(total) if progress else nullcontext()
    with watched as bar, hold_interrupt() as interrupted:
        recorders = (
            Recorder(job, name, checkpoint, callback, partial(_update, bar))
            for job, checkpoint in zip(jobs, checkpoints, strict=True)
        )
        if lanes > 1:
            recorders = list(recorders)
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(partial(_advance, engine, interrupted), _batches(recorders, lanes)))
            return [one.end() for one in recorders]
        outcomes: list[Outcome] = []
        for one in recorders:
            if one.left:
                with engine.lock:
                    _advance(engine, interrupted, [one])
            outcomes.append(one.end())
            if outcomes[-1].ended == "interrupted":
                break
        return outcomes


def _engine(
    jobs: Sequence[Job], checkpoints: Sequence[Checkpoint | None], lanes: int
) -> tuple[str, Any, int]:
    """Return the name of the engine that simulates ``jobs``, the engine, and how many of them it
    simulates side by side, of at most so many ``lanes``.
    """
    job, engines = jobs[0], jobs[0].circuit.engines
    ticks = sum((one.stop - one.start) * one.ticks_per_sample for one in jobs)
    name = engines.choose(job.circuit.engine, job.blueprint, ticks, lanes)
    if job.circuit.engine == "auto":  # a run goes on as it began
        name = next(filter(None, map(engine_of, checkpoints)), name)
    lanes = lanes if name == "cpp" else 1
    try:
        return name, engines.get(name, job.blueprint, lanes), lanes
    except CompileFailed:  # a compiler may know no vectors
        if lanes == 1:
            raise
        return name, engines.get(name, job.blueprint), 1


def _advance(engine: Any, interrupted: threading.Event, recorders: Sequence[Recorder]) -> None:
    """Simulate what is left of runs side by side in segments of about a second, between which
    progress, checkpoints and an early end come; those with events are alone.
    """
    jobs = [one.left for one in recorders if one.left]
    job, at, left = jobs[0], jobs[0].start, dict(enumerate(recorders))
    run = engine.load([after_events(one, at) for one in jobs])
    length = max(_FIRST_SEGMENT // job.ticks_per_sample, 1)
    largest = _LARGEST_ORDER // (run.lanes * (1 + job.presentation.replay))
    cuts = [event.at for event in job.events]
    watched = any(one.callback for one in recorders)  # it may end at any snapshot
    while left:
        bounds = [
            at + length,
            job.stop,
            *cuts,
            *(job.recording.snapshots.tolist() if watched else []),
        ]
        stop = min(bound for bound in bounds if bound > at)
        began, first = time.perf_counter(), at
        at, diverged = run.advance(at, stop, left)
        pace = (at - first) / max(time.perf_counter() - began, 1e-3)
        length = max(int(min(largest, 8 * length, pace * _SEGMENT_SECONDS)), 1)
        for lane, recorder in [*left.items()]:
            state = run.states[lane]
            if lane not in diverged:
                recorder.note(at, state)
            reasons = {
                "diverged": lane in diverged,
                "done": at == job.stop,
                "stopped": recorder.stopped,
                "interrupted": interrupted.is_set(),
            }
            if ended := next((reason for reason, applies in reasons.items() if applies), ""):
                last = {key: values.copy() for key, values in state.items()}
                # The sample in which a run diverges does not count.
                recorder.take(Outcome(at - (lane in diverged), last, ended))
                del left[lane]
        if left and at in cuts:
            run = engine.load([after_events(replace(job, start=at, state=run.states[0]), at)])


def _update(bar: Any, samples: int) -> None:
    """Move the progress ``bar``, if there is one, on by so many samples."""
    if bar is not None:
        with bar.get_lock():  # one thread at a time
            bar.update(samples)


def _batches(recorders: Iterable[Recorder], lanes: int) -> Iterator[list[Recorder]]:
    """Yield what is not finished in groups that go side by side: from the same sample on, and no
    more than there are ``lanes``.
    """
    starts: dict[int, list[Recorder]] = {}
    for one in recorders:
        if left := one.left:
            starts.setdefault(left.start, []).append(one)
    for together in starts.values():
        for first in range(0, len(together), lanes):
            yield together[first : first + lanes]

"""The simulation of jobs, the same for every circuit and engine: one after another, or side by
side in the lanes of one compiled circuit and on all cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from threading import Event
from typing import Any

from biorrr.circuit.engines.compiler import CompileFailed
from biorrr.circuit.engines.interrupt import hold_interrupt
from biorrr.circuit.engines.segments import advance
from biorrr.circuit.simulation.job import Job, Outcome, after_events
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorder import Callback, Checkpoint, Recorder, engine_of
from biorrr.circuit.stimulus.data_checks import check_unchanged

LANES = 8  # numbers in a vector of AVX-512; two of AVX2


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
    watched: Any = nullcontext()
    if progress:
        watched = progress_bar(sum(job.stop - job.start for job in jobs))
    engine = _engine_in_lanes(jobs, checkpoints, callback)
    with watched as bar:
        try:
            if engine is None:
                return list(_one_after_another(jobs, checkpoints, callback, bar and bar.update))
            return _side_by_side(engine, jobs, checkpoints, bar)
        finally:
            check_unchanged(jobs[0].feeds)


def _one_after_another(
    jobs: Sequence[Job],
    checkpoints: Sequence[Checkpoint | None],
    callback: Callback | None,
    update: Callable[[int], object] | None,
) -> Iterator[Outcome]:
    """Simulate each of ``jobs``; yield how it ended."""
    for job, checkpoint in zip(jobs, checkpoints, strict=True):
        engines, wanted = job.circuit.engines, job.circuit.engine
        ticks = (job.stop - job.start) * job.ticks_per_sample
        engine = engines.choose(wanted, job.blueprint, ticks)
        if wanted == "auto":
            engine = engine_of(checkpoint) or engine  # a run goes on as it began
        recorder = Recorder(job, engine, checkpoint, callback, update)
        if left := recorder.left:
            built = engines.get(engine, job.blueprint)
            with hold_interrupt() as interrupted:
                recorder.take(_advance(built, left, recorder, interrupted))
        outcome = recorder.end()
        yield outcome
        if outcome.ended == "interrupted":
            return


def _advance(engine: Any, job: Job, recorder: Recorder, interrupted: Event) -> Outcome:
    """Simulate ``job`` on ``engine``, from one of its events to the next."""
    cuts = sorted({event.at for event in job.events if job.start < event.at < job.stop})
    state = job.state
    for start, stop in pairwise([job.start, *cuts, job.stop]):
        stretch = after_events(replace(job, start=start, stop=stop, state=state), start)
        (outcome,) = advance(engine, [stretch], [recorder], interrupted)
        state = outcome.state
        if outcome.ended != "done":
            return outcome
        if recorder.stopped and stop < job.stop:
            return replace(outcome, ended="stopped")
    return outcome


def _side_by_side(
    engine: Any, jobs: Sequence[Job], checkpoints: Sequence[Checkpoint | None], bar: Any
) -> list[Outcome]:
    """Simulate ``jobs`` in the lanes of ``engine``; return how each ended."""

    def update(samples: int) -> None:
        with bar.get_lock():  # one thread at a time
            bar.update(samples)

    recorders = [
        Recorder(job, "cpp", checkpoint, update=bar and update)
        for job, checkpoint in zip(jobs, checkpoints, strict=True)
    ]
    with hold_interrupt() as interrupted, ThreadPoolExecutor(os.cpu_count()) as pool:

        def advance_batch(batch: list[Recorder]) -> None:
            lefts = [left for one in batch if (left := one.left)]
            outcomes = advance(engine, lefts, batch, interrupted)
            for one, outcome in zip(batch, outcomes, strict=True):
                one.take(outcome)

        list(pool.map(advance_batch, _batches(recorders)))
    return [one.end() for one in recorders]


def _engine_in_lanes(
    jobs: Sequence[Job], checkpoints: Sequence[Checkpoint | None], callback: Callback | None
) -> Any:
    """Return the engine that simulates ``jobs`` side by side; None where they must be simulated
    one after another.
    """
    job, engines = jobs[0], jobs[0].circuit.engines
    if len(jobs) == 1 or callback is not None or job.events:
        return None
    ticks = sum((one.stop - one.start) * one.ticks_per_sample for one in jobs)
    if engines.choose(job.circuit.engine, job.blueprint, ticks, LANES) != "cpp":
        return None
    if job.circuit.engine == "auto" and "numpy" in map(engine_of, checkpoints):
        return None
    try:
        return engines.get("cpp", job.blueprint, LANES)
    except CompileFailed:
        return None


def _batches(recorders: Sequence[Recorder]) -> Iterator[list[Recorder]]:
    """Yield what is not finished in groups that go side by side: from the same sample on, and no
    more than there are lanes.
    """
    starts: dict[int, list[Recorder]] = {}
    for one in recorders:
        if left := one.left:
            starts.setdefault(left.start, []).append(one)
    for together in starts.values():
        for first in range(0, len(together), LANES):
            yield together[first : first + LANES]

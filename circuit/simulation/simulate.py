"""The simulation of jobs, the same for every circuit and engine: one after another, or side by
side in the lanes of one compiled circuit and on all cores.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from biorrr.circuit.engines.compiler import CompileFailed
from biorrr.circuit.engines.segments import advance, hold_interrupt
from biorrr.circuit.simulation.events import after_events
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorder import Callback, Checkpoint, Recorder, engine_of

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
    """Simulate what is left of runs side by side, from one event to the next; those with events
    are alone.
    """
    jobs = [one.left for one in recorders if one.left]
    start, stop = jobs[0].start, jobs[0].stop
    cuts = sorted({event.at for event in jobs[0].events if start < event.at < stop})
    states = [job.state for job in jobs]
    for first, last in pairwise([start, *cuts, stop]):
        stretches = [
            after_events(replace(job, start=first, stop=last, state=state), first)
            for job, state in zip(jobs, states, strict=True)
        ]
        outcomes = advance(engine, stretches, recorders, interrupted)
        if last < stop and recorders[0].stopped:
            outcomes = [replace(outcomes[0], ended="stopped")]
        if outcomes[0].ended != "done":
            break
        states = [outcome.state for outcome in outcomes]
    for one, outcome in zip(recorders, outcomes, strict=True):
        one.take(outcome)


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

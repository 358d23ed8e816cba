"""The simulation of one circuit with several seeds: side by side in the lanes of one compiled
circuit, and on all cores.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

from biorrr.circuit.engines.compiler import CompileFailed
from biorrr.circuit.engines.interrupt import held_interrupt
from biorrr.circuit.simulation.checkpoint import Checkpoint, engine_of
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorder import Callback, Recorder
from biorrr.circuit.simulation.simulate import simulate
from biorrr.circuit.stimulus.data_checks import check_unchanged

LANES = 8  # numbers in a vector of AVX-512; two of AVX2


def simulate_seeds(
    jobs: Sequence[Job],
    checkpoint: str | os.PathLike | Checkpoint | None = None,
    callback: Callback | None = None,
    progress: bool = False,
) -> list[Outcome]:
    """Simulate ``jobs``, which differ in their seeds alone; return how each ended, up to the first
    that was interrupted.

    Parameters
    ----------
    jobs
        What to simulate.
    checkpoint, callback, progress
        As :func:`simulate` takes them; each seed has a checkpoint of its own.
    """
    file = Checkpoint.of(checkpoint)
    places = [file and file.of_seed(job.presentation.seed) for job in jobs]
    engine = _engine_in_lanes(jobs, places, callback)
    if engine is None:
        outcomes = []
        for job, place in zip(jobs, places, strict=True):
            outcomes.append(simulate(job, place, callback, progress))
            if outcomes[-1].ended == "interrupted":
                break
        return outcomes
    total = sum(job.stop - job.start for job in jobs)
    watched: Any = progress_bar(total) if progress else nullcontext()
    with watched as bar, held_interrupt() as interrupted:

        def update(samples: int) -> None:
            with bar.get_lock():  # one thread at a time
                bar.update(samples)

        def advance(batch: list[Recorder]) -> None:
            lefts = [one.left for one in batch]
            for one, outcome in zip(
                batch, engine.advance_together(lefts, batch, interrupted), strict=True
            ):
                one.take(outcome)

        recorders = [
            Recorder(job, "cpp", place, update=bar and update)
            for job, place in zip(jobs, places, strict=True)
        ]
        try:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(advance, _batches(recorders)))
        finally:
            check_unchanged(jobs[0].feeds)
        return [one.end() for one in recorders]


def _engine_in_lanes(
    jobs: Sequence[Job], places: Sequence[Checkpoint | None], callback: Callback | None
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
    if job.circuit.engine == "auto" and any(engine_of(place) == "numpy" for place in places):
        return None
    try:
        return engines.built("cpp", job.blueprint, LANES)
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

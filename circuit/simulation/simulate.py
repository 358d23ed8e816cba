"""The simulation of a job: the same for every circuit and engine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from biorrr.circuit.simulation.checkpoint import (
    Checkpoint,
    CheckpointFile,
    engine_of,
    identity_of,
)
from biorrr.circuit.simulation.events import advance
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorder import Recorder
from biorrr.circuit.stimulus.data_checks import check_unchanged, warn

Callback = Callable[[int, dict[str, np.ndarray]], bool | None]


def simulate(
    job: Job,
    checkpoint: str | os.PathLike | Checkpoint | None = None,
    callback: Callback | None = None,
    progress: bool = False,
) -> Outcome:
    """Simulate ``job`` on the engine that its circuit asks for; return how it ended, with all that
    was recorded.

    Parameters
    ----------
    job
        What to simulate.
    checkpoint, callback, progress
        As :meth:`biorrr.circuit.Microcircuit.run` takes them.
    """
    began = time.perf_counter()
    engine = _engine_for(job, checkpoint)
    watched: Any = progress_bar(job.stop - job.start) if progress else nullcontext()
    with watched as bar:
        recorder = Recorder(
            job, callback and (lambda t, flat: callback(t, job.blueprint.matrices(flat)))
        )
        kept, outcome, left = None, None, job
        if checkpoint is not None:
            place = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)  # type: ignore[arg-type]
            kept = CheckpointFile(place, identity_of(job, engine, job.events), recorder)
            outcome = kept.read(job)

        def on_progress(t: int, state: dict[str, np.ndarray]) -> None:
            if bar is not None:
                bar.update(t - job.start - bar.n)
            if kept is not None:
                kept.write_if_due(t, state)

        recorder.on_progress = on_progress
        if outcome is None:
            recorder.keep(job.start, job.state)
        else:
            left = replace(job, start=outcome.samples, state=outcome.state)
        if outcome is None or not (
            outcome.ended == "done" or (outcome.ended == "stopped" and recorder.stops())
        ):
            try:
                built = job.circuit.engines.built(engine, job.blueprint)
                outcome = advance(built, left, job.events, recorder)
            finally:
                check_unchanged(job.feeds)
            # A run that diverged does so again, from the last checkpoint.
            if kept is not None and outcome.ended != "diverged":
                kept.write(outcome)
    cut_short = recorder.snapshots.samples[-1] < outcome.samples  # between two snapshots
    if outcome.ended != "diverged" and cut_short:
        recorder.keep(outcome.samples, outcome.state)
    if outcome.ended == "interrupted":
        warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded")
    seconds = time.perf_counter() - began + (kept.earlier if kept is not None else 0.0)
    return replace(outcome, recorder=recorder, engine=engine, seconds=seconds)


def _engine_for(job: Job, checkpoint: str | os.PathLike | Checkpoint | None) -> str:
    """Return the name of the engine that simulates ``job``, which goes on as it began."""
    wanted, ticks = job.circuit.engine, (job.stop - job.start) * job.ticks_per_sample
    chosen = job.circuit.engines.choose(wanted, job.blueprint, ticks)
    return (engine_of(checkpoint) or chosen) if wanted == "auto" else chosen

"""The simulation of a job: the same for every circuit and engine."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import Any

from biorrr.circuit.simulation.checkpoint import Checkpoint, engine_of
from biorrr.circuit.simulation.events import advance
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorder import Callback, Recorder
from biorrr.circuit.stimulus.data_checks import check_unchanged


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
    engines, wanted, file = job.circuit.engines, job.circuit.engine, Checkpoint.of(checkpoint)
    engine = engines.choose(wanted, job.blueprint, (job.stop - job.start) * job.ticks_per_sample)
    if wanted == "auto":
        engine = engine_of(file) or engine  # a run goes on as it began
    watched: Any = progress_bar(job.stop - job.start) if progress else nullcontext()
    with watched as bar:
        recorder = Recorder(job, engine, file, callback, bar and bar.update)
        if left := recorder.left:
            try:
                recorder.take(advance(engines.built(engine, job.blueprint), left, recorder))
            finally:
                check_unchanged(job.feeds)
    return recorder.end()

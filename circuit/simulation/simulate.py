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
    engine = _engine_for(job, checkpoint)
    watched: Any = progress_bar(job.stop - job.start) if progress else nullcontext()
    with watched as bar:
        making = RunInTheMaking(job, engine, checkpoint, callback, bar and bar.update)
        if not making.finished:
            try:
                built = job.circuit.engines.built(engine, job.blueprint)
                making.take(advance(built, making.left, job.events, making.recorder))
            finally:
                check_unchanged(job.feeds)
    return making.end()


class RunInTheMaking:
    """A job that is being simulated, with its records and its checkpoint.

    Parameters
    ----------
    job, engine
        What is simulated, and what simulates it.
    checkpoint, callback
        As :func:`simulate` takes them.
    update
        Called with the number of samples that have come to those done before.

    Attributes
    ----------
    recorder
        What the job leaves.
    left
        What is left of the job.
    finished
        True where nothing is left, because a checkpoint holds all.
    """

    def __init__(
        self,
        job: Job,
        engine: str,
        checkpoint: str | os.PathLike | Checkpoint | None = None,
        callback: Callback | None = None,
        update: Callable[[int], object] | None = None,
    ) -> None:
        self.job, self.engine, self.left, self._update = job, engine, job, update
        self._began, self._shown = time.perf_counter(), job.start
        self.recorder = Recorder(
            job, callback and (lambda t, flat: callback(t, job.blueprint.matrices(flat)))
        )
        self._kept: CheckpointFile | None = None
        self._outcome: Outcome | None = None
        if checkpoint is not None:
            place = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)  # type: ignore[arg-type]
            self._kept = CheckpointFile(place, identity_of(job, engine, job.events), self.recorder)
            self._outcome = self._kept.read(job)
        self.recorder.on_progress = self._reached
        if self._outcome is None:
            self.recorder.keep(job.start, job.state)
            self.finished = False
        else:
            ended, state = self._outcome.ended, self._outcome.state
            self.left = replace(job, start=self._outcome.samples, state=state)
            self.finished = ended == "done" or (ended == "stopped" and self.recorder.stops())

    def _reached(self, t: int, state: dict[str, np.ndarray]) -> None:
        if self._update is not None:
            self._update(t - self._shown)
            self._shown = t
        if self._kept is not None:
            self._kept.write_if_due(t, state)

    def take(self, outcome: Outcome) -> None:
        """Note that the engine has come to ``outcome``."""
        self._outcome = outcome
        # A run that diverged does so again, from the last checkpoint.
        if self._kept is not None and outcome.ended != "diverged":
            self._kept.write(outcome)

    def end(self) -> Outcome:
        """Return how the run ended, with all that was recorded."""
        outcome, recorder = self._outcome, self.recorder
        assert outcome is not None, "it has been simulated"
        cut_short = recorder.snapshots.samples[-1] < outcome.samples  # between two snapshots
        if outcome.ended != "diverged" and cut_short:
            recorder.keep(outcome.samples, outcome.state)
        if outcome.ended == "interrupted":
            warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded")
        earlier = self._kept.earlier if self._kept is not None else 0.0
        seconds = time.perf_counter() - self._began + earlier
        return replace(outcome, recorder=recorder, engine=self.engine, seconds=seconds)


def _engine_for(job: Job, checkpoint: str | os.PathLike | Checkpoint | None) -> str:
    """Return the name of the engine that simulates ``job``, which goes on as it began."""
    wanted, ticks = job.circuit.engine, (job.stop - job.start) * job.ticks_per_sample
    chosen = job.circuit.engines.choose(wanted, job.blueprint, ticks)
    return (engine_of(checkpoint) or chosen) if wanted == "auto" else chosen

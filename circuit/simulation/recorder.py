"""Runs in the making: weight snapshots and traces, the checkpoint, and those who watch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from biorrr.circuit.simulation.checkpoint import Checkpoint, CheckpointFile, identity_of
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.saving import Series
from biorrr.circuit.stimulus.data_checks import warn

Callback = Callable[[int, dict[str, np.ndarray]], bool | None]
DATA_ROW = "data_row"  # the row of the data that was presented, which goes with all traces


class Recorder:
    """A run in the making, with all that it has left so far.

    Parameters
    ----------
    job, engine
        What is simulated, and the name of what simulates it.
    checkpoint
        File that keeps the run, from which it goes on where there is one.
    callback
        Called with (samples seen, matrices by name) at every snapshot; a true answer ends the run.
    update
        Called with the number of samples that have come to those done before.

    Attributes
    ----------
    snapshots
        Flat weights by pathway, each row after so many samples: the start, those that are due, the
        end.
    traces
        Recorded variables by label, each row in one tick of a sample, and :data:`DATA_ROW`.
    stopped
        True once a snapshot has ended the run.
    outcome
        How far the run has come, as the checkpoint or the engine said last.
    """

    def __init__(
        self,
        job: Job,
        engine: str = "",
        checkpoint: Checkpoint | None = None,
        callback: Callback | None = None,
        update: Callable[[int], object] | None = None,
    ) -> None:
        self.job, self.engine, self.callback, self._update = job, engine, callback, update
        self.stopped, self._began, self._done = False, time.perf_counter(), job.start
        self.outcome: Outcome | None = None
        blueprint, recording = job.blueprint, job.recording
        weights = {p.name: blueprint.by_key[f"{p.name}.w"].size for p in blueprint.parts.weighted}
        self.snapshots = Series(len(job.snapshots) + 2, weights)
        rows = len(recording.recorded) * blueprint.timing.duration
        columns = {trace.label: trace.columns for trace in recording.traces}
        self.traces = Series(rows, {DATA_ROW: 1, **columns})
        self._file: CheckpointFile | None = None
        if checkpoint is not None:
            series = {"snapshots": self.snapshots, "traces": self.traces}
            self._file = CheckpointFile(checkpoint, identity_of(job, engine), series)
            self.outcome = self._file.read(job)
        if self.outcome is None:
            self.keep(job.start, job.state)

    @property
    def left(self) -> Job | None:
        """What is left to simulate; None where the checkpoint holds all."""
        known = self.outcome
        if known is None:
            return self.job
        if known.ended == "done" or (known.ended == "stopped" and self._stops()):
            return None
        return replace(self.job, start=known.samples, state=known.state)

    def keep(self, t: int, state: Mapping[str, np.ndarray]) -> None:
        """Keep the weights of ``state``, values by "part.variable", that the circuit has after
        ``t`` samples.
        """
        self.snapshots.add([t], {name: state[f"{name}.w"][None] for name in self.snapshots.values})

    def snapshot(self, samples, weights: Mapping[str, np.ndarray]) -> None:
        """Keep the weights as they are after so many ``samples``, when snapshots are due; each
        array has one row per snapshot.
        """
        if len(samples):
            self.snapshots.add(samples, weights)
            self.stopped = self.stopped or self._stops()

    def _stops(self) -> bool:
        """Return True if the callback ends the run at the last snapshot."""
        if self.callback is None:
            return False
        weights = {name: rows[-1] for name, rows in self.snapshots.values.items()}
        samples = int(self.snapshots.samples[-1])
        return bool(self.callback(samples, self.job.blueprint.matrices(weights)))

    def note(self, t: int, state: dict[str, np.ndarray]) -> None:
        """Note, between two samples, that ``t`` are done and have led to ``state``, values by
        "part.variable".
        """
        if self._update is not None:
            self._update(t - self._done)
            self._done = t
        if self._file is not None and self._file.due:
            self._file.write(Outcome(t, state, "interrupted"))

    def take(self, outcome: Outcome) -> None:
        """Note that the engine has come to ``outcome``."""
        self.outcome = outcome
        # A run that diverged does so again, from the last checkpoint.
        if self._file is not None and outcome.ended != "diverged":
            self._file.write(outcome)

    def end(self) -> Outcome:
        """Return how the run ended, with all that was recorded."""
        outcome = self.outcome
        assert outcome is not None, "it has been simulated"
        cut_short = self.snapshots.samples[-1] < outcome.samples  # between two snapshots
        if outcome.ended != "diverged" and cut_short:
            self.keep(outcome.samples, outcome.state)
        if outcome.ended == "interrupted":
            warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded")
        earlier = self._file.earlier if self._file is not None else 0.0
        seconds = time.perf_counter() - self._began + earlier
        return replace(outcome, recorder=self, engine=self.engine, seconds=seconds)

"""One run of a circuit, from its stimulus to what the engine leaves: the same for every circuit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.circuit.simulation.checkpoint import Checkpoint, CheckpointFile, identity_of
from biorrr.circuit.simulation.events import advance, lesioned
from biorrr.circuit.simulation.job import Engine, Job, Outcome
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorder import Recorder
from biorrr.circuit.stimulus.data_checks import check_unchanged, warn
from biorrr.errors import InputError, InputTypeError
from biorrr.models import Event
from biorrr.models.validation import LARGEST_WHOLE, whole_number

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run

Callback = Callable[[int, dict[str, np.ndarray]], bool | None]


@dataclass(frozen=True)
class Simulated:
    """A simulated run.

    Parameters
    ----------
    begun, events
        What was to be simulated, and what happened in the middle.
    job, outcome, recorder
        The same after all events; the state in the end; snapshots and traces.
    engine, seconds
        What simulated, and how long it took.
    """

    begun: Job
    events: Sequence[Event]
    job: Job
    outcome: Outcome
    recorder: Recorder
    engine: str
    seconds: float


def simulate(
    job: Job,
    engine: str,
    build: Callable[[], Engine],
    events: Sequence[Event] = (),
    checkpoint: str | os.PathLike | Checkpoint | None = None,
    callback: Callback | None = None,
    progress: bool = False,
) -> Simulated:
    """Run a circuit.

    Parameters
    ----------
    job
        What to simulate.
    engine, build
        Name of the engine, and a function that returns it when it is needed.
    events
        What happens in the middle, checked.
    checkpoint, callback, progress
        As :meth:`biorrr.circuit.Microcircuit.run` takes them.
    """
    began = time.perf_counter()
    shown: Any = progress_bar(job.stop - job.start) if progress else nullcontext()
    with shown as bar:
        recorder = Recorder(
            job, callback and (lambda t, flat: callback(t, job.blueprint.matrices(flat)))
        )
        kept, outcome, left = None, None, job
        if checkpoint is not None:
            place = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)  # type: ignore[arg-type]
            kept = CheckpointFile(place, identity_of(job, engine, events), recorder)
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
                outcome = advance(build(), left, events, recorder)
            finally:
                check_unchanged(job.feeds)
            if (
                kept is not None and outcome.ended != "diverged"
            ):  # it diverges again, from the last checkpoint
                kept.write(outcome)
    if (
        outcome.ended != "diverged" and recorder.snapshots.samples[-1] < outcome.samples
    ):  # cut short between two
        recorder.keep(outcome.samples, outcome.state)
    if outcome.ended == "interrupted":
        warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded")
    seconds = time.perf_counter() - began + (kept.earlier if kept is not None else 0.0)
    after = lesioned(job, events, outcome.samples)
    return Simulated(job, events, after, outcome, recorder, engine, seconds)


def stretch_of(epochs: int, epoch: int, start: Run | None) -> tuple[int, int]:
    """Return the first sample of a run and the one after its last, counted from the first that the
    circuit saw.

    Parameters
    ----------
    epochs, epoch
        Passes over the data, and samples in each.
    start
        The run that is continued.
    """
    if start is not None and not hasattr(start, "inner_state"):
        raise InputTypeError(
            f"start: must be a Run (got {start!r}); Run.load reads one from a file"
        )
    first = 0 if start is None else start.samples
    last = first + epochs * epoch
    if last > LARGEST_WHOLE:
        raise InputError(
            f"epochs: a circuit can count 2**53 samples (got {epochs} epochs, {last} samples in"
            " all)"
        )
    return first, last


def snapshot_samples(wanted, first: int, last: int) -> np.ndarray:
    """Return sample counts in (first, last] after which weights are kept, the last one included.

    Parameters
    ----------
    wanted
        How many, evenly in log time from ``first``; ("linear", count) for evenly in samples; or the
        sample counts.
    first, last
        First sample, and the one after the last.
    """
    linear = isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] == "linear"
    wanted = wanted[1] if linear else wanted
    if np.ndim(wanted) == 1 and not isinstance(wanted, str):
        counts = np.asarray(wanted)
        if (
            counts.dtype.kind not in "iu"
            or not len(counts)
            or counts.min() < first
            or counts.max() > last
        ):
            raise InputError(
                f"snapshots: sample counts must be whole numbers in [{first}, {last}], the samples"
                f" of this run (got {wanted!r})"
            )
        return np.unique([*counts[counts > first].tolist(), last])
    count = whole_number(
        "snapshots", wanted, minimum=1, remedy="; or ('linear', 50), or a list of sample counts"
    )
    if count == 1:
        return np.array([last])
    samples = last - first
    steps = (
        np.linspace(samples / count, samples, count) if linear else np.geomspace(1, samples, count)
    )
    return first + np.unique(np.round(steps).astype(np.int64).clip(1, samples))

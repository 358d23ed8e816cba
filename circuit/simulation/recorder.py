"""Runs in the making: weight snapshots and traces, the checkpoint, and those who watch.

A run cut short at any moment goes on from its last checkpoint and ends where it would have ended
anyway, bit for bit: a checkpoint holds the state as the engine holds it, in the circuit's own
units, and everything random follows from the seed and the sample count alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.saving import Series, exactly
from biorrr.circuit.stimulus.data_checks import check_unchanged, warn
from biorrr.circuit.stimulus.feeds import chunks
from biorrr.errors import InputError, InputTypeError
from biorrr.files import whole_file
from biorrr.hints import HintsAtKeywords
from biorrr.models.validation import NotNegative, check_fields

_FORM = 6  # of the file; to be raised when it changes


class CheckpointError(InputError):
    """A checkpoint that is damaged or belongs to another run."""


@dataclass(frozen=True)
class Checkpoint(HintsAtKeywords):
    """A file that keeps a run as far as it has come.

    Parameters
    ----------
    path
        The file: NumPy's .npz, without Python objects.
    every
        Seconds from one checkpoint to the next.
    """

    path: Path
    every: NotNegative = 30.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise InputTypeError(
                "checkpoint: must be the path of a file, or Checkpoint(path, every) (got"
                f" {self.path!r})"
            )
        object.__setattr__(self, "path", Path(self.path))
        check_fields(self)

    @classmethod
    def of(cls, given: str | os.PathLike | Checkpoint | None) -> Checkpoint | None:
        """Return the checkpoint that is ``given``, or whose path is; None stands for none."""
        return given if isinstance(given, Checkpoint | None) else cls(given)  # type: ignore[arg-type]

    def of_seed(self, seed: int) -> Checkpoint:
        """Return that of one of several seeds, beside it: run-3.npz for run.npz and seed 3."""
        name = f"{self.path.stem}-{seed}{self.path.suffix}"
        return replace(self, path=self.path.with_name(name))


def engine_of(checkpoint: Checkpoint | None) -> str | None:
    """Return the engine of the run that ``checkpoint`` keeps, on which it has to go on; None where
    no file says so.
    """
    if checkpoint is None:
        return None
    # A damaged file is refused when the run begins.
    with (
        suppress(Exception),
        checkpoint.path.open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        return str(json.loads(str(archive["facts"]))["identity"]["engine"])
    return None


def read_checkpoint(
    path: Path, job: Job, identity: Mapping[str, str], series: Mapping[str, Series]
) -> tuple[Outcome, float]:
    """Fill ``series`` with what the run of a checkpoint recorded; return how far ``job`` had come,
    and the seconds spent on it. A run with another ``identity`` is refused.
    """
    try:
        # Opened here: np.load leaves a file that it finds damaged open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            facts = json.loads(str(archive["facts"]))
            other = facts["identity"]
            if differing := [what for what in identity if other.get(what) != identity[what]]:
                raise CheckpointError(
                    f"{path}: belongs to another run (what differs: {', '.join(differing)}); give"
                    " what it was made with, or delete it to start over"
                )
            state = {
                name: exactly(archive[f"state/{name}"], values.shape)
                for name, values in job.state.items()
            }
            for kind, kept in series.items():
                rows = {name: archive[f"{kind}/{name}"] for name in kept.values}
                kept.add(archive[f"{kind}/samples"], rows)
            outcome = Outcome(int(archive["samples"]), state, str(facts["ended"]))
            if not job.start <= outcome.samples <= job.stop:
                raise InputError("checkpoint: must hold samples of this run")
            return outcome, float(facts["seconds"])
    except CheckpointError:
        raise
    except Exception as error:  # a damaged file makes zipfile, NumPy and json raise a dozen kinds
        # Without their words: NumPy's advise to allow pickles, which may run code.
        raise CheckpointError(
            f"{path}: not a checkpoint, or damaged or truncated; delete it to start over"
        ) from error


def write_checkpoint(
    path: Path,
    outcome: Outcome,
    seconds: float,
    identity: Mapping[str, str],
    series: Mapping[str, Series],
) -> None:
    """Write a new file and rename it, so that there is a whole one at every moment."""
    facts = {"ended": outcome.ended, "seconds": seconds, "identity": identity}
    arrays = {"facts": np.array(json.dumps(facts)), "samples": np.array(outcome.samples)}
    arrays |= {f"state/{name}": values for name, values in outcome.state.items()}
    for kind, kept in series.items():
        arrays |= {f"{kind}/{name}": rows for name, rows in kept.values.items()}
        arrays[f"{kind}/samples"] = kept.samples
    try:
        with whole_file(path) as partial, partial.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        # The simulation itself needs no disk; perhaps there is room again by the next checkpoint.
        warn(
            f"{path}: no checkpoint at sample {outcome.samples} ({error.strerror}); the run goes"
            " on, and the last good checkpoint stays"
        )


def identity_of(job: Job, engine: str) -> dict[str, str]:
    """Return everything that determines a run, in the user's words; arrays as checksums."""
    presented, feeds = job.presentation, job.feeds.values()
    return {
        "version of biorrr": f"{version('biorrr')}, form {_FORM}",
        "engine": engine,
        "circuit": _checksum(job.blueprint.code),
        "data": _checksum(*(feed.values for feed in feeds)),
        "events": _checksum(
            *(value for event in job.events for value in (type(event), *vars(event).values()))
        ),
        "epochs, order or seed": _checksum(
            (
                presented.n_samples,
                presented.m,
                presented.replay,
                presented.seed,
                job.start,
                job.stop,
            ),
            presented.order,
        ),
        "settings or initial weights": _checksum(
            list(job.state),
            [(name, feed.gain) for name, feed in job.feeds.items()],
            *(feed.mean for feed in feeds),
            *job.state.values(),
        ),
        "what is recorded": _checksum(*vars(job.recording).values()),
    }


def _checksum(*values) -> str:
    """Return a checksum of ``values``: of arrays block by block, of others by the text that stands
    for them.
    """
    digest = hashlib.sha256()
    for value in values:
        if hasattr(value, "__array__"):
            table = np.atleast_2d(value)
            digest.update(repr((table.shape, table.dtype.str)).encode())
            for rows in chunks(table):
                digest.update(np.ascontiguousarray(rows).data)
        else:
            digest.update(repr(value).encode())
    return digest.hexdigest()


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
    left
        What is left to simulate; None where the checkpoint holds all.
    """

    outcome: Outcome

    def __init__(
        self,
        job: Job,
        engine: str = "",
        checkpoint: Checkpoint | None = None,
        callback: Callback | None = None,
        update: Callable[[int], object] = lambda samples: None,
    ) -> None:
        self.job, self.engine, self.callback, self._update = job, engine, callback, update
        self.stopped, self._done, self._checkpoint = False, job.start, checkpoint
        self._began = self._written = time.monotonic()
        blueprint, recording = job.blueprint, job.recording
        weights = {p.name: blueprint.by_key[f"{p.name}.w"].size for p in blueprint.parts.weighted}
        self.snapshots = Series(len(recording.snapshots) + 2, weights)
        rows = len(recording.recorded) * blueprint.timing.duration
        columns = {trace.label: len(trace.places) for trace in recording.traces}
        self.traces = Series(rows, {DATA_ROW: 1, **columns})
        self._series = {"snapshots": self.snapshots, "traces": self.traces}
        self._identity = {} if checkpoint is None else identity_of(job, engine)
        self.left: Job | None = job
        if checkpoint is None or not checkpoint.path.exists():
            self.keep(job.start, job.state)
            return
        known, seconds = read_checkpoint(checkpoint.path, job, self._identity, self._series)
        self._began -= seconds
        self.outcome = known
        whole = known.ended == "done" or (known.ended == "stopped" and self._stops())
        self.left = None if whole else replace(job, start=known.samples, state=known.state)

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
        check_unchanged(self.job.feeds)
        self._update(t - self._done)
        self._done = t
        if self._checkpoint and time.monotonic() - self._written >= self._checkpoint.every:
            ended = "done" if t == self.job.stop else "interrupted"
            self._write(Outcome(t, state, ended))

    def take(self, outcome: Outcome) -> None:
        """Note that the engine has come to ``outcome``."""
        check_unchanged(self.job.feeds)
        self.outcome = outcome
        # A run that diverged does so again, from the last checkpoint.
        if self._checkpoint and outcome.ended != "diverged":
            self._write(outcome)

    def _write(self, outcome: Outcome) -> None:
        """Write the checkpoint of a run that has come to ``outcome``."""
        assert self._checkpoint is not None  # asked for if given
        self._written = time.monotonic()
        seconds = self._written - self._began
        write_checkpoint(self._checkpoint.path, outcome, seconds, self._identity, self._series)

    def end(self) -> Outcome:
        """Return how the run ended, with all that was recorded."""
        outcome = self.outcome
        cut_short = self.snapshots.samples[-1] < outcome.samples  # between two snapshots
        if outcome.ended != "diverged" and cut_short:
            self.keep(outcome.samples, outcome.state)
        if outcome.ended == "interrupted":
            warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded")
        seconds = time.monotonic() - self._began
        return replace(outcome, recorder=self, engine=self.engine, seconds=seconds)

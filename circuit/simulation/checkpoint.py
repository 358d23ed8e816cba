"""Checkpoints: a run cut short at any moment goes on from its last one and ends where it would have ended anyway.

Bit for bit, because a checkpoint holds the state as the engine holds it, in the circuit's own units, and because
everything random follows from the seed and the sample count alone.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.simulation.job import Engine, Job, Outcome
from biorrr.circuit.simulation.recorder import Recorder
from biorrr.circuit.stimulus.statistics import chunks
from biorrr.errors import InputError, InputTypeError
from biorrr.models.validation import NotNegative, check_fields

if TYPE_CHECKING:
    from biorrr.models import Event

_FORM = 3  # of the file; to be raised when it changes


class CheckpointError(InputError):
    """A checkpoint that is damaged or belongs to another run."""


@dataclass(frozen=True)
class Checkpoint:
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
                f"checkpoint: must be the path of a file, or Checkpoint(path, every) (got {self.path!r})"
            )
        object.__setattr__(self, "path", Path(self.path))
        check_fields(self)

    @classmethod
    def of(cls, given) -> Checkpoint:
        """Return ``given``, a checkpoint or the path of one, as a checkpoint."""
        return given if isinstance(given, cls) else cls(given)


@dataclass
class CheckpointedEngine:
    """An engine that keeps checkpoints, and begins with the one it finds.

    Parameters
    ----------
    build, name
        Gives the engine that simulates, when one is needed, and what it is called.
    checkpoint
        Where, and how often.
    events
        What happens in the middle of the run.
    """

    build: Callable[[], Engine]
    name: str
    checkpoint: Checkpoint
    events: Sequence[Event] = ()

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job`` from where the checkpoint left it, or from its start where there is no checkpoint."""
        self.path = self.checkpoint.path
        self._identity = identity_of(job, self.name, self.events)
        self._began, self._earlier = time.monotonic(), 0.0
        found = self._load(job, recorder) if self.path.exists() else None
        if found is not None and (found.ended == "done" or (found.ended == "stopped" and _still_stops(recorder))):
            return found
        if found is not None:
            self._earlier = found.earlier
            job = replace(job, start=found.samples, state=found.state)
        shown = recorder.on_progress
        due = self._began + self.checkpoint.every

        def keep_now_and_then(t: int, state: dict[str, np.ndarray]) -> None:
            nonlocal due
            if shown is not None:
                shown(t, state)
            if time.monotonic() >= due:
                self._save(Outcome(t, state, "interrupted"), recorder)
                due = time.monotonic() + self.checkpoint.every

        recorder.on_progress = keep_now_and_then
        outcome = replace(self.build().advance(job, recorder), earlier=self._earlier)
        if outcome.ended != "diverged":  # a diverged circuit diverges again, from the last checkpoint
            self._save(outcome, recorder)
        return outcome

    def _save(self, outcome: Outcome, recorder: Recorder) -> None:
        """Write a new file and rename it, so that there is a whole one at every moment."""
        seconds = self._earlier + time.monotonic() - self._began
        facts = {"form": _FORM, "ended": outcome.ended, "seconds": seconds, "identity": self._identity}
        arrays = {
            "facts": np.array(json.dumps(facts)),
            "samples": np.array(outcome.samples),
            "snapshot_samples": np.array(recorder.snapshot_samples, np.int64),
            "trace_samples": np.array(recorder.trace_samples, np.int64),
            **{f"state/{name}": values for name, values in outcome.state.items()},
            **{f"traces/{name}": rows for name, rows in recorder.traces.items()},
        }
        for name in recorder.snapshots[0] if recorder.snapshots else ():
            arrays[f"snapshots/{name}"] = np.stack([weights[name] for weights in recorder.snapshots])
        partial = self.path.with_name(f".{os.getpid()}-{self.path.name}")
        try:
            with partial.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self.path)
        except OSError as error:
            # The simulation itself needs no disk; perhaps there is room again by the next checkpoint.
            warnings.warn(
                f"{self.path}: no checkpoint at sample {outcome.samples} ({error.strerror}); the run goes on, and "
                "the last good checkpoint stays",
                stacklevel=2,
            )
        finally:
            partial.unlink(missing_ok=True)

    def _load(self, job: Job, recorder: Recorder) -> Outcome:
        """Give ``recorder`` what was recorded; return how far the run had come."""
        try:
            # Opened here: np.load leaves a file that it finds damaged open.
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                facts = json.loads(str(held["facts"]))
                self._refuse_another_run(facts)
                state = {name: held[f"state/{name}"] for name in job.state}
                seen = held["snapshot_samples"].tolist()
                snapshots = {p.name: held[f"snapshots/{p.name}"] for p in job.blueprint.weighted if seen}
                traced = held["trace_samples"].tolist()
                traces = {t.label: held[f"traces/{t.label}"] for t in job.recording.traces if traced}
                outcome = Outcome(int(held["samples"]), state, str(facts["ended"]), float(facts["seconds"]))
        except CheckpointError:
            raise
        except Exception as error:  # a damaged file makes zipfile, NumPy and json raise a dozen kinds
            # Without their words: NumPy's advise to allow pickles, which may run code.
            raise CheckpointError(
                f"{self.path}: not a checkpoint, or damaged or truncated; delete it to start over"
            ) from error
        fits = (
            job.start <= outcome.samples <= job.stop
            and all(values.shape == np.shape(job.state[name]) for name, values in state.items())
            and all(len(rows) == len(seen) for rows in snapshots.values())
            and all(len(rows) == len(traced) for rows in traces.values())
        )
        if not fits:
            raise CheckpointError(f"{self.path}: damaged: its parts do not fit together; delete it to start over")
        recorder.snapshot_samples = seen
        recorder.snapshots = [{name: rows[i] for name, rows in snapshots.items()} for i in range(len(seen))]
        recorder.trace(traced, traces)
        return outcome

    def _refuse_another_run(self, facts: dict) -> None:
        identity = facts["identity"] if facts["form"] == _FORM else {}
        differing = [what for what, value in self._identity.items() if identity.get(what) != value]
        if differing:
            raise CheckpointError(
                f"{self.path}: belongs to another run (what differs: {', '.join(differing)}); give what it was made "
                "with, or delete it to start over"
            )


def _still_stops(recorder: Recorder) -> bool:
    """Return True if the callback that stopped a run also stops it at the last snapshot; otherwise the run goes on."""
    if recorder.on_snapshot is None or not recorder.snapshots:
        return False
    return bool(recorder.on_snapshot(recorder.snapshot_samples[-1], recorder.snapshots[-1]))


def identity_of(job: Job, engine: str, events: Sequence[Event]) -> dict[str, str]:
    """Return everything that determines a run, in the user's words; arrays as checksums."""
    shown, recording = job.presentation, job.recording
    order = shown.order if isinstance(shown.order, np.ndarray) else shown.order.encode()
    stretch = (shown.n_samples, shown.m, shown.replay, shown.seed, job.start, job.stop)
    recorded = (
        [(t.label, t.chosen) for t in recording.traces],
        (recording.every, recording.windows),
        job.snapshots.tolist(),
    )
    return {
        "version of biorrr": _version(),
        "engine": engine,
        "circuit": _checksum(repr(job.blueprint.code).encode()),
        "data": "".join(_checksum(*_parts(feed.values)) for feed in job.feeds.values()),
        "events": _checksum(*(part for event in events for value in _named(event) for part in _parts(value))),
        "epochs, order or seed": _checksum(repr(stretch).encode(), order),
        "settings or initial weights": _checksum(
            repr((list(job.state), [(name, feed.gain) for name, feed in job.feeds.items()])).encode(),
            *(feed.mean for feed in job.feeds.values()),
            *job.state.values(),
        ),
        "what is recorded": _checksum(repr(recorded).encode()),
    }


_version = functools.cache(functools.partial(version, "biorrr"))


def _named(event: Event) -> tuple:
    """Return the kind of an event, and its fields."""
    return (type(event).__name__, *(getattr(event, field.name) for field in fields(event)))


def _parts(value) -> Iterable[bytes | np.ndarray]:
    """Return the bytes of a value for a checksum; large arrays block by block."""
    if isinstance(value, np.ndarray):
        return (repr((value.shape, value.dtype.str)).encode(), *chunks(value))
    return (repr(value).encode(),)


def _checksum(*parts: bytes | np.ndarray) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).data)
    return digest.hexdigest()

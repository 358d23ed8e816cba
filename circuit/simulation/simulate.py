"""One run of a circuit, from its stimulus to what the engine leaves: the same for every circuit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.simulation.checkpoint import Checkpoint, CheckpointedEngine
from biorrr.circuit.simulation.events import LesionedEngine, check_events
from biorrr.circuit.simulation.job import Engine, Job, Outcome
from biorrr.circuit.simulation.progress import progress_bar
from biorrr.circuit.simulation.recorded_traces import recording_of
from biorrr.circuit.simulation.recorder import Recorder
from biorrr.circuit.stimulus.data_checks import check_unchanged, warn
from biorrr.circuit.stimulus.feeds import Feed
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.circuit.stimulus.units import Units
from biorrr.models import Event
from biorrr.models.validation import LARGEST_WHOLE, truth, whole_number

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run

Callback = Callable[[int, dict[str, np.ndarray]], bool | None]


@dataclass(frozen=True)
class RunOptions:
    """What the user asks of a run; :meth:`biorrr.circuit.Microcircuit.run` explains each of them."""

    record: Any
    every: Any
    snapshots: Any
    plastic: bool
    callback: Callback | None
    progress: bool
    checkpoint: Checkpoint | None
    events: Sequence[Event]


@dataclass(frozen=True)
class Stimulus:
    """What is presented to a circuit in one run.

    Parameters
    ----------
    presentation, feeds
        What comes when, and the data of each port by its name.
    first, last
        First sample and the one after the last, counted from the first that the circuit saw.
    """

    presentation: Presentation
    feeds: dict[str, Feed]
    first: int
    last: int

    @classmethod
    def of(cls, presentation: Presentation, feeds: dict[str, Feed], epochs: int, start: Run | None) -> Stimulus:
        """Return the stimulus of so many ``epochs``, after what ``start`` has seen."""
        if start is not None and not hasattr(start, "inner_state"):
            raise TypeError(f"start: must be a Run (got {start!r}); Run.load reads one from a file")
        first = 0 if start is None else start.samples
        last = first + epochs * presentation.epoch
        if last > LARGEST_WHOLE:
            raise ValueError(f"epochs: a circuit can count 2**53 samples (got {epochs} epochs, {last} samples in all)")
        return cls(presentation, feeds, first, last)

    @property
    def ticks(self) -> int:
        """Ticks that it takes."""
        return (self.last - self.first) * self.presentation.ticks_per_sample

    @property
    def live(self) -> bool:
        """True where a Brian2 group of the user's is among the inputs."""
        return any(feed.live is not None for feed in self.feeds.values())


@dataclass(frozen=True)
class Simulated:
    """Where a run has led to.

    Parameters
    ----------
    job, outcome, recorder
        What was asked for, as it was in the end; where it ended; what was kept on the way.
    units
        How the circuit's units relate to the data's.
    engine, seconds
        What simulated, and how long it took.
    """

    job: Job
    outcome: Outcome
    recorder: Recorder
    units: Units
    engine: str
    seconds: float


def simulate(
    blueprint: Blueprint,
    engine: str,
    build: Callable[[], Engine],
    stimulus: Stimulus,
    state: Mapping[str, np.ndarray],
    units: Units,
    options: RunOptions,
) -> Simulated:
    """Run a circuit.

    Parameters
    ----------
    blueprint
        The circuit.
    engine, build
        Name of the engine, and a function that returns it when it is needed.
    stimulus
        What is presented.
    state, units
        Where the circuit begins, and how its units relate to the data's.
    options
        All else.
    """
    began = time.perf_counter()
    first, last, presentation = stimulus.first, stimulus.last, stimulus.presentation
    events = check_events(options.events, first, last, blueprint, presentation.order)
    recording = recording_of(options.record, options.every, blueprint, first, last)
    switches = [q.key for q in blueprint.state if q.name in ("plastic", "learning")]
    state = {
        **state,
        "clock.sample": np.array([first - 1.0]),
        **dict.fromkeys(switches, np.array([float(truth("plastic", options.plastic))])),
    }
    lesioned = LesionedEngine(build, events) if events else None
    simulator = (lambda: lesioned) if lesioned is not None else build
    if options.checkpoint is not None:
        kept = CheckpointedEngine(simulator, engine, options.checkpoint, events)
        simulator = lambda: kept  # noqa: E731
    call = options.callback
    with progress_bar(last - first) if options.progress else _silence() as bar:
        recorder = Recorder(
            expected=recording.count(first, last) * presentation.held,
            on_snapshot=call and (lambda t, flat: call(t, outward(blueprint, units, flat))),
            on_progress=lambda t, state: bar.update(t - first - bar.n),
        )
        job = Job(
            blueprint, presentation, stimulus.feeds, first, last, state, recording,
            snapshot_samples(options.snapshots, first, last),
        )  # fmt: skip
        outcome = simulator().advance(job, recorder)
    check_unchanged(stimulus.feeds)
    if lesioned is not None:
        job = lesioned.lesioned(job, outcome.samples)
    if outcome.ended == "interrupted":
        warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded")
    return Simulated(job, outcome, recorder, units, engine, outcome.earlier + time.perf_counter() - began)


def outward(blueprint: Blueprint, units: Units, flat: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return flat weights by pathway as matrices by their names, in the data's units."""
    scales = {p.weight: units.scale(p.scale) for p in blueprint.weighted}
    return {name: matrix / scales[name] for name, matrix in blueprint.matrices(flat).items()}


def snapshot_samples(wanted, first: int, last: int) -> np.ndarray:
    """Sample counts in (first, last] after which weights are kept, the last one included.

    Parameters
    ----------
    wanted
        How many, evenly in log time from ``first``; ("log", count) or ("linear", count); or the sample counts.
    first, last
        First sample, and the one after the last.
    """
    spacing = "log"
    if isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] in ("log", "linear"):
        spacing, wanted = wanted
    if np.ndim(wanted) == 1 and not isinstance(wanted, str):
        counts = np.asarray(wanted)
        if counts.dtype.kind not in "iu" or not len(counts) or counts.min() < first or counts.max() > last:
            raise ValueError(
                f"snapshots: sample counts must be whole numbers in [{first}, {last}], the samples of this run (got "
                f"{wanted!r})"
            )
        return np.unique([*counts[counts > first].tolist(), last])
    count = whole_number("snapshots", wanted, minimum=1, remedy="; or ('linear', 50), or a list of sample counts")
    if count == 1:
        return np.array([last])
    spread = np.geomspace if spacing == "log" else np.linspace
    steps = spread(1 if spacing == "log" else (last - first) / count, last - first, num=count)
    return first + np.unique(np.round(steps).astype(np.int64).clip(1, last - first))


@contextmanager
def _silence():
    yield SimpleNamespace(n=0, update=lambda count: None)

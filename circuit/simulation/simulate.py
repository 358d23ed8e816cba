"""One run of a circuit, from data to what the engine leaves: the same for every circuit."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.choice import Engines
from biorrr.circuit.simulation.checkpoint import CheckpointedEngine
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
from biorrr.models.validation import LARGEST_WHOLE, number_within, truth, whole_number

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run

Callback = Callable[[int, dict[str, np.ndarray]], bool | None]


@dataclass(frozen=True)
class RunOptions:
    """What a person asks of a run; :meth:`biorrr.circuit.Microcircuit.run` explains each of them."""

    record: Any
    every: Any
    snapshots: Any
    plastic: bool
    start: Any
    callback: Callback | None
    progress: bool
    checkpoint: str | os.PathLike | None
    checkpoint_every: float
    events: Sequence[Event]


@dataclass(frozen=True)
class Simulated:
    """What a run has led to.

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


def simulate(
    blueprint: Blueprint,
    engines: Engines,
    wanted: str,
    stimulus: Stimulus,
    state: dict[str, np.ndarray],
    units: Units,
    options: RunOptions,
) -> Simulated:
    """Run a circuit.

    Parameters
    ----------
    blueprint, engines, wanted
        The circuit, the engines built for it so far, and the name of the one that is wanted.
    stimulus
        What is presented.
    state, units
        Where the circuit begins, and how its units relate to the data's.
    options
        All else.
    """
    began = time.perf_counter()
    first, last, presentation = stimulus.first, stimulus.last, stimulus.presentation
    events = check_events(options.events, stimulus.first, stimulus.last, blueprint, presentation.order)
    recording = recording_of(options.record, options.every, blueprint, first, last)
    switches = [q.key for q in blueprint.state if q.name in ("plastic", "learning")]
    state = {
        **state,
        "clock.sample": np.array([first - 1.0]),
        **dict.fromkeys(switches, np.array([float(truth("plastic", options.plastic))])),
    }
    if any(feed.live is not None for feed in stimulus.feeds.values()):
        if wanted == "cpp" or options.checkpoint is not None:
            what = "engine 'cpp': cannot run" if wanted == "cpp" else "checkpoint: cannot keep the state of"
            raise ValueError(
                f"{what} a Brian2 group of yours, which lives in this process; use engine='numpy' or 'cython' without "
                "a checkpoint, or record the group first and give what it said as TimeSeries or SpikeTrains"
            )
        wanted = "numpy" if wanted == "auto" else wanted
    name = engines.choose(wanted, (last - first) * presentation.ticks_per_sample)
    build: Callable[[], Engine] = functools.partial(engines.built, name, blueprint)
    lesioned = LesionedEngine(build, events) if events else None
    if options.checkpoint is not None:
        pause = number_within("checkpoint_every", options.checkpoint_every, 0)
        start_up = build if lesioned is None else lambda: lesioned
        engine: Engine = CheckpointedEngine(start_up, name, Path(options.checkpoint), pause, events)
    else:
        engine = lesioned or build()
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
        outcome = engine.advance(job, recorder)
    check_unchanged(stimulus.feeds)
    if lesioned is not None:
        job = lesioned.lesioned(job, outcome.samples)
    if outcome.ended == "interrupted":
        warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded")
    return Simulated(job, outcome, recorder, units, name, outcome.earlier + time.perf_counter() - began)


def samples_of(start: Run | None, epochs: int, presentation: Presentation) -> tuple[int, int]:
    """First sample of a run that continues ``start``, if there is one, and the one after the last."""
    if start is not None and not hasattr(start, "inner_state"):
        raise TypeError(f"start: must be a Run (got {start!r}); Run.load reads one from a file")
    first = 0 if start is None else start.samples
    last = first + epochs * presentation.epoch
    if last > LARGEST_WHOLE:
        raise ValueError(f"epochs: a circuit can count 2**53 samples (got {epochs} epochs, {last} samples in all)")
    return first, last


def outward(blueprint: Blueprint, units: Units, flat: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Flat weights by pathway as matrices by their names, in the data's units."""
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

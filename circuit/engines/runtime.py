"""Engine `numpy`: Brian2 runs inside this process, tick by tick."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.brian2_import import borrow_brian2
from biorrr.circuit.engines.interrupt import hold_interrupt
from biorrr.circuit.engines.network import TICK, BuiltNetwork, CompiledBlocks, build_network
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.recorder import DATA_ROW, Recorder

_LOOK_AHEAD = 4096  # samples whose order is drawn together


class RuntimeEngine:
    """Builds the network once and advances it."""

    def __init__(self, blueprint: Blueprint, name: str = "") -> None:
        with borrow_brian2("numpy"):
            self.built: BuiltNetwork = build_network(blueprint, name)
            self.sample = self.built.compile(blueprint.program.sample)
            self.replay = self.built.compile(blueprint.program.replay)
            self.duration = blueprint.timing.duration
            self.ticks = self._alone()
            # All of a tick is done before what else is in the network looks.
            operation = brian2.NetworkOperation(
                lambda: next(self.ticks, None),
                clock=self.built.clock,
                when="start",
                order=-2000,
                name=f"{name}_tick" if name else "tick",
            )
            self.built.network.add(operation)

    def _alone(self) -> Iterator[None]:
        """Do what happens in samples, tick by tick, with inputs that the user sets."""
        while True:
            for tick in range(self.duration):
                _run(self.sample, tick, self.duration)
                yield

    def begin(self, state: dict[str, np.ndarray]) -> None:
        """Put the network into ``state``, values by "part.variable"."""
        for key, values in state.items():
            self.built.variable(*key.split("."))[:] = values

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``."""
        network = self.built.network
        with (
            borrow_brian2("numpy"),
            np.errstate(all="ignore"),
            hold_interrupt() as interrupted,
        ):
            self.begin(job.state)
            loop = _Loop(job, recorder, self, interrupted)
            self.ticks = loop.ticks()
            try:
                network.run((job.stop - job.start) * job.ticks_per_sample * TICK, namespace={})
                next(self.ticks, None)
            finally:
                self.ticks = self._alone()
            return loop.outcome


class _Loop:
    """The loop over samples, and what is kept of it."""

    outcome: Outcome

    def __init__(
        self, job: Job, recorder: Recorder, engine: RuntimeEngine, interrupted: threading.Event
    ) -> None:
        self.job, self.recorder, self.engine, self.interrupted = job, recorder, engine, interrupted
        blueprint, variable = job.blueprint, engine.built.variable
        self.weights = {p.name: variable(p.name, "w") for p in blueprint.parts.weighted}
        self.state = {key: variable(*key.split(".")) for key in job.state}
        self.inputs = {
            port.name: variable(port.population, port.variable) for port in blueprint.ports
        }
        self.often = blueprint.moving_ports
        self.watched = [variable(*place) for place in blueprint.watched]
        self.sample, self.moment = variable("clock", "sample"), variable("clock", "moment")
        self.elapsed = (
            variable("clock", "elapsed") if blueprint.parts["clock"].has("elapsed") else np.zeros(1)
        )
        self.due = set(job.snapshots.tolist())
        self.done = job.start

    def ticks(self) -> Iterator[None]:
        """Present one sample after another; each ``yield`` ends a tick.

        What is left of the tick in which a run ends early is not part of the run.
        """
        timing, ended = self.job.blueprint.timing, "done"
        for sample, row, replayed, traced in self._samples():
            self.sample[:] = sample
            for tick in range(timing.duration):
                self._show(row, tick)
                self.moment[:] = sample * timing.duration + tick
                _run(self.engine.sample, tick, timing.duration)
                if traced:
                    self._trace(sample, row)
                yield
            for fibre in replayed:
                for tick in range(timing.replay_duration):
                    self._show_alone(fibre, tick)
                    _run(self.engine.replay, tick, timing.replay_duration)
                    yield
            ended = self._end(sample + 1)
            if ended != "done":
                self.engine.built.network.stop()
                break
        self.outcome = Outcome(
            self.done, {key: values.copy() for key, values in self.state.items()}, ended
        )

    def _samples(self) -> Iterator[tuple[int, int, np.ndarray, bool]]:
        """Yield the number of each sample, its row in the data, its replays and whether it is
        traced.
        """
        job = self.job
        for first in range(job.start, job.stop, _LOOK_AHEAD):
            last = min(first + _LOOK_AHEAD, job.stop)
            traced = set(job.recording.samples(first, last).tolist())
            for sample, rows in enumerate(job.presentation.sequence(first, last), first):
                yield sample, rows[0], rows[1:], sample in traced

    def _show(self, row: int, tick: int) -> None:
        """Present a sample, at its ``tick``."""
        for name, activity in self.inputs.items():
            if tick == 0 or name in self.often:
                feed = self.job.feeds[name]
                np.subtract(feed.values[feed.row(row, tick)], feed.mean, out=activity)
                activity *= feed.gain
        self.elapsed[:] = tick

    def _show_alone(self, fibre: int, tick: int) -> None:
        """Present one fibre of the first port, with all others silent."""
        for place, (name, activity) in enumerate(self.inputs.items()):
            if tick == 0 or name in self.often:
                activity[:] = 0.0
                if place == 0:
                    activity[-1 - fibre] = 1.0
        self.elapsed[:] = tick

    def _trace(self, sample: int, row: int) -> None:
        """Hand out what the tick just done has left behind, for a ``row`` of the data."""
        rows = {DATA_ROW: np.array([[row]])}
        for trace in self.job.recording.traces:
            values = self.engine.built.variable(trace.quantity.part, trace.quantity.name)
            rows[trace.label] = np.array(
                values if trace.chosen is None else values[list(trace.chosen)]
            )[None]
        self.recorder.traces.add([sample], rows)

    def _end(self, done: int) -> str:
        """Hand out what ``done`` samples have led to; return how the run ends, "done" if it goes
        on.
        """
        if not np.isfinite(sum(values.sum() for values in self.watched)):
            return "diverged"
        self.done = done
        if done in self.due:
            self.recorder.snapshot(
                [done], {name: values[None] for name, values in self.weights.items()}
            )
        self.recorder.note(done, self.state)
        if done < self.job.stop and (self.recorder.stopped or self.interrupted.is_set()):
            return "stopped" if self.recorder.stopped else "interrupted"
        return "done"


def _run(blocks: CompiledBlocks, tick: int, duration: int) -> None:
    """Do what happens in a ``tick`` of what is presented for so many of them."""
    if tick == 0:
        for operation in blocks["onset"]:
            operation()
    for operation in blocks["tick"]:
        operation()
    if tick + 1 == duration:
        for operation in blocks["end"]:
            operation()

"""Engine `numpy`: Brian2 runs inside this process, tick by tick."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.brian2_import import borrowed_brian2
from biorrr.circuit.engines.interrupt import held_interrupt
from biorrr.circuit.engines.network import TICK, BuiltNetwork, build_network
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.recorder import Recorder

_LOOK_AHEAD = 4096  # samples whose order is drawn together


class RuntimeEngine:
    """Builds the network once and advances it."""

    def __init__(self, blueprint: Blueprint, name: str = "") -> None:
        self.sums = blueprint.sums
        with borrowed_brian2("numpy"):
            self.built: BuiltNetwork = build_network(blueprint, name)

    def begin(self, state: dict[str, np.ndarray]) -> None:
        """Put the network into ``state``, values by "part.variable"."""
        for key, values in state.items():
            self.built.variable(*key.split("."))[:] = values
        for (
            array
        ) in self.sums:  # an earlier run may have left infinities, which no factor of 0 removes
            self.built.variable(array.part, array.name)[:] = 0.0

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``."""
        network = self.built.network
        with (
            borrowed_brian2("numpy"),
            np.errstate(all="ignore"),
            held_interrupt() as interrupted,
        ):
            self.begin(job.state)
            presenter = _Presenter(job, recorder, self.built, interrupted)
            ticks = presenter.ticks()
            operation = brian2.NetworkOperation(
                lambda: next(ticks, None), clock=self.built.clock, when="start", order=-2000
            )
            network.add(operation)
            try:
                network.run((job.stop - job.start) * job.ticks_per_sample * TICK, namespace={})
            finally:
                network.remove(operation)
            next(ticks, None)
            return presenter.outcome


class _Presenter:
    """The work between two ticks: keep what is due of the last one, present the next."""

    outcome: Outcome

    def __init__(
        self, job: Job, recorder: Recorder, built: BuiltNetwork, interrupted: threading.Event
    ) -> None:
        self.job, self.recorder, self.built, self.interrupted = job, recorder, built, interrupted
        blueprint = job.blueprint
        self.weights = {p.name: built.variable(p.name, "w") for p in blueprint.parts.weighted}
        self.state = {key: built.variable(*key.split(".")) for key in job.state}
        self.inputs = {
            port.name: built.variable(port.population, port.variable) for port in blueprint.ports
        }
        self.watched = [built.variable(*place) for place in blueprint.watched]
        self.waking = built.variable("clock", "waking")
        self.due = set(job.snapshots.tolist())
        self.done = job.start

    def ticks(self) -> Iterator[None]:
        """Present tick after tick; all that follows a ``yield`` belongs to the end of that tick.

        What is left of the tick in which a run ends early is not part of the run.
        """
        job, timing, ended = self.job, self.job.blueprint.timing, "done"
        replayed_input = self.inputs[job.blueprint.ports[0].name]
        for sample, row, replayed, traced in self._samples():
            for phase in range(timing.held):
                self._show(row, phase)
                yield
                if traced:
                    self._trace(sample)
            for fibre in np.repeat(replayed, timing.replay_held):
                self._silence()
                replayed_input[-1 - fibre] = 1.0
                yield
            ended = self._end(sample + 1)
            if ended != "done":
                self.built.network.stop()
                break
        self.outcome = Outcome(
            self.done, {key: values.copy() for key, values in self.state.items()}, ended
        )
        self._silence()

    def _samples(self) -> Iterator[tuple[int, int, np.ndarray, bool]]:
        """Yield the number of each sample, its row in the data, its replays and whether it is
        traced.
        """
        job = self.job
        for first in range(job.start, job.stop, _LOOK_AHEAD):
            last = min(first + _LOOK_AHEAD, job.stop)
            traced = set(job.recording.samples(first, last).tolist())
            for sample, shown in enumerate(job.presentation.shown(first, last), first):
                yield sample, shown[0], shown[1:], sample in traced

    def _show(self, row: int, phase: int) -> None:
        """Present tick number ``phase`` of a sample."""
        for name, activity in self.inputs.items():
            feed = self.job.feeds[name]
            np.subtract(feed.values[feed.row(row, phase)], feed.mean, out=activity)
            activity *= feed.gain
        self.waking[:] = 1.0

    def _silence(self) -> None:
        for values in (*self.inputs.values(), self.waking):
            values[:] = 0.0

    def _trace(self, sample: int) -> None:
        """Hand out what the tick just done has left behind."""
        rows = {}
        for trace in self.job.recording.traces:
            values = self.built.variable(trace.quantity.part, trace.quantity.name)
            rows[trace.label] = np.array(
                values if trace.chosen is None else values[list(trace.chosen)]
            )[None]
        self.recorder.trace([sample], rows)

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
        self.recorder.reached(done, self.state)
        if done < self.job.stop and (self.recorder.stopped or self.interrupted.is_set()):
            return "stopped" if self.recorder.stopped else "interrupted"
        return "done"

"""Engines `numpy` and `cython`: Brian2 runs inside this process, tick by tick."""

from __future__ import annotations

import threading

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.brian2_import import borrowed_brian2
from biorrr.circuit.engines.interrupt import held_interrupt
from biorrr.circuit.engines.network import TICK, BuiltNetwork, build_network
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.recorder import Recorder
from biorrr.models.parts import PENDING

_LOOK_AHEAD = 4096  # samples whose order is drawn together


class RuntimeEngine:
    """Builds the network once and advances it."""

    def __init__(self, blueprint: Blueprint, target: str, name: str = "") -> None:
        self.target = target
        self.kept = blueprint.program.kept
        with borrowed_brian2(target):
            self.built: BuiltNetwork = build_network(blueprint, name)

    def begin(self, state: dict[str, np.ndarray]) -> None:
        """Put the network into ``state``, values by "part.variable"."""
        for key, values in state.items():
            self.built.variable(*key.split("."))[:] = values
        for place in self.kept:  # an earlier run may have left infinities, which no factor of 0 removes
            self.built.variable(*place)[:] = 0.0

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``."""
        ticks = (job.stop - job.start) * job.presentation.ticks_per_sample
        network = self.built.network
        with borrowed_brian2(self.target), np.errstate(all="ignore"):
            self.begin(job.state)
            presenter = _Presenter(job, recorder, self.built)
            operation = brian2.NetworkOperation(presenter.next, clock=self.built.clock, when="start", order=-2000)
            network.add(operation)
            try:
                with held_interrupt() as presenter.interrupted:
                    network.run(ticks * TICK, namespace={})
            finally:
                network.remove(operation)
            return presenter.finish()


class _Presenter:
    """The work between two ticks: keep what is due of the last one, present the next."""

    def __init__(self, job: Job, recorder: Recorder, built: BuiltNetwork) -> None:
        self.job, self.recorder, self.stop, self.recorded = job, recorder, built.network.stop, built.recorded
        self.interrupted = threading.Event()
        blueprint = job.blueprint
        self.weights = {p.name: built.variable(p.name, "w") for p in blueprint.weighted}
        self.state = {key: built.variable(*key.split(".")) for key in job.state}
        self.inputs = {port.name: built.variable(port.population, port.variable) for port in blueprint.ports}
        self.watched = [built.variable(*place) for place in blueprint.watched]
        self.waking = built.variable("clock", "waking")
        self.traced = [
            (trace.label, built.variable(trace.quantity.part, trace.quantity.name), trace.chosen)
            for trace in job.recording.traces
        ]
        self.shows_pending = any(trace.quantity.name == PENDING for trace in job.recording.traces)
        self.due = set(job.snapshots.tolist())
        self.tick = 0
        self.done = job.start
        self.ended = "done"
        self.reached: dict[str, np.ndarray] | None = None

    def next(self) -> None:
        self._keep()
        if self.ended != "done":
            self.stop()
            self.reached = self._copied_state()  # what is left of this tick is not part of the run
            self._silence()
            return
        job = self.job
        sample, phase = divmod(self.tick, job.presentation.ticks_per_sample)
        if phase < job.presentation.held:
            if phase == 0 and sample % _LOOK_AHEAD == 0:
                first, last = job.start + sample, min(job.start + sample + _LOOK_AHEAD, job.stop)
                self.shown = job.presentation.shown(first, last)
                self.traced_samples = set(job.recording.samples(first, last).tolist())
            row = self.shown[sample % _LOOK_AHEAD, 0]
            for name, activity in self.inputs.items():
                feed = job.feeds[name]
                np.subtract(feed.values[feed.row(row, phase)], feed.mean, out=activity)
                activity *= feed.gain
            self.waking[:] = 1.0
            if self.shows_pending and job.start + sample in self.traced_samples:
                self.recorded.set()
            else:
                self.recorded.clear()
        else:
            self._silence()
            replay = 1 + (phase - job.presentation.held) // job.presentation.replay_held
            self.inputs[job.presentation.port][-1 - self.shown[sample % _LOOK_AHEAD, replay]] = 1.0
        self.tick += 1

    def _silence(self) -> None:
        for values in (*self.inputs.values(), self.waking):
            values[:] = 0.0

    def _keep(self) -> None:
        """Hand out what the tick just done has left behind."""
        if self.tick == 0:
            return
        job = self.job
        sample, phase = divmod(self.tick - 1, job.presentation.ticks_per_sample)
        if phase < job.presentation.held and job.start + sample in self.traced_samples:
            rows = {
                label: np.array(values if chosen is None else values[list(chosen)])[None]
                for label, values, chosen in self.traced
            }
            self.recorder.trace([job.start + sample], rows)
        if phase == job.presentation.ticks_per_sample - 1:
            if not np.isfinite(sum(values.sum() for values in self.watched)):
                self.ended = "diverged"
                return
            self.done = job.start + sample + 1
            if self.done in self.due:
                self.recorder.snapshot(self.done, {k: v.copy() for k, v in self.weights.items()})
            if self.done < job.stop and (self.recorder.stopped or self.interrupted.is_set()):
                self.ended = "stopped" if self.recorder.stopped else "interrupted"
            self.recorder.reached(self.done, self.state)

    def finish(self) -> Outcome:
        if self.reached is None:
            self._keep()
        return Outcome(self.done, self.reached or self._copied_state(), self.ended)

    def _copied_state(self) -> dict[str, np.ndarray]:
        return {key: values.copy() for key, values in self.state.items()}

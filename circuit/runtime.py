"""Engines `numpy` and `cython`: Brian2 runs inside this process, tick by tick."""

from __future__ import annotations

import threading

import brian2
import numpy as np

from biorrr.circuit.assembly import TICK, Assembly, assemble
from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.interrupt import held_interrupt
from biorrr.circuit.job import Job, Outcome
from biorrr.circuit.loan import borrowed_brian2
from biorrr.circuit.recorder import Recorder

_LOOK_AHEAD = 4096  # samples whose order is drawn together


class RuntimeEngine:
    """Builds the network once and advances it."""

    def __init__(self, blueprint: Blueprint, target: str) -> None:
        self.blueprint, self.target = blueprint, target
        with borrowed_brian2("runtime", target=target):
            self.assembly: Assembly = assemble(blueprint)

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``."""
        for name, values in job.state.items():
            self.assembly.variable(*name.split("."))[:] = values
        presenter = _Presenter(job, recorder, self.assembly)
        operation = brian2.NetworkOperation(presenter.next, clock=self.assembly.clock, when="start", order=-1)
        self.assembly.network.add(operation)
        ticks = (job.stop - job.start) * job.presentation.ticks_per_sample
        try:
            with (
                borrowed_brian2("runtime", target=self.target),
                np.errstate(all="ignore"),
                held_interrupt() as presenter.interrupted,
            ):
                self.assembly.network.run(ticks * TICK, namespace={})
        finally:
            self.assembly.network.remove(operation)
        return presenter.finish()


class _Presenter:
    """What happens between two ticks: keep what is due of the last one, present the next."""

    def __init__(self, job: Job, recorder: Recorder, assembly: Assembly) -> None:
        self.job, self.recorder, self.stop = job, recorder, assembly.network.stop
        self.interrupted = threading.Event()
        self.weights = {p.name: assembly.variable(p.name, "w") for p in job.blueprint.pathways}
        self.state = {name: assembly.variable(*name.split(".")) for name in job.state}
        self.x, self.y = assembly.variable("sensory", "x"), assembly.variable("instructive", "y")
        self.z, self.plateau = (assembly.variable("pyramidal", name) for name in ("z", "plateau"))
        self.waking = assembly.variable("neuromodulator", "waking")
        holders = job.blueprint.traces
        self.traced = {name: assembly.variable(holders[name].name, name) for name in job.record}
        self.due = set(job.snapshots.tolist())
        self.tick = 0
        self.done = job.start
        self.ended = "done"

    def next(self) -> None:
        self._keep()
        if self.ended != "done":
            self.stop()
            # Nothing must change in what is left of this tick.
            self.x[:], self.y[:], self.waking[:] = 0.0, 0.0, 0.0
            return
        job = self.job
        sample, phase = divmod(self.tick, job.presentation.ticks_per_sample)
        if phase < job.presentation.held:
            if phase == 0 and sample % _LOOK_AHEAD == 0:
                first, last = job.start + sample, min(job.start + sample + _LOOK_AHEAD, job.stop)
                self.ticks = job.presentation.ticks(first, last).reshape(last - first, -1)
                self.noise = job.presentation.input_noise(first, last)
            row = self.ticks[sample % _LOOK_AHEAD, 0]
            np.subtract(job.X[row], job.mean_x, out=self.x)
            np.subtract(job.Y[row], job.mean_y, out=self.y)
            self.x *= job.gain_x
            self.y *= job.gain_y
            if self.noise is not None:
                self.x += self.noise[sample % _LOOK_AHEAD]
            self.waking[:] = 1.0
        else:
            self.x[:], self.y[:], self.waking[:] = 0.0, 0.0, 0.0
            self.x[-1 - self.ticks[sample % _LOOK_AHEAD, phase]] = 1.0
        self.tick += 1

    def _keep(self) -> None:
        """Hand out what the tick just done has left behind."""
        if self.tick == 0:
            return
        job = self.job
        sample, phase = divmod(self.tick - 1, job.presentation.ticks_per_sample)
        if phase < job.presentation.held and job.record and (job.start + sample - job.origin) % job.every == 0:
            self.recorder.trace([job.start + sample], {k: v.copy()[None] for k, v in self.traced.items()})
        if phase == job.presentation.ticks_per_sample - 1:
            if not np.isfinite(self.z.sum() + self.plateau.sum()):
                self.ended = "diverged"
                return
            self.done = job.start + sample + 1
            if self.done in self.due:
                self.recorder.snapshot(self.done, {k: v.copy() for k, v in self.weights.items()})
            if self.done < job.stop and (self.recorder.stopped or self.interrupted.is_set()):
                self.ended = "stopped" if self.recorder.stopped else "interrupted"
            self.recorder.reached(self.done, self.state)

    def finish(self) -> Outcome:
        if self.ended == "done":
            self._keep()
        return Outcome(self.done, {name: values.copy() for name, values in self.state.items()}, self.ended)

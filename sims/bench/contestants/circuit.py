"""The circuit itself, synapse by synapse, on engine `cpp`."""

from __future__ import annotations

import numpy as np

from biorrr.circuit.blueprint import Blueprint, as_synapses
from biorrr.circuit.job import Job
from biorrr.circuit.presentation import Presentation
from biorrr.circuit.recorder import Recorder
from biorrr.circuit.standalone import StandaloneEngine
from biorrr.sims.bench.contestants.task import Task


def prepare(task: Task):
    """Build the circuit, or find it in the cache.

    The engine is called as :class:`~biorrr.circuit.Microcircuit` calls it, past the latter's check that k is a rank
    the data can have: speed does not depend on it.
    """
    blueprint = Blueprint.of_microcircuit(task.m, task.n, task.k, task.k)
    engine = StandaloneEngine(blueprint)
    pathways = {p.name: p for p in blueprint.pathways}
    start = {name: as_synapses(p, getattr(task, p.weight)) for name, p in pathways.items()}
    parameters = {"sample": -1.0, "s": 0.0, "ridge_y": 0.0, "replay_gain": 0.0}
    for path, rate in (("x", 0), ("y", 1), ("q", 2), ("r", 2)):
        parameters |= {f"eta0_{path}": task.eta0[rate], f"N_{path}": task.N[rate]}
    state = {
        f"{part}.{variable}": start[part] if variable == "w" else np.array([parameters[variable]])
        for part, variable, _ in blueprint.state
    }

    def run(order):
        job = Job(
            blueprint=blueprint,
            presentation=Presentation(task.n_samples, task.m, order, replay=0, noise=0.0, seed=0),
            X=task.X, Y=task.Y, mean_x=np.zeros(task.m), mean_y=np.zeros(task.n), gain_x=1.0, gain_y=1.0,
            start=0, stop=len(order), state=state, record=(), every=1, origin=0, snapshots=np.array([len(order)]),
        )  # fmt: skip
        outcome = engine.advance(job, Recorder(()))
        if outcome.ended != "done":
            raise RuntimeError(f"the circuit {outcome.ended} after {outcome.samples} of {len(order)} samples")
        return blueprint.matrices({name: outcome.state[f"{name}.w"] for name in pathways})

    return run

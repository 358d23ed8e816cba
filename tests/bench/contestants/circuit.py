"""The circuit itself, synapse by synapse, on engine `cpp`."""

from __future__ import annotations

from typing import Any

import numpy as np
from contestants.task import Task

from biorrr.circuit import Microcircuit
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.prepare import Beginning, initial_state
from biorrr.circuit.simulation.saving import Recording
from biorrr.circuit.simulation.simulate import simulate
from biorrr.circuit.stimulus.feeds import Feed, facts_of
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.models import Rate, Rates


def prepare(task: Task):
    """Build the circuit, or find it in the cache.

    The job is simulated as :class:`~biorrr.circuit.Microcircuit` simulates it, past the latter's
    check that k is a rank the data can have: speed does not depend on it.
    """
    rates = Rates(*(Rate(eta0, N) for eta0, N in zip(task.eta0, task.N, strict=True)))
    options: dict[str, Any] = {
        "rates": rates,
        "departures": task.departures,
        "engine": "cpp",
        **task.circuit_options,
    }
    circuit = Microcircuit(task.k, **options)
    blueprint = circuit.blueprint(task.m, task.n)
    circuit.engines.get("cpp", blueprint)
    start = {p.weight: getattr(task, p.weight) for p in blueprint.parts.weighted}
    state = initial_state(blueprint, Beginning(), 0, start)
    feeds = {
        "x": Feed(task.X, facts_of("X", task.X)),
        "y": Feed(task.Y, facts_of("Y", task.Y)),
    }

    replay = task.circuit_options.get("replay", 0)

    def run(order):
        job = Job(
            blueprint=blueprint,
            presentation=Presentation(task.n_samples, task.m, order, replay=replay, seed=0),
            feeds=feeds,
            start=0,
            stop=len(order),
            state=state,
            recording=Recording(np.array([len(order)])),
            circuit=circuit,
        )
        outcome = simulate(job)
        if outcome.ended != "done":
            raise RuntimeError(
                f"the circuit {outcome.ended} after {outcome.samples} of {len(order)} samples"
            )
        return blueprint.matrices(
            {p.name: outcome.state[f"{p.name}.w"] for p in blueprint.parts.weighted}
        )

    return run

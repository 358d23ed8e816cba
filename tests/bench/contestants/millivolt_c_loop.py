"""The hand-written C loop of the circuit in millivolts, over all cells and all ticks for which a
sample is held.
"""

from __future__ import annotations

import ctypes

from contestants.c_loop import array, compiled, indices
from contestants.task import MillivoltTask

from biorrr.models import Population


def prepare(task: MillivoltTask):
    """Compile for the sizes and the cells of ``task``."""
    made = task.cells
    constants = {
        "M": task.m,
        "N": task.n,
        "K": task.k,
        "L": task.k,
        "CELLS": made.population,
        "OTHERS": made.interneuron_population,
        "TICKS": made.duration,
        "LATENCY": made.latency / made.dt,
        "DT": made.dt,
        "FILTER": made.filter,
        "HOMEOSTASIS": made.homeostasis,
        "REST_SOMA": made.rest_soma,
        "GAIN_SOMA": made.gain_soma,
        "REST_DENDRITE": made.rest_dendrite,
        "GAIN_DENDRITE": made.gain_dendrite,
        "REST_INTERNEURON": made.rest_interneuron,
        "GAIN_INTERNEURON": made.gain_interneuron,
        "EVENT_GAIN": made.event_slope * made.gain_soma,
        "BURST_GAIN": made.burst_slope * made.gain_dendrite,
        "SPIKE_GAIN": made.spike_slope * made.gain_interneuron,
        **_parameters("PYR", made.cell),
        **_parameters("SST", made.interneuron),
    }
    learn = compiled("millivolt_loop.c", constants)
    learn.argtypes = [array, array, indices, ctypes.c_int64, *6 * [array]]

    def run(order):
        Vx, Vy, Q, R = task.weights()
        Q, R = Q.T.copy(), R.T.copy()  # source by target, as the circuit keeps them
        learn(task.X, task.Y, order, len(order), Vx, Vy, Q, R, task.eta0, task.N)
        return {"Vx": Vx, "Vy": Vy, "Q": Q.T, "R": R.T}

    return run


def _parameters(prefix: str, cells: Population) -> dict[str, float]:
    """Constants of C: the parameters that are plain numbers."""
    return {
        f"{prefix}_{variable.name}": variable.value
        for variable in cells.variables
        if variable.role == "parameter" and isinstance(variable.value, float)
    }

"""The hand-written C loop of a circuit whose cells have membranes, over all ticks for which a
sample is held.
"""

from __future__ import annotations

import ctypes

import numpy as np
from contestants.c_loop import array, compiled, indices
from contestants.task import HeldTask


def prepare(task: HeldTask):
    """Compile for the sizes of ``task``."""
    constants = {
        "M": task.m,
        "N": task.n,
        "K": task.k,
        "L": task.k,
        "TICKS": task.ticks,
        "SPIKING": int(task.spiking),
    }
    learn = compiled("leaky_loop.c", constants)
    learn.argtypes = [array, array, indices, ctypes.c_int64, *7 * [array], ctypes.c_double]
    dynamics = task.dynamics
    taus = (
        dynamics.tau_soma,
        dynamics.tau_dendrite,
        dynamics.tau_interneuron,
        dynamics.tau_plateau,
    )
    relaxation = 1 - np.exp(-dynamics.dt / np.array(taus))

    def run(order):
        Vx, Vy, Q, R = task.weights()
        Q, R = Q.T.copy(), R.T.copy()  # source by target, as the circuit keeps them
        learn(task.X, task.Y, order, len(order), Vx, Vy, Q, R, task.eta0, task.N, relaxation, 0.0)
        return {"Vx": Vx, "Vy": Vy, "Q": Q.T, "R": R.T}

    return run

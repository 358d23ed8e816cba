"""The hand-written C loop of an area with apical feedback, over all ticks in which a sample
settles.
"""

from __future__ import annotations

import ctypes

from contestants.c_loop import array, compiled, indices
from contestants.task import SettledTask


def prepare(task: SettledTask):
    """Compile for the sizes of ``task``."""
    learn = compiled("settled_loop.c", {"M": task.m, "N": task.n, "K": task.k, "TICKS": task.ticks})
    learn.argtypes = [array, array, indices, ctypes.c_int64, *6 * [array], ctypes.c_double]

    def run(order):
        Vx, Vy, Q, R = task.weights()
        Q, R = Q.T.copy(), R.T.copy()  # source by target, as the circuit keeps them
        learn(task.X, task.Y, order, len(order), Vx, Vy, Q, R, task.eta0, task.N, task.feedback)
        return {"Vx": Vx, "Vy": Vy, "Q": Q.T, "R": R.T}

    return run

"""The plain NumPy loop over samples: Alg. 2 with R's own weights, at s = 0."""

from __future__ import annotations

import numpy as np
from contestants.task import Task


def learn(X, Y, order, Vx, Vy, Q, R, eta0, N):
    """Change the weights in place, one sample after another; shapes as in :class:`Task`."""
    for t in range(len(order)):
        x, y = X[order[t]], Y[order[t]]
        eta = eta0 / (1 + t / N)
        z, a = x @ Vx, y @ Vy
        n = R @ z
        plateau = a - Q @ n
        Vx += np.outer(eta[0] * x, plateau)
        Vy += eta[1] * (np.outer(y, z) - Vy)
        Q += eta[2] * (np.outer(z, n) - Q)
        R += eta[2] * (np.outer(n, z) - R)


def prepare(task: Task, learn=learn):
    """The loop as it stands, or another with the same arguments."""

    def run(order):
        weights = task.weights()
        learn(task.X, task.Y, order, *weights, task.eta0, task.N)
        return dict(zip(("Vx", "Vy", "Q", "R"), weights, strict=True))

    return run

"""The same equations as explicit loops compiled by numba, which is faster than compiling the matrix
products.
"""

from __future__ import annotations

import numba
import numpy as np
from contestants import matrix_loop
from contestants.task import Task


@numba.njit(fastmath=True)
def _learn(X, Y, order, Vx, Vy, Q, R, eta0, N):
    m, k = Vx.shape
    z, a, n, plateau = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for t in range(len(order)):
        x, y = X[order[t]], Y[order[t]]
        eta_x, eta_y, eta_q = (
            eta0[0] / (1 + t / N[0]),
            eta0[1] / (1 + t / N[1]),
            eta0[2] / (1 + t / N[2]),
        )
        z[:], a[:], n[:], plateau[:] = 0.0, 0.0, 0.0, 0.0
        for i in range(m):
            for j in range(k):
                z[j] += Vx[i, j] * x[i]
        for i in range(len(Vy)):
            for j in range(k):
                a[j] += Vy[i, j] * y[i]
        for i in range(k):
            for j in range(k):
                n[i] += R[i, j] * z[j]
        for i in range(k):
            for j in range(k):
                plateau[i] -= Q[i, j] * n[j]
            plateau[i] += a[i]
        for i in range(m):
            for j in range(k):
                Vx[i, j] += eta_x * x[i] * plateau[j]
        for i in range(len(Vy)):
            for j in range(k):
                Vy[i, j] += eta_y * (y[i] * z[j] - Vy[i, j])
        for i in range(k):
            for j in range(k):
                Q[i, j] += eta_q * (z[i] * n[j] - Q[i, j])
                R[i, j] += eta_q * (n[i] * z[j] - R[i, j])


def prepare(task: Task):
    """Compile by learning one sample."""
    run = matrix_loop.prepare(task, _learn)
    run(task.order(1))
    return run

"""The same equations as a JAX `lax.scan`, in double precision and on one thread."""

from __future__ import annotations

import os

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
from contestants.task import Task

jax.config.update("jax_enable_x64", True)


def prepare(task: Task):
    """Compiles anew for every number of samples, at the first call with it."""
    X, Y, eta0, N = map(jnp.asarray, (task.X, task.Y, task.eta0, task.N))

    def step(weights, moment):
        Vx, Vy, Q, R = weights
        t, row = moment
        x, y = X[row], Y[row]
        eta = eta0 / (1 + t / N)
        z, a = x @ Vx, y @ Vy
        n = R @ z
        plateau = a - Q @ n
        return (
            Vx + jnp.outer(eta[0] * x, plateau),
            Vy + eta[1] * (jnp.outer(y, z) - Vy),
            Q + eta[2] * (jnp.outer(z, n) - Q),
            R + eta[2] * (jnp.outer(n, z) - R),
        ), None

    scan = jax.jit(lambda weights, moments: jax.lax.scan(step, weights, moments)[0])

    def run(order):
        weights = scan(
            tuple(map(jnp.asarray, task.weights())), (jnp.arange(len(order)), jnp.asarray(order))
        )
        return dict(zip(("Vx", "Vy", "Q", "R"), map(np.asarray, weights), strict=True))

    return run

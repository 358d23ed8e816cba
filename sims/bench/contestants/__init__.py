"""The circuit's equations, written the ways a person might write them instead: what `biorrr bench` races against.

Each module has one function ``prepare(task)``. It does all that is done once, compiling included, and returns a
function that learns the samples of an index array from the task's start and returns the weights.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable

import numpy as np

from biorrr.sims.bench.contestants.task import Task

Learner = Callable[[int], dict[str, np.ndarray]]

# In the order of the table: module, and what it is called there.
CONTESTANTS = {
    "matrix_loop": "NumPy",
    "numba_loop": "numba",
    "jax_scan": "JAX scan",
    "c_loop": "C",
    "circuit": "circuit",
}


def prepare(task: Task, names: Iterable[str] = CONTESTANTS) -> dict[str, Learner]:
    """Make contestants ready for ``task``: each learns as many samples as it is told and returns the weights.

    The one that needs JAX is left out where that is not installed.
    """
    learners: dict[str, Learner] = {}
    for name in names:
        try:
            module = importlib.import_module(f"biorrr.sims.bench.contestants.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != "jax":
                raise
            continue
        learners[name] = _of_length(module.prepare(task), task)
    return learners


def _of_length(learn: Callable[[np.ndarray], dict[str, np.ndarray]], task: Task) -> Learner:
    return lambda samples: learn(task.order(samples))

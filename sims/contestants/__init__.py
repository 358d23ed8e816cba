"""The circuit's equations, written the ways a person might write them instead: what `biorrr bench` races against.

Each module has one function ``prepare(task)``. It does all that is done once, compiling included, and returns a
function that learns the samples of an index array from the task's start and returns the weights.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np

from biorrr.sims.contestants.task import Task

Learner = Callable[[np.ndarray], dict[str, np.ndarray]]

# In the order of the table: module, and what it is called there.
CONTESTANTS = {
    "matrix_loop": "NumPy",
    "numba_loop": "numba",
    "jax_scan": "JAX scan",
    "c_loop": "C",
    "circuit": "circuit",
}


def prepare(name: str, task: Task) -> Learner | None:
    """The contestant called ``name``, ready to learn ``task``; None where what it needs is not installed."""
    try:
        module = importlib.import_module(f"biorrr.sims.contestants.{name}")
    except ModuleNotFoundError as missing:
        if missing.name in ("jax", "numba"):
            return None
        raise
    return module.prepare(task)

"""The circuit's equations, written in other ways: the code that ``biorrr bench`` races against.

The contestants themselves are not installed. They are modules of this one, in the folder
tests/bench/contestants of a clone. Each has one function ``prepare(task)``, which does all that is
done once, compiling included, and returns a function that learns the samples of an index array from
the task's start and returns the weights.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab.settings import SettingsError

if TYPE_CHECKING:
    import numpy as np

__path__ = [str(Path(__file__).parents[2] / "tests" / "bench" / "contestants")]

Learner = Callable[[int], dict[str, "np.ndarray"]]

# In the order of the table: module, and label in the table.
CONTESTANTS = {
    "matrix_loop": "NumPy",
    "numba_loop": "numba",
    "jax_scan": "JAX scan",
    "c_loop": "C",
    "circuit": "circuit",
}


def check_installed() -> None:
    """Check that the contestants are here, which only a clone has."""
    if not Path(*__path__).is_dir():
        raise SettingsError(
            "bench: its contestants are in a clone of the repository only (got no folder"
            f" {Path(*__path__)}); clone it and `pip install --editable .` there"
        )


def prepare(task: Any, names: Iterable[str] = CONTESTANTS) -> dict[str, Learner]:
    """Return contestants ready for ``task``: each learns the given number of samples and returns
    the weights.

    The one that needs JAX is left out where JAX is not installed.
    """
    learners: dict[str, Learner] = {}
    for name in names:
        try:
            module = importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != "jax":
                raise
            continue
        learners[name] = _of_length(module.prepare(task), task)
    return learners


def _of_length(learn: Callable[[np.ndarray], dict[str, np.ndarray]], task: Any) -> Learner:
    return lambda samples: learn(task.order(samples))

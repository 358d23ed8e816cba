"""Whether the time per synapse stays the same as circuits grow, and what bounds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.contestants import prepare
from biorrr.sims.contestants.task import Task
from biorrr.sims.measures.goal import Goal
from biorrr.sims.measures.slope import slopes, undisturbed_seconds

_K = 8
_WITHIN_CACHES = 1e6  # synapses: 8 MB of weights
_BYTES_PER_SYNAPSE = 24  # read for the current; read and written by the rule


def growth(synapses: list[int], seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Nanoseconds per synapse and sample of circuit and C at each number of ``synapses``, with the memory's limit."""
    rows = []
    for wanted in synapses:
        inputs = max(wanted // _K - 2 * _K, 2 * _K) // 2
        task = Task(inputs, inputs, _K, n_samples=max(8, min(1000, 2_000_000 // inputs)))
        learners = {name: prepare(name, task) for name in ("c_loop", "circuit")}
        runs = {name: lambda n, learner=learner: learner(task.order(n)) for name, learner in learners.items()}  # noqa: B023
        # A large circuit takes longer to start, which must not drown what is measured.
        found = slopes(runs, seconds * max(1.0, wanted / 1e5) ** 0.75, repeats)
        rows.append(
            {"synapses": task.synapses}
            | {name: float(1e9 * np.median(values) / task.synapses) for name, values in found.items()}
        )
    within = [row["circuit"] for row in rows if row["synapses"] < 1.1 * _WITHIN_CACHES]
    goal = Goal("time per synapse, largest over smallest, 1e3 to 1e6 synapses", max(within) / min(within), 2.0)
    return {
        "nanoseconds_per_synapse": rows,
        "bandwidth_limit": 1e9 * _BYTES_PER_SYNAPSE / memory_bandwidth(),
    }, [goal]


def memory_bandwidth() -> float:
    """Bytes per second that one thread reads and writes far beyond the caches."""
    values = np.zeros(2**25)
    took = [undisturbed_seconds(lambda: np.add(values, 1.0, out=values)) for _ in range(7)]
    return float(2 * values.nbytes / np.median(took))

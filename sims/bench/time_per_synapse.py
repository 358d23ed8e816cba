"""Time per synapse as circuits grow, and the bound that memory sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.bench.contestants import prepare
from biorrr.sims.bench.contestants.task import Task
from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import slopes, undisturbed_seconds

_SYNAPSES = (1_000, 10_000, 100_000, 1_000_000)
_K = 8
_BYTES_PER_SYNAPSE = 24  # read for the current; read and written by the rule


def time_per_synapse(seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Return nanoseconds per synapse and sample of circuit and C at each of ``_SYNAPSES``, with the memory's limit."""
    rows = []
    for wanted in _SYNAPSES:
        inputs = max(wanted // _K - 2 * _K, 2 * _K) // 2
        task = Task(inputs, inputs, _K, n_samples=max(8, min(1000, 2_000_000 // inputs)))
        # A large circuit takes longer to start, which must not drown what is measured.
        found = slopes(prepare(task, ("c_loop", "circuit")), seconds * max(1.0, wanted / 1e5) ** 0.75, repeats)
        rows.append(
            {"synapses": task.synapses}
            | {name: float(1e9 * np.median(values) / task.synapses) for name, values in found.items()}
        )
    times = [row["circuit"] for row in rows]
    goal = Goal("time per synapse, largest over smallest, 1e3 to 1e6 synapses", max(times) / min(times), 2.0)
    return {
        "nanoseconds_per_synapse": rows,
        "bandwidth_limit": 1e9 * _BYTES_PER_SYNAPSE / memory_bandwidth(),
    }, [goal]


def memory_bandwidth() -> float:
    """Return the bytes per second that one thread reads and writes far beyond the caches."""
    values = np.zeros(2**25)
    took = [undisturbed_seconds(lambda: np.add(values, 1.0, out=values)) for _ in range(7)]
    return float(2 * values.nbytes / np.median(took))

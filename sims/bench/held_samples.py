"""How fast a circuit is whose samples are held for many ticks, beside a C loop that computes nothing twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.bench.contestants import prepare
from biorrr.sims.bench.contestants.task import HeldTask
from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import ratio, slopes

HELD_SIZES = ("64x10x2", "100x120x4", "784x10x10")  # inputs x instructions x outputs
_TIMES_C = 3.0


def held_samples(
    size: str, spiking: bool, seconds: float, repeats: int, ticks: int = 200
) -> tuple[dict[str, Any], list[Goal]]:
    """Race circuit and C at one size, m x n x k: inputs stand still while a sample is held, or spike in every tick."""
    m, n, k = map(int, size.split("x"))
    learners = prepare(HeldTask(m, n, k, ticks=ticks, spiking=spiking), ("leaky_c_loop", "circuit"))
    weights = {name: learn(5) for name, learn in learners.items()}
    difference = max(
        float(np.abs(weights["circuit"][matrix] - values).max()) for matrix, values in weights["leaky_c_loop"].items()
    )
    found = slopes(learners, seconds, repeats)
    inputs = "inputs that spike" if spiking else "held inputs"
    return {
        "size": size,
        "ticks": ticks,
        "inputs": inputs,
        "microseconds": {name: float(1e6 * np.median(values)) for name, values in found.items()},
        "repeats": {name: (1e6 * values).tolist() for name, values in found.items()},
        "largest_difference_of_weights": difference,
    }, [Goal(f"{size}, {ticks} ticks of {inputs}: circuit over C", ratio(found, "circuit", "leaky_c_loop"), _TIMES_C)]

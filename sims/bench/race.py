"""How fast the circuit is beside what a person would write instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.bench.contestants import CONTESTANTS, prepare
from biorrr.sims.bench.contestants.task import Task
from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import ratio, slopes

_TIMES_C = 3.0


def race(size: str, seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Race all contestants at one size, m x n x k; microseconds per sample of each, and the goals."""
    task = Task(*map(int, size.split("x")))
    learners = prepare(task)
    weights = {name: learn(50) for name, learn in learners.items()}
    difference = max(
        float(np.abs(weights[name][matrix] - weights["matrix_loop"][matrix]).max())
        for name in learners
        for matrix in ("Vx", "Vy", "Q", "R")
    )
    found = slopes(learners, seconds, repeats)
    goals = [
        Goal(
            f"{size}: circuit over {CONTESTANTS[other]}",
            ratio(found, "circuit", other) if other in found else None,
            _TIMES_C if other == "c_loop" else 1.0,
            "" if other in found else "not installed here: pip install biorrr[bench]",
        )
        for other in CONTESTANTS
        if other != "circuit"
    ]
    return {
        "size": size,
        "microseconds": {name: float(1e6 * np.median(values)) for name, values in found.items()},
        "repeats": {name: (1e6 * values).tolist() for name, values in found.items()},
        "largest_difference_of_weights": difference,
    }, goals

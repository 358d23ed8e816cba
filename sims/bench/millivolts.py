"""How fast the circuit in millivolts is, beside a C loop of the same cells and beside Brian2 as it comes."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.bench.contestants import prepare
from biorrr.sims.bench.contestants.task import MillivoltTask
from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import ratio, slopes

# Contestants beside the circuit: what they are called, and the largest ratio that reaches the goal.
_OTHERS = {"millivolt_c_loop": ("C", 3.0), "stock_brian2": ("stock Brian2", 1.0)}


def millivolts(size: str, seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Race circuit, C and stock Brian2 at one size, m x n x k; only the first two draw the same random numbers."""
    m, n, k = map(int, size.split("x"))
    task = MillivoltTask(m, n, k)
    learners = prepare(task, ("circuit", *_OTHERS))
    # A spike is a threshold: after very many samples a rounding may flip one, and all that follows is other.
    weights = {name: learners[name](50) for name in ("circuit", "millivolt_c_loop")}
    found = slopes(learners, seconds, repeats)
    return {
        "size": size,
        "ticks": task.cells.held,
        "cells": k * task.cells.population,
        "interneurons": k * task.cells.interneuron_population,
        "microseconds": {name: float(1e6 * np.median(values)) for name, values in found.items()},
        "repeats": {name: (1e6 * values).tolist() for name, values in found.items()},
        "largest_difference_of_weights": max(
            float(np.abs(weights["circuit"][name] - w).max()) for name, w in weights["millivolt_c_loop"].items()
        ),
    }, [
        Goal(f"{size} in millivolts: circuit over {label}", ratio(found, "circuit", other), limit)
        for other, (label, limit) in _OTHERS.items()
    ]

"""How fast an area with apical feedback is, whose samples settle, beside a C loop of the same ticks."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.bench.contestants import prepare
from biorrr.sims.bench.contestants.task import SettledTask
from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import ratio, slopes

_TIMES_C = 3.0


def settling(seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Microseconds per sample of both, in one area of 64 x 10 x 4 that settles in 100 ticks; and the goal."""
    task = SettledTask(64, 10, 4)
    learners = prepare(task, ("settled_c_loop", "circuit"))
    weights = {name: learn(50) for name, learn in learners.items()}
    found = slopes(learners, seconds, repeats)
    times = ratio(found, "circuit", "settled_c_loop")
    return {
        "size": "64x10x4",
        "ticks": task.ticks,
        "microseconds": {name: float(1e6 * np.median(values)) for name, values in found.items()},
        "largest_difference_of_weights": max(
            float(np.abs(weights["circuit"][name] - w).max()) for name, w in weights["settled_c_loop"].items()
        ),
    }, [Goal("64x10x4 settling: circuit over C", times, _TIMES_C)]

"""What a run costs beyond the simulation itself: the process around it, and recording."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates
from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import ratio, slopes, suitable_length, wall_seconds

_CELLS = ("z", "a", "n", "inhibition", "plateau")


def _runner(size: str, record: tuple[str, ...] = ()) -> Callable[[int], object]:
    """A function that runs a circuit of this size for so many samples."""
    m, n, k = map(int, size.split("x"))
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((1000, m)), rng.standard_normal((1000, n))
    circuit = Microcircuit(k=k, engine="cpp", rates=Rates(x=Rate(0.01 / m), y=Rate(1e-3), q=Rate(1e-3)))

    def run(samples: int) -> object:
        order = np.arange(samples) % len(X)
        return circuit.run(X, Y, order=order, record=record, every=100, snapshots=1, progress=False)

    return run


def whole_process(size: str, seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Time per sample of a whole run over that of the compiled program alone, both as slopes."""
    run = _runner(size)
    long = suitable_length(run, seconds, shortest=2000)
    ratios: list[float] = []
    for _ in range(repeats):
        whole, inside = [], []
        for samples in (long // 4, long):
            with _stopwatch() as spent:
                whole.append(wall_seconds(lambda: run(samples)))  # noqa: B023
            inside.append(sum(spent))
        # Less for more samples is no measurement: other work has disturbed it, or no program was seen to run.
        if whole[0] < whole[1] and inside[0] < inside[1]:
            ratios.append((whole[1] - whole[0]) / (inside[1] - inside[0]))
    measured = float(np.median(ratios)) if ratios else None
    note = "" if ratios else "more samples never took longer"
    goal = Goal(f"{size}: whole process over its simulation loop", measured, 1.2, note)
    return {"size": size, "repeats": ratios}, [goal]


def recording(seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Time per sample with traces kept at every 100th sample, of cells or of inputs too, over that with none."""
    kept = {"none": (), "cells": _CELLS, "cells and inputs": ("x", "y", *_CELLS)}
    found = slopes({name: _runner("100x120x4", record) for name, record in kept.items()}, seconds, repeats)
    return {name: (1e6 * values).tolist() for name, values in found.items()}, [
        Goal(f"100x120x4: traces of {name} at every 100th sample over none", ratio(found, name, "none"), 1.2)
        for name in ("cells", "cells and inputs")
    ]


@contextmanager
def _stopwatch() -> Iterator[list[float]]:
    """Collects the wall time of every program that is run meanwhile."""
    spent: list[float] = []
    original = subprocess.run

    def timed(*args, **kwds):
        began = time.perf_counter()
        try:
            return original(*args, **kwds)
        finally:
            spent.append(time.perf_counter() - began)

    with mock.patch.object(subprocess, "run", timed):
        yield spent

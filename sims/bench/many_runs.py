"""How long many runs take at once: the 30 of the paper's figure, in two processes, builds included."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import resource
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import wall_seconds

_RIDGE = 0.1  # the paper's
_PROCESSES = 2


def many_runs(samples: int, seeds: int = 5) -> tuple[dict[str, Any], list[Goal]]:
    """Seconds for ``seeds`` x k = 1, 2, 4 x s = 0, 1 on MediaMill with the paper's rates, ``samples`` each."""
    from biorrr.sims.data import load
    from biorrr.sims.data.dataset import DataError

    try:
        data, name = load("mediamill"), "mediamill"
    except (DataError, OSError):
        data, name = load("synthetic"), "synthetic, MediaMill is not here"
    runs = list(itertools.product(range(seeds), (0.0, 1.0), (1, 2, 4)))
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, BIORRR_CACHE=folder):
        np.save(Path(folder) / "X.npy", data.X)
        np.save(Path(folder) / "Y.npy", data.Y)
        context = multiprocessing.get_context("spawn")

        def together() -> None:
            with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool:
                for future in [pool.submit(_run, folder, samples, *run) for run in runs]:
                    future.result()

        before = _processor_seconds()
        took = wall_seconds(together)
        worked = _processor_seconds() - before
        builds = len([path for path in (Path(folder) / "circuits").iterdir() if path.is_dir()])
    note = f"{len(runs)} runs of {samples} samples, {builds} builds, {worked:.0f} s of processor time, data: {name}"
    return {"seconds": took, "processor_seconds": worked, "runs": len(runs), "builds": builds, "data": name}, [
        Goal("the paper's figure on two cores, builds included, seconds", took, 90.0, note)
    ]


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run(folder: str, samples: int, seed: int, s: float, k: int) -> None:
    from biorrr.circuit import Microcircuit
    from biorrr.models import Rates

    X, Y = (np.load(Path(folder) / f"{view}.npy", mmap_mode="r") for view in "XY")
    circuit = Microcircuit(k=k, s=s, rates=Rates.paper("mediamill", s=s, k=k), ridge=_RIDGE, engine="cpp", seed=seed)
    order = np.random.default_rng(seed).integers(0, len(X), samples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        circuit.run(X, Y, order=order, centre=True, progress=False)

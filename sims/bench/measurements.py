"""All that ``biorrr bench`` measures, one question after another."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biorrr.sims.bench import BenchSettings
    from biorrr.sims.bench.goal import Goal


def measure(settings: BenchSettings) -> tuple[dict[str, Any], list[Goal]]:
    """Return all measurements as plain values, and the goals."""
    # Before NumPy's and numba's libraries are loaded: they read it once.
    for variable in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ):
        os.environ[variable] = "1"
    from biorrr.circuit.engines import compiler
    from biorrr.circuit.simulation.progress import progress_bar
    from biorrr.sims.bench import race, start_up

    length = (
        0.3 if settings.quick else 0.6,
        settings.repeats,
    )  # seconds of each measurement, and repeats
    # What the progress bar says, the key of the results, and the function that measures.
    questions: list[tuple[str, str, Callable[[], tuple[dict[str, Any], list[Goal]]]]] = [
        (f"race at {size}", "speed", partial(race.samples_of_one_tick, size, *length))
        for size in settings.sizes
    ]
    if not settings.quick:
        questions += [
            (
                f"{what} samples at {size}",
                "held_samples",
                partial(race.held_samples, size, what == "spiking", *length),
            )
            for what in ("held", "spiking")
            for size in race.HELD_SIZES
        ]
        questions += [
            ("settling", "settling", partial(race.settling, *length)),
            ("cells in millivolts", "millivolts", partial(race.millivolts, "64x10x2", *length)),
            ("start-up", "startup", partial(start_up.start_up, settings.repeats)),
        ]
    machine = {
        **compiler.identity(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }
    results: dict[str, Any] = {"machine": machine}
    goals: list[Goal] = []
    with progress_bar(len(questions), unit=" measurements", desc="") as bar:
        for what, key, question in questions:
            bar.set_description(what)
            values, found = question()
            goals.extend(found)
            if key in ("speed", "held_samples"):  # at several sizes
                results.setdefault(key, []).append(values)
            else:
                results[key] = values
            bar.update()
    return results, goals


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()

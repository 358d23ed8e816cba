"""All that ``biorrr bench`` measures, one question after another."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims.bench import SIZES, BenchSettings

if TYPE_CHECKING:
    from biorrr.sims.bench.goal import Goal


def measure(settings: BenchSettings) -> tuple[dict[str, Any], list[Goal]]:
    """Return all measurements as plain values, and the goals."""
    # Before NumPy's and numba's libraries are loaded: they read it once.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    from biorrr.circuit.engines import compiler
    from biorrr.circuit.simulation.progress import progress_bar
    from biorrr.sims.bench import (
        many_runs,
        overhead,
        peak_memory,
        race,
        start_up,
        time_per_synapse,
    )

    seconds = 0.3 if settings.quick else 0.6
    repeats = settings.repeats
    results: dict[str, Any] = {
        "machine": {
            **compiler.identity(), "processor": _processor(), "cores": os.cpu_count(), "load": os.getloadavg(),
        },
    }  # fmt: skip
    goals: list[Goal] = []

    # What the progress bar says, the key of the results, and what measures it.
    questions: list[tuple[str, str, Callable[[], tuple[dict[str, Any], list[Goal]]]]] = [
        (f"race at {size}", "speed", partial(race.samples_of_one_tick, size, seconds, repeats))
        for size in settings.sizes
    ]
    if not settings.quick:
        questions += [
            *(
                (f"{what} samples at {size}", "held_samples",
                 partial(race.held_samples, size, what == "spiking", seconds, repeats))
                for what in ("held", "spiking")
                for size in race.HELD_SIZES
            ),
            ("settling", "settling", partial(race.settling, seconds, repeats)),
            ("cells in millivolts", "millivolts", partial(race.millivolts, "64x10x2", seconds, repeats)),
            ("start-up", "startup", partial(start_up.start_up, repeats)),
            *(
                (f"whole process at {size}", "whole_process",
                 partial(overhead.whole_process, size, 2 * seconds, repeats))
                for size in (SIZES[0], SIZES[2])
            ),
            ("memory", "memory", partial(peak_memory.peak_memory, samples=100_000)),
            ("growth", "growth", partial(time_per_synapse.time_per_synapse, seconds, repeats)),
            ("many runs", "crowd", partial(many_runs.many_runs, samples=100_000)),
            ("recording", "recording", partial(overhead.recording, 4 * seconds, repeats)),
        ]  # fmt: skip
    with progress_bar(len(questions), unit=" measurements", desc="") as bar:
        for what, key, question in questions:
            bar.set_description(what)
            values, found = question()
            goals.extend(found)
            if key in ("speed", "whole_process", "held_samples"):  # at several sizes
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

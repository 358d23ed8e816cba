"""``biorrr bench``: how fast the circuit is, beside the code it replaces and beside what the hardware allows."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.folder import RunFolder
from biorrr.sims.settings import Settings, SettingsError, config_text, option

if TYPE_CHECKING:
    from biorrr.sims.measures.goal import Goal

SIZES = ("100x120x4", "784x10x16", "3072x100x8")
_GROWTH = (1_000, 10_000, 100_000, 1_000_000)  # synapses


@dataclass(frozen=True, kw_only=True)
class BenchSettings(Settings):
    """What can be set of ``biorrr bench``."""

    sizes: tuple[str, ...] = option(SIZES, "circuits to race, as inputs x instructions x outputs, such as 100x120x4")
    repeats: int = option(5, "of every measurement, of which the median counts", at_least=1)
    quick: bool = option(False, "only the race, shorter: a look in under a minute and a half once built")
    clear_cache: bool = option(False, "delete all compiled circuits, and measure nothing")

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.sizes:
            parts = size.split("x")
            if len(parts) != 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
                raise SettingsError(f"sizes: must be three whole numbers such as 100x120x4 (got {size!r})")


def bench(settings: BenchSettings, folder: RunFolder) -> None:
    """Measure how fast the circuit is, and compare with the same equations in NumPy, numba, JAX and C.

    Prints a table, and writes bench.json, summary.json and a figure. All on one thread; time per sample is the slope
    between two run lengths, the median of several repeats. Other work on the machine disturbs it.
    """
    from biorrr.circuit import cache
    from biorrr.sims.table import print_table

    if settings.clear_cache:
        count, size = cache.clear()
        print(f"deleted {count} compiled circuits, {size / 2**20:.1f} MB, from {cache.cache_folder()}")
        return
    with folder.opened(config_text(settings, experiment.provenance("bench"))):
        results, goals = measure(settings)
        results["goals"] = [dataclasses.asdict(goal) | {"reached": goal.reached} for goal in goals]
        with folder.writing("bench.json") as path:
            path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        folder.write_figure("bench", "png", plot(results))
        reached = [goal.reached for goal in goals]
        folder.write_summary(
            {"goals": len(goals), "reached": reached.count(True), "not_measured": reached.count(None)}
            | {f"{row['size']}_{name}_us": us for row in results["speed"] for name, us in row["microseconds"].items()}
        )
    print_race(results["speed"])
    print_table("goals", {goal.name: _verdict(goal) for goal in goals})
    print(f"written to {folder.path}")


def measure(settings: BenchSettings) -> tuple[dict[str, Any], list[Goal]]:
    """All measurements as plain values, and the goals."""
    # Before NumPy's and numba's libraries are loaded: they read it once.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    from biorrr.circuit import compiler
    from biorrr.circuit.progress import progress_bar
    from biorrr.sims.measures import crowd, growth, memory, overhead, speed, startup

    seconds = 0.3 if settings.quick else 0.6
    results: dict[str, Any] = {
        "machine": {
            **compiler.identity(), "processor": _processor(), "cores": os.cpu_count(), "load": os.getloadavg(),
        },
    }  # fmt: skip
    goals: list[Goal] = []

    questions = [
        (f"race at {size}", "speed", lambda size=size: speed.speed(size, seconds, settings.repeats))
        for size in settings.sizes
    ]
    if not settings.quick:
        questions += [
            ("start-up", "startup", lambda: startup.startup(settings.repeats)),
            *(
                (f"whole process at {size}", "whole_process",
                 lambda size=size: overhead.whole_process(size, 2 * seconds, settings.repeats))
                for size in (SIZES[0], SIZES[2])
            ),
            ("memory", "memory", lambda: memory.memory(samples=100_000)),
            ("growth", "growth", lambda: growth.growth(list(_GROWTH), seconds, settings.repeats)),
            ("many runs", "crowd", lambda: crowd.crowd(samples=100_000)),
            ("recording", "recording", lambda: overhead.recording(4 * seconds, settings.repeats)),
        ]  # fmt: skip
    with progress_bar(len(questions), unit=" measurements", desc="") as bar:
        for what, key, question in questions:
            bar.set_description(what)
            measured, reached = question()
            goals.extend(reached)
            if key in ("speed", "whole_process"):  # at several sizes
                results.setdefault(key, []).append(measured)
            else:
                results[key] = measured
            bar.update()
    return results, goals


def print_race(rows: list[dict[str, Any]]) -> None:
    """Print microseconds per sample, one line a size."""
    from biorrr.sims.contestants import CONTESTANTS

    print(f"{'microseconds a sample':22}" + "".join(f"{label:>10}" for label in CONTESTANTS.values()))
    for row in rows:
        times = (row["microseconds"].get(name) for name in CONTESTANTS)
        print(f"  {row['size']:20}" + "".join(f"{'-' if us is None else format(us, '.3g'):>10}" for us in times))


def _verdict(goal: Goal) -> str:
    if goal.measured is None:
        return f"not measured ({goal.note})"
    text = f"{goal.measured:.3g}, at most {goal.limit:.3g}: {'reached' if goal.reached else 'NOT reached'}"
    return f"{text} ({goal.note})" if goal.note else text


def plot(results: dict[str, Any]) -> Any:
    """Draw the race, and growth where it was measured; returns the axes."""
    from biorrr.analysis.plots import styled

    return styled(_draw)(results)


def _draw(results: dict[str, Any]) -> Any:
    import matplotlib.pyplot as plt
    import numpy as np

    from biorrr.sims.contestants import CONTESTANTS

    grown = results.get("growth")
    _, axes = plt.subplots(1, 2 if grown else 1, figsize=(7.5 if grown else 4.2, 3), squeeze=False)
    race = axes[0, 0]
    rows = results["speed"]
    colours = dict(zip(CONTESTANTS, ("#009E73", "#CC79A7", "#56B4E9", "0.6", "#0072B2"), strict=True))
    for place, (name, label) in enumerate(CONTESTANTS.items()):
        times = [row["microseconds"].get(name, np.nan) for row in rows]
        race.bar(np.arange(len(rows)) + 0.16 * (place - 2), times, width=0.15, label=label, color=colours[name])
    race.set(yscale="log", ylabel="µs per sample", xlabel="inputs × instructions × outputs")
    race.set_xticks(range(len(rows)), [row["size"] for row in rows])
    race.legend(ncols=len(CONTESTANTS), loc="lower left", bbox_to_anchor=(0, 1), handlelength=1, columnspacing=1)
    if grown:
        axis = axes[0, 1]
        synapses = [row["synapses"] for row in grown["nanoseconds_per_synapse"]]
        for name in ("c_loop", "circuit"):
            times = [row[name] for row in grown["nanoseconds_per_synapse"]]
            axis.plot(synapses, times, "o-", label=CONTESTANTS[name], color=colours[name])
        axis.axhline(
            grown["bandwidth_limit"], color="k", ls="--", lw=0.8, label="weights read from and written to memory"
        )
        axis.set(xscale="log", ylim=(0, None), xlabel="synapses", ylabel="ns per synapse and sample")
        axis.legend()
    return axes[0]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


command = experiment.command(BenchSettings, bench)

"""``biorrr bench``: the speed of the circuit, beside the code it replaces and beside the limits of
the hardware.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from biorrr.sims.cli.options import command as as_command
from biorrr.sims.lab.findings import Quantity
from biorrr.sims.lab.inventory import Entry
from biorrr.sims.lab.run_folder import RunFolder
from biorrr.sims.lab.settings import Settings, SettingsError, config_text, option, provenance

CAPTION = (
    "Time that one sample takes, for the simulated circuit and for the same equations as a plain"
    " loop in other languages, at several sizes: the lower, the faster."
)
SIZES = ("100x120x4", "784x16x16", "3072x100x8")  # inputs x instructions x outputs


@dataclass(frozen=True, kw_only=True)
class BenchSettings(Settings):
    """Settings of ``biorrr bench``."""

    sizes: tuple[str, ...] = option(
        SIZES, "circuits to race, as inputs x instructions x outputs, such as 100x120x4"
    )
    repeats: int = option(
        5, "number of repeats of every measurement; the median counts", at_least=1
    )
    quick: bool = option(
        False, "run only a shorter race, which takes less than 90 s once everything is compiled"
    )
    clear_cache: bool = option(False, "delete all compiled circuits and measure nothing")

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.sizes:
            parts = size.split("x")
            if len(parts) != 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
                raise SettingsError(
                    f"sizes: must be three whole numbers such as 100x120x4 (got {size!r})"
                )


def bench(settings: BenchSettings, folder: RunFolder) -> None:
    """Measure how fast the circuit is, and compare with the same equations in NumPy, numba, JAX, C
    and stock Brian2.

    Prints a table, and writes bench.json, summary.json and a figure. All on one thread; time per
    sample is the slope between two run lengths, the median of several repeats. Other work on the
    machine disturbs it.
    """
    from biorrr.circuit.engines import cache
    from biorrr.sims.bench import measurements
    from biorrr.sims.bench.contestants import CONTESTANTS, check_installed
    from biorrr.sims.lab.findings import print_table

    if settings.clear_cache:
        count, size = cache.clear()
        print(
            f"deleted {count} compiled circuits, {size / 2**20:.1f} MB, from {cache.cache_folder()}"
        )
        return
    check_installed()
    origin = provenance("bench")
    with folder.opened(config_text(settings, origin)):
        results, goals = measurements.measure(settings)
        # Only now: what it imports loads NumPy, which measuring must first tell to use one thread.
        from biorrr.analysis.figures.speed import plot_speed

        results["goals"] = [dataclasses.asdict(goal) | {"reached": goal.reached} for goal in goals]
        reached = [goal.reached for goal in goals]
        with folder.filling(config_text(settings, origin)):
            with folder.writing(Entry("bench.json")) as path:
                path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
            folder.write_figure(
                "bench", "png", plot_speed(results, CONTESTANTS), name="bench", caption=CAPTION
            )
            folder.write_summary(
                [
                    Quantity("goals", len(goals)),
                    Quantity("reached", reached.count(True)),
                    Quantity("not_measured", reached.count(None)),
                ]
                + [
                    Quantity(f"{row['size']}_{name}_us", us, "us per sample")
                    for row in results["speed"]
                    for name, us in row["microseconds"].items()
                ]
            )
    print_race(results["speed"])
    for row in results.get("held_samples", ()):
        c, circuit = (row["microseconds"][name] for name in ("leaky_c_loop", "circuit"))
        print(
            f"  {row['size']}, {row['ticks']} ticks of {row['inputs']}: C {c:.3g}, circuit"
            f" {circuit:.3g}"
        )
    if "millivolts" in results:
        row = results["millivolts"]
        c, circuit, brian2 = (
            row["microseconds"][name] for name in ("millivolt_c_loop", "circuit", "stock_brian2")
        )
        print(
            f"  {row['size']}, {row['ticks']} ticks of {row['cells']} + {row['interneurons']} cells"
            f" in millivolts: C {c:.0f}, circuit {circuit:.0f}, stock Brian2 {brian2:.0f}"
        )
    print_table("goals", {goal.name: goal.verdict for goal in goals})
    print(f"written to {folder.path}")


def print_race(rows: list[dict[str, Any]]) -> None:
    """Print microseconds per sample, one line per size."""
    from biorrr.sims.bench.contestants import CONTESTANTS

    print(
        f"{'microseconds per sample':22}"
        + "".join(f"{label:>10}" for label in CONTESTANTS.values())
    )
    for row in rows:
        times = (row["microseconds"].get(name) for name in CONTESTANTS)
        print(
            f"  {row['size']:20}"
            + "".join(f"{'-' if us is None else format(us, '.3g'):>10}" for us in times)
        )


command = as_command(BenchSettings, bench)

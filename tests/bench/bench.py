"""Measure the time per sample of the circuit and of the same equations written in other ways.

``make bench`` runs every row and writes the tables of docs/speed.md. ``make bench ROWS="settling
help"`` runs the rows with one of these words in their names and prints them only. Run it on a
machine with little other work. A contestant is a module of the folder ``contestants`` with a
function ``prepare(task)``: it does all that is done once, compiling included, and returns a
function that learns the samples of an index array from the start of the task.
"""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from contestants.task import HeldTask, MillivoltTask, RidgeTask, SettledTask, Task
from time_per_sample import slopes, undisturbed_seconds, wall_seconds

from biorrr.circuit import Microcircuit

PAGE = Path(__file__).parents[2] / "docs" / "speed.md"
SECONDS, REPEATS = 0.6, 5  # of each measurement
# What each contestant is called in the table.
COLUMNS = {
    "c_loop": "C",
    "fused_c_loop": "C in one pass",
    "leaky_c_loop": "C",
    "settled_c_loop": "C",
    "millivolt_c_loop": "C",
    "matrix_loop": "NumPy",
    "numba_loop": "numba",
    "jax_scan": "JAX",
    "stock_brian2": "stock Brian2",
}
# Contestants whose threads or settings would disturb the others: each runs in a process of its own.
APART = ("jax_scan",)
PLAIN = ("c_loop", "fused_c_loop", "matrix_loop", "numba_loop", "jax_scan")


@dataclass(frozen=True)
class Race:
    """A row of the first table: what is learned, and the contestants beside the circuit."""

    name: str
    task: Task
    others: tuple[str, ...]


@dataclass(frozen=True)
class Start:
    """A row of the second table: arguments of Python for a new process, whose time is measured."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Several:
    """A row of the third table: runs of one circuit that differ in their seeds."""

    name: str
    task: Task
    seeds: int
    epochs: int
    options: Mapping[str, object]


COMMAND = ("-c", "from biorrr.sims.start import main; main()")
SCRIPT = """
import numpy as np
from biorrr.circuit import Microcircuit
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((1000, 64)), rng.standard_normal((1000, 10))
Microcircuit(k=2, engine="cpp").run(X, Y, epochs=10, progress=False)
"""
RACES = (
    Race("64x10x2", Task(64, 10, 2), PLAIN),
    Race("100x120x4", Task(100, 120, 4), PLAIN),
    Race("784x16x16", Task(784, 16, 16), PLAIN),
    Race("3072x100x8", Task(3072, 100, 8), PLAIN),
    Race("64x10x2, ridge by replay", RidgeTask(64, 10, 2), ()),
    Race("64x10x2, held for 200 ticks", HeldTask(64, 10, 2), ("leaky_c_loop",)),
    Race("100x120x4, held for 200 ticks", HeldTask(100, 120, 4), ("leaky_c_loop",)),
    Race("784x10x10, held for 200 ticks", HeldTask(784, 10, 10), ("leaky_c_loop",)),
    Race("64x10x2, spiking inputs", HeldTask(64, 10, 2, spiking=True), ("leaky_c_loop",)),
    Race("100x120x4, spiking inputs", HeldTask(100, 120, 4, spiking=True), ("leaky_c_loop",)),
    Race("784x10x10, spiking inputs", HeldTask(784, 10, 10, spiking=True), ("leaky_c_loop",)),
    Race("64x10x4, settling", SettledTask(64, 10, 4), ("settled_c_loop",)),
    Race("64x10x2, in millivolts", MillivoltTask(64, 10, 2), ("millivolt_c_loop", "stock_brian2")),
)
STARTS = (
    Start("a script that learns 10,000 samples, compiled before", ("-c", SCRIPT)),
    Start("`biorrr learn`, compiled before", (*COMMAND, "learn")),
    Start("`biorrr --help`", (*COMMAND, "--help")),
)
SEVERAL = (
    Several("32 seeds, 107,820 samples each", Task(64, 10, 2, 1797), 32, 60, {}),
    Several("the same with a ridge", Task(64, 10, 2, 1797), 32, 60, {"ridge": 0.1}),
    Several("1,000 seeds, 100 samples each", Task(64, 10, 2, 100), 1000, 1, {}),
)


def prepare(task: Task, names: Iterable[str]) -> dict[str, Callable[[int], Mapping]]:
    """Return contestants that learn the given number of samples and return the weights.

    One that needs JAX is left out where JAX is not installed.
    """
    learners = {}
    for name in names:
        try:
            module = importlib.import_module(f"contestants.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != "jax":
                raise
            continue
        learn = module.prepare(task)
        learners[name] = lambda samples, learn=learn: learn(task.order(samples))
    return learners


def measure_race(race: Race, seconds: float = SECONDS, repeats: int = REPEATS) -> dict[str, str]:
    """Return microseconds per sample of the circuit, and the times of others over the circuit's.

    Both are medians over repeats.
    """
    beside = [name for name in race.others if name not in APART]
    found = slopes(prepare(race.task, ("circuit", *beside)), seconds, repeats)
    for name in set(race.others) - set(beside):
        found |= measure_apart(race, name, seconds, repeats)
    cells = {"circuit": f"{1e6 * np.median(found['circuit']):.3g}"}
    for name in race.others:
        if name in found:
            times = np.median(found[name] / found["circuit"])
            cells[COLUMNS[name]] = f"{float(f'{times:.2g}'):g}"
    return cells


def measure_apart(race: Race, name: str, seconds: float, repeats: int) -> dict[str, np.ndarray]:
    """Return the seconds per sample of one contestant in a process of its own, by its name; nothing
    where it needs what is not installed.
    """
    command = [sys.executable, __file__, "apart", race.name, name, str(seconds), str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: np.array(found) for name, found in json.loads(done.stdout).items()}


def measure_start(start: Start, repeats: int = REPEATS) -> dict[str, str]:
    """Return the seconds of a new process, the median over repeats."""

    def once() -> None:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, *start.arguments]
            subprocess.run(command, cwd=folder, capture_output=True, check=True)

    once()  # compiles what is not in the cache
    return {"seconds": f"{np.median([undisturbed_seconds(once) for _ in range(repeats)]):.2g}"}


def measure_several(several: Several, repeats: int = REPEATS) -> dict[str, str]:
    """Return the seconds of all runs together, and the time of one after another over that, in wall
    time: both on all cores that they use.
    """
    circuit = Microcircuit(several.task.k, engine="cpp", **several.options)
    data, options = (several.task.X, several.task.Y), {"progress": False}
    seeds = range(several.seeds)
    options["epochs"] = several.epochs

    def together() -> None:
        circuit.run(*data, seeds=seeds, **options)

    def one_by_one() -> None:
        for seed in seeds:
            circuit.run(*data, seed=seed, **options)

    together()  # compiles what is not in the cache
    circuit.run(*data, progress=False)
    times = np.array([[wall_seconds(one_by_one), wall_seconds(together)] for _ in range(repeats)])
    ratio = np.median(times[:, 0] / times[:, 1])
    return {
        "together": f"{np.median(times[:, 1]):.2g}",
        "one after another": f"{float(f'{ratio:.2g}'):g}",
    }


def table(first: str, columns: Mapping[str, str], rows: Mapping[str, Mapping[str, str]]) -> str:
    """Return rows of cells as a table in Markdown; ``columns`` has titles by the cells' names."""
    lines = [(first, *columns.values()), ("---",) * (len(columns) + 1)]
    lines += [(name, *(cells.get(one, "") for one in columns)) for name, cells in rows.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_table(page: str, name: str, text: str) -> str:
    """Return a page with another table between ``<!-- bench: name -->`` and ``<!-- end -->``."""
    begin, end = f"<!-- bench: {name} -->\n", "<!-- end -->"
    found, count = re.subn(
        f"{re.escape(begin)}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"docs/speed.md: must have one table marked {name!r} (has {count})")
    return found


def measure(rows: Iterable, measure_row: Callable, words: list[str]) -> dict[str, dict[str, str]]:
    """Measure the rows with one of ``words`` in their names, or all, and print each."""
    found = {}
    for row in rows:
        if not words or any(word in row.name for word in words):
            found[row.name] = measure_row(row)
            said = ", ".join(f"{name} {cell}" for name, cell in found[row.name].items())
            print(f"{row.name}: {said}", flush=True)
    return found


def main(words: list[str]) -> None:
    """Measure all rows and write the page, or print those with one of ``words`` in their names."""
    print("circuit: microseconds per sample; others: their time over the circuit's", flush=True)
    races = measure(RACES, measure_race, words)
    print("seconds in a new process", flush=True)
    starts = measure(STARTS, measure_start, words)
    print("seconds of several runs; one after another: their time over that", flush=True)
    several = measure(SEVERAL, measure_several, words)
    if not words:
        columns = {"circuit": "circuit (µs)"}
        columns |= {label: f"{label} / circuit" for label in COLUMNS.values()}
        page = with_table(PAGE.read_text(), "samples", table("sample", columns, races))
        page = with_table(page, "starts", table("process", {"seconds": "seconds"}, starts))
        columns = {"together": "together (s)", "one after another": "one after another / together"}
        page = with_table(page, "seeds", table("runs", columns, several))
        PAGE.write_text(page)
        print(f"written to {PAGE}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["apart"]:  # as measure_apart asks
        row, name, seconds, repeats = sys.argv[2:]
        (race,) = (race for race in RACES if race.name == row)
        learners = prepare(race.task, [name])
        found = slopes(learners, float(seconds), int(repeats)) if learners else {}
        print(json.dumps({name: times.tolist() for name, times in found.items()}))
    else:
        main(sys.argv[1:])

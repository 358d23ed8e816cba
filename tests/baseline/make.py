"""Numbers of fixed experiments and fixed circuits, kept in two files and compared by
``tests/test_baseline.py``.

``python tests/baseline/make.py`` writes both files anew; names after it choose the entries to write
(``python tests/baseline/make.py learn leaky``). Do that only where numbers are meant to move, and
say why in the commit.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fixed_circuits import CIRCUITS, measure_circuit
from fixed_experiments import EXPERIMENTS, NO_DATA, lacks_data, measure_experiment

FOLDER = Path(__file__).parent
ROUNDING = 1e-12


@dataclass(frozen=True)
class Baseline:
    """Kept numbers of one kind: their file, how they are made, and how far they may move.

    A number may move by ``tolerance`` times its size; below ``ROUNDING`` it is the rounding error
    of larger numbers.
    """

    path: Path
    names: tuple[str, ...]
    measure: Callable[[str], dict[str, Any]]
    tolerance: float

    def kept(self) -> dict[str, dict[str, Any]]:
        """Return the kept numbers of every entry by name."""
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def write(self, names: tuple[str, ...]) -> None:
        """Measure the entries of these names and put them into the file."""
        entries = self.kept()
        for name in names:
            start = time.perf_counter()
            entries[name] = self.measure(name)
            print(
                f"{name}: {len(entries[name])} numbers, {time.perf_counter() - start:.1f} s",
                flush=True,
            )
        in_order = {name: entries[name] for name in self.names if name in entries}
        self.path.write_text(json.dumps(in_order, indent=1) + "\n")

    def moved(self, name: str) -> list[str]:
        """Measure an entry and return one line for every number that moved or vanished; new ones
        are no fault.
        """
        kept, found = self.kept()[name], self.measure(name)
        lines = [f"{key}: was {kept[key]}, is gone" for key in kept if key not in found]
        for key in kept.keys() & found.keys():
            before, now = kept[key], found[key]
            if before is None or now is None:
                if before is not now:
                    lines.append(f"{key}: was {before}, is {now}")
            elif not abs(now - before) <= self.tolerance * abs(before) + ROUNDING:
                lines.append(
                    f"{key}: was {before!r}, is {now!r} (relative difference"
                    f" {_relative(before, now):.1e})"
                )
        return sorted(lines)


def _relative(before: float, now: float) -> float:
    return abs(now - before) / abs(before) if before else float("inf")


BASELINES = {
    "experiments": Baseline(
        FOLDER / "experiments.json", tuple(EXPERIMENTS), measure_experiment, 1e-6
    ),
    "circuits": Baseline(FOLDER / "circuits.json", tuple(CIRCUITS), measure_circuit, 1e-9),
}


def main(chosen: list[str]) -> None:
    """Write the entries of these names, or all; those that need data files which are not here stay
    as they are.
    """
    unknown = set(chosen).difference(*(baseline.names for baseline in BASELINES.values()))
    if unknown:
        raise SystemExit(
            f"names: must be among {', '.join((*EXPERIMENTS, *CIRCUITS))} (got"
            f" {', '.join(unknown)})"
        )
    for baseline in BASELINES.values():
        wanted = [name for name in baseline.names if not chosen or name in chosen]
        missing = [name for name in wanted if name in EXPERIMENTS and lacks_data(name)]
        for name in missing:
            print(f"{name}: left as it is; {NO_DATA}")
        baseline.write(tuple(name for name in wanted if name not in missing))


if __name__ == "__main__":
    main(sys.argv[1:])

"""The results of a sweep so far: one small file for each finished point, and the table made of
them.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorrr.files import whole_file
from biorrr.sims.lab.findings import readable
from biorrr.sims.lab.safe_files import inside, read_json
from biorrr.sims.lab.settings import Settings, key_of
from biorrr.sims.sweeps.plan import Plan, plain

POINTS, TABLE = "points", "sweep.csv"
SHOWN_FAILURES = SHOWN_PROBLEMS = 5


@dataclass(frozen=True)
class Table:
    """The finished points of a sweep, in the order of its plan.

    Parameters
    ----------
    plan
        The sweep.
    rows
        Settings, seed, status, numbers and reason of each point, by name; every row has every
        column.
    unit
        Unit of the plan's measure.
    """

    plan: Plan
    rows: list[dict[str, Any]]
    unit: str

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Rows of the points that failed."""
        return [row for row in self.rows if row["status"] == "failed"]

    @property
    def means(self) -> dict[tuple, float]:
        """The measure at each combination of the settings that vary, averaged over the seeds that
        gave one.
        """
        found: dict[tuple, list[float]] = {}
        for row in self.rows:
            value, point = (
                row.get(self.plan.measure),
                tuple(row[key_of(name)] for name in self.plan.varied),
            )
            if isinstance(value, int | float):
                found.setdefault(point, []).append(value)
        return {point: sum(values) / len(values) for point, values in found.items()}

    def plot(self, ax: Any = None) -> Any:
        """Draw the means against the one or two settings that vary; None where there is nothing to
        draw.
        """
        from biorrr.analysis.figures.sweep import plot_means

        plan, means = self.plan, self.means
        if not means or len(plan.varied) not in (1, 2):
            return None
        return plot_means(
            plan.measure, self.rows, [*map(key_of, plan.varied)], means, problem=plan.problem, ax=ax
        )

    @property
    def caption(self) -> str:
        """Caption of the figure, with the lowest point."""
        plan = self.plan
        return (
            f"{plan.measure} of {plan.experiment} against {' and '.join(map(key_of, plan.varied))}:"
            " small grey points are single runs, large ones (or cells) their mean over seeds, and"
            f" the star is the lowest mean. ({'; '.join(self.report())}.)\n"
        )

    def report(self) -> list[str]:
        """Return lines that say how far the sweep has come, what failed and why, and the best point
        of each problem.
        """
        plan, failed = self.plan, self.failed
        lines = [
            f"{len(plan.points)} points: {len(self.rows) - len(failed)} done, {len(failed)} failed,"
            f" {len(plan.points) - len(self.rows)} left"
        ]
        for reason, times in Counter(str(row["reason"]) for row in failed).most_common(
            SHOWN_FAILURES
        ):
            lines.append(f"failed {times} times: {reason}")
        problems: dict[tuple, list[dict[str, Any]]] = {}
        for row in self.rows:
            if isinstance(row.get(plan.measure), int | float):
                problems.setdefault(tuple(row[name] for name in plan.problem), []).append(row)
        for rows in [*problems.values()][:SHOWN_PROBLEMS]:
            best = min(rows, key=lambda row: row[plan.measure])
            where = ", ".join(
                f"{name} {best[name]}" for name in (*map(key_of, plan.varied), "seed")
            )
            value = readable(best[plan.measure], self.unit)
            lines.append(f"lowest {plan.measure} of a single point {value} at {where}")
        if len(problems) > SHOWN_PROBLEMS:
            lines.append(
                f"and so on for {len(problems)} problems, which differ in {', '.join(plan.problem)}"
            )
        return lines


class Ledger:
    """The finished points in a folder, by their settings.

    A point is written the moment it is finished, whole or not at all. The table is only ever made
    from the points, so a damaged table loses nothing.

    Parameters
    ----------
    folder
        The sweep's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, plan: Plan, settings: Settings) -> Path:
        """Return the path of the file of one point."""
        text = json.dumps([plan.experiment, plain(settings)], sort_keys=True)
        return inside(self.folder, POINTS, f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json")

    def read(self, plan: Plan, settings: Settings) -> dict[str, Any] | None:
        """Return what is known of a point: status, reason, data_sha256, numbers and units; None if
        not finished.

        A damaged file is as good as none: the point is computed again.
        """
        found = read_json(self.folder, POINTS, self.path(plan, settings).name)
        if not isinstance(found, dict) or found.get("status") not in ("done", "failed"):
            return None
        if not isinstance(found.get("numbers"), dict):
            return None
        return {"reason": None, "data_sha256": None, "units": {}} | found

    def write(self, plan: Plan, settings: Settings, entry: dict[str, Any]) -> None:
        """Keep what is known of a point."""
        text = json.dumps({"settings": plain(settings)} | entry, allow_nan=False)
        path = self.path(plan, settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial:
            partial.write_text(text + "\n", encoding="utf-8")

    def table(self, plan: Plan) -> Table:
        """Return the finished points of ``plan``."""
        entries = [(settings, self.read(plan, settings)) for settings in plan.points]
        finished = [(settings, entry) for settings, entry in entries if entry is not None]
        # A failed point has no numbers, and the others must not lose theirs by it: every row has
        # every column.
        numbers = {
            name: None for _, entry in finished for name in (plan.measure, *entry["numbers"])
        }
        rows, unit = [], ""
        for settings, entry in finished:
            chosen = {
                key_of(name): _cell(getattr(settings, name)) for name in (*plan.given, "seed")
            }
            found = {name: entry["numbers"].get(name) for name in numbers if name not in chosen}
            rows.append({**chosen, "status": entry["status"], **found, "reason": entry["reason"]})
            unit = unit or (
                str(entry["units"].get(plan.measure, ""))
                if isinstance(entry["units"], dict)
                else ""
            )
        return Table(plan, rows, unit)

    def write_table(self, plan: Plan) -> Table:
        """Write the finished points as CSV and return them."""
        table = self.table(plan)
        with (
            whole_file(self.folder / TABLE) as partial,
            partial.open("w", newline="", encoding="utf-8", errors="replace") as file,
        ):
            writer = csv.DictWriter(file, [*table.rows[0]] if table.rows else [])
            writer.writeheader()
            writer.writerows(table.rows)
        return table


def _cell(value: Any) -> Any:
    """Return one value of a table; data and lists of values are text."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, Settings) else value

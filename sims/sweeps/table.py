"""The table of a sweep: its finished points, as CSV, as a figure and in words."""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from biorrr.files import whole_file
from biorrr.sims.lab.findings import readable
from biorrr.sims.lab.settings import key_of
from biorrr.sims.sweeps.plan import Plan

TABLE = "sweep.csv"  # in the sweep's folder
SHOWN = 5  # failures and problems that are listed
SHOWN_MEANS = 12  # in a caption

Row = dict[str, Any]


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
    rows: list[Row]
    unit: str

    @property
    def names(self) -> list[str]:
        """Columns of the settings that vary."""
        return [*map(key_of, self.plan.varied)]

    @property
    def failed(self) -> list[Row]:
        """Rows of the points that failed."""
        return [row for row in self.rows if row["status"] == "failed"]

    @property
    def lowest_first(self) -> list[Row]:
        """The rows, those without the measure last."""

        def place(row: Row) -> float:
            value = row[self.plan.measure]
            return value if isinstance(value, int | float) else math.inf

        return sorted(self.rows, key=place)

    def grouped(self, names: list[str]) -> dict[tuple, list[Row]]:
        """Return the rows that have the measure, by their values of the columns ``names``."""
        groups: dict[tuple, list[Row]] = {}
        for row in self.rows:
            if isinstance(row[self.plan.measure], int | float):
                groups.setdefault(tuple(row[name] for name in names), []).append(row)
        return groups

    @property
    def means(self) -> dict[tuple, float]:
        """The measure at each combination of the settings that vary, averaged over the seeds that
        gave one.
        """
        groups = self.grouped(self.names).items()
        return {point: fmean(row[self.plan.measure] for row in rows) for point, rows in groups}

    def write(self, out: Path) -> None:
        """Write the finished points as CSV."""
        with (
            whole_file(out / TABLE) as partial,
            partial.open("w", newline="", encoding="utf-8", errors="replace") as file,
        ):
            writer = csv.DictWriter(file, [*self.rows[0]] if self.rows else [])
            writer.writeheader()
            writer.writerows(self.rows)

    def plot(self, ax: Any = None) -> Any:
        """Draw the means against the one or two settings that vary; None where there is nothing to
        draw.
        """
        from biorrr.analysis.figures.grids import plot_means

        plan, means = self.plan, self.means
        if not means or len(plan.varied) not in (1, 2):
            return None
        return plot_means(plan.measure, self.rows, self.names, means, problem=plan.problem, ax=ax)

    @property
    def caption(self) -> str:
        """Caption of the figure, with the means that it shows."""
        marks = (
            "large points are means over seeds, small grey ones single seeds"
            if len(self.names) == 1
            else "each cell is the mean over seeds"
        )
        means = [
            f"{readable(mean, self.unit)} at {', '.join(map('{} {}'.format, self.names, point))}"
            for point, mean in self.means.items()
        ]
        more = ["and so on"] if len(means) > SHOWN_MEANS else []
        return (
            f"{self.plan.measure} of {self.plan.experiment} against {' and '.join(self.names)}:"
            f" {marks}. A star marks the lowest mean of each problem of which there are several"
            f" points. Means: {'; '.join(means[:SHOWN_MEANS] + more)}. ({self.report()[0]}.)\n"
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
        reasons = Counter(str(row["reason"]) for row in failed)
        lines += [f"failed {n} times: {reason}" for reason, n in reasons.most_common(SHOWN)]
        problems = [*self.grouped(plan.problem).values()]
        for rows in problems[:SHOWN]:
            best = min(rows, key=lambda row: row[plan.measure])
            where = ", ".join(f"{name} {best[name]}" for name in (*self.names, "seed"))
            value = readable(best[plan.measure], self.unit)
            lines.append(f"lowest {plan.measure} of a single point {value} at {where}")
        if len(problems) > SHOWN:
            names = ", ".join(plan.problem)
            lines.append(f"and so on for {len(problems)} problems, which differ in {names}")
        return lines

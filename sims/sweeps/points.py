"""The points of a sweep: each computed by one worker, kept in the sweep's folder the moment it is
finished, and listed in a table.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from biorrr.errors import BiorrrError
from biorrr.files import whole_file
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.findings import readable
from biorrr.sims.lab.items import Task, kept_result
from biorrr.sims.lab.lab import Lab, Workplace, carry_out, evaluate
from biorrr.sims.lab.own_circuits import absolute
from biorrr.sims.lab.run_folder import RunFolder, inside
from biorrr.sims.lab.settings import BasicSettings, Settings, key_of
from biorrr.sims.lab.workers import Submit, submit_here
from biorrr.sims.sweeps.plan import Plan

if TYPE_CHECKING:
    from biorrr.sims.data import Dataset

POINTS, RUNS, TABLE = "points", "runs", "sweep.csv"  # in the sweep's folder
DONE, FAILED = "done", "failed"
SHOWN_FAILURES = SHOWN_PROBLEMS = 5
SHOWN_MEANS = 12  # in a caption


def lab_of(plan: Plan, out: Path, submit: Submit = submit_here) -> Lab:
    """Return the lab of a sweep, which keeps finished points in its folder."""
    workplace = Workplace(kept_in=inside(out.absolute(), POINTS), submit=submit)
    experiment = find_experiment(plan.experiment)
    return Lab(experiment, BasicSettings(), workplace, (experiment.name,))


def path_of(plan: Plan, out: Path, settings: Settings) -> Path:
    """Return the path of the file of a point."""
    name = lab_of(plan, out).name_item(compute_point, {"settings": settings})
    return inside(out, POINTS, f"{name}.nc")


def read_point(plan: Plan, out: Path, settings: Settings) -> xr.Dataset | None:
    """Return the numbers of a point, with its status, reason and data_sha256 as attributes; None if
    it is not finished.
    """
    path = path_of(plan, out, settings)
    found = kept_result(path.parent, path.stem)
    if found is None or str(found.attrs.get("status")) not in (DONE, FAILED):
        return None
    # Others may have sent it.
    return None if any(one.ndim for one in found.variables.values()) else found


def compute_point(
    task: Task,
    experiment: str,
    data: Mapping[Any, Dataset],
    folders: bool,
    here: str,
    settings: Any,
) -> xr.Dataset:
    """Return the numbers of one point, which leaves a run folder if it is to; a failure is a result
    too.

    ``here`` is the folder in which the user works: a worker may be in another one.
    """
    try:
        printed = io.StringIO()  # tables and progress of every point
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("ignore")  # said once for the whole sweep, and not by every point
            asked, given = settings, {value: data[value] for value in settings.every_data}
            if hasattr(settings, "circuit") and os.getcwd() != here:
                asked = replace(settings, circuit=absolute(settings.circuit, here))
            if not folders:
                findings = evaluate(find_experiment(experiment), asked, given)
            else:
                assert task.place is not None
                place = inside(task.place.parent, RUNS, task.name)
                folder = RunFolder(experiment, place, force=True)
                findings = carry_out(find_experiment(experiment), asked, folder, given, submit_here)
    except (Exception, SystemExit) as error:
        if getattr(error, "exit_code", None) == 130:  # interrupted, and no fault of the point's
            raise KeyboardInterrupt from error
        return failed(error)
    numbers = {
        name: ((), value, {"units": one.unit})
        for one in findings.every_quantity
        for name, value in one.numbers.items()
        if value is not None
    }
    about = {"status": DONE, "data_sha256": checksum_of(*given.values())}
    return xr.Dataset(numbers, attrs=about)


def in_memory(data: Dataset) -> Dataset:
    """Return samples as plain arrays, which can be sent; a memory map cannot."""
    if not hasattr(data, "X"):
        return data
    return replace(data, X=np.asarray(data.X), Y=np.asarray(data.Y))


def checksum_of(*data: Dataset) -> str:
    """Return the checksum of the data of a point."""
    return ",".join(one.checksum for one in data)


def failed(error: BaseException) -> xr.Dataset:
    """Return the result of a point that has failed."""
    kind = "" if isinstance(error, BiorrrError) else f"{type(error).__name__}: "
    return xr.Dataset(attrs={"status": FAILED, "reason": f"{kind}{error}"})


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

    @classmethod
    def read(cls, plan: Plan, out: Path) -> Table:
        """Read the points that are finished in a folder."""
        points = [(settings, read_point(plan, out, settings)) for settings in plan.points]
        finished = [(settings, point) for settings, point in points if point is not None]
        # A failed point has no numbers, and the others must not lose theirs by it: every row has
        # every column.
        names = dict.fromkeys(
            name for _, point in finished for name in (plan.measure, *map(str, point.data_vars))
        )
        rows, unit = [], ""
        for settings, point in finished:
            row = {key_of(name): _cell(getattr(settings, name)) for name in (*plan.given, "seed")}
            row["status"] = str(point.attrs["status"])
            for name in names:
                if name not in row:
                    row[name] = point[name].item() if name in point else None
            rows.append({**row, "reason": point.attrs.get("reason")})
            if plan.measure in point:
                unit = unit or str(point[plan.measure].attrs.get("units", ""))
        return cls(plan, rows, unit)

    def write(self, out: Path) -> None:
        """Write the finished points as CSV."""
        with (
            whole_file(out / TABLE) as partial,
            partial.open("w", newline="", encoding="utf-8", errors="replace") as file,
        ):
            writer = csv.DictWriter(file, [*self.rows[0]] if self.rows else [])
            writer.writeheader()
            writer.writerows(self.rows)

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
        from biorrr.analysis.figures.grids import plot_means

        plan, means = self.plan, self.means
        if not means or len(plan.varied) not in (1, 2):
            return None
        return plot_means(
            plan.measure, self.rows, [*map(key_of, plan.varied)], means, problem=plan.problem, ax=ax
        )

    @property
    def caption(self) -> str:
        """Caption of the figure, with the means that it shows."""
        plan, names = self.plan, [*map(key_of, self.plan.varied)]
        marks = (
            "large points are means over seeds, small grey ones single seeds"
            if len(names) == 1
            else "each cell is the mean over seeds"
        )
        shown = [
            f"{readable(mean, self.unit)} at {', '.join(map('{} {}'.format, names, point))}"
            for point, mean in [*self.means.items()][:SHOWN_MEANS]
        ]
        return (
            f"{plan.measure} of {plan.experiment} against {' and '.join(names)}: {marks}. A star"
            " marks the lowest mean of each problem of which there are several points. Means:"
            f" {'; '.join(shown)}{'; and so on' if len(self.means) > len(shown) else ''}."
            f" ({self.report()[0]}.)\n"
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


def _cell(value: Any) -> Any:
    """Return one value of a table; data and lists of values are text."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, Settings) else value

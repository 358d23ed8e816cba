"""The plan of a sweep, a grid or a list of settings times seeds, and the table of its points."""

from __future__ import annotations

import csv
import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorrr.files import whole_file
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab.findings import readable
from biorrr.sims.lab.run_folder import PROVENANCE, read_config
from biorrr.sims.lab.settings import NO_NUMBERS, Settings, SettingsError, field_named, key_of
from biorrr.sims.lab.settings import plain as plain_value

PROBLEM = ("data", "k", "s", "ridge")  # settings that change the optimum
MOST_POINTS = 1_000_000  # more is a slip of the pen
TABLE = "sweep.csv"  # in the sweep's folder
SHOWN_FAILURES = SHOWN_PROBLEMS = 5
SHOWN_MEANS = 12  # in a caption
KEYS = ("experiment", "seeds", "measure", "fixed", "grid", "list")


@dataclass(frozen=True)
class Plan:
    """The points of a sweep."""

    experiment: str
    points: tuple[Settings, ...]  # the settings of each, seed included
    varied: tuple[str, ...]  # names of the settings that differ between points, the seed aside
    given: tuple[
        str, ...
    ]  # names of the settings that have been given: the columns of the table, beside the seed
    source: Mapping[str, Any]  # what make_plan was given, as TOML can hold it
    measure: str  # the number that is drawn; the lowest is best

    @property
    def problem(self) -> list[str]:
        """Names of the varied settings that change the problem to be solved: its points are not
        compared.
        """
        return [key_of(name) for name in self.varied if name in PROBLEM]


def read_plan(path: Path, circuit: str | None = None, folder: Path | None = None) -> Plan:
    """Read the plan in a TOML file; see :func:`make_plan` for what may stand in it.

    ``circuit``, where given, is fixed at all points. ``folder`` is the sweep's folder, where the
    file lies in one.
    """
    values = read_config(path, folder)
    values.pop(PROVENANCE, None)
    for key in values:
        if key not in KEYS:
            raise SettingsError(f"{key}: no such key, in {path}; a sweep has {', '.join(KEYS)}")
    if circuit is not None:
        fixed = values.get("fixed", {})
        values["fixed"] = {**fixed, "circuit": circuit} if isinstance(fixed, Mapping) else fixed
    return make_plan(**values)


def make_plan(
    experiment: str = "learn",
    seeds: Any = 1,
    measure: str | None = None,
    fixed: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    list: Any = None,
) -> Plan:
    """Lay out the points of a sweep.

    Parameters
    ----------
    experiment
        What to run at each point.
    seeds
        How many, from 0 on, or which; each point runs once with each.
    measure
        The number of the experiment's summary that is drawn; the lowest is best. Unless given, the
        experiment's own.
    fixed
        Settings that are the same at all points.
    grid
        Values of each setting; all combinations are points.
    list
        The points one by one, each a mapping of settings.
    """
    if (grid is None) == (list is None):
        raise SettingsError(
            f"sweep: must have either grid or list (got {'none' if grid is None else 'both'})"
        )
    known = isinstance(experiment, str) and experiment in experiment_names()
    declared = find_experiment(experiment) if known else None
    if declared is None or declared.not_swept:
        experiments = [find_experiment(name) for name in experiment_names()]
        can_be = ", ".join(one.name for one in experiments if not one.not_swept)
        reason = f", which {declared.not_swept}" if declared else ""
        raise SettingsError(f"experiment: must be one of {can_be} (got {experiment!r}{reason})")
    if measure is not None and not isinstance(measure, str):
        raise SettingsError(f"measure: must be the name of a number (got {measure!r})")
    cls = declared.settings
    constant = _fields(cls, fixed if fixed is not None else {}, "fixed")
    seeds = _seeds(seeds)
    combinations = (
        _listed(cls, list) if grid is None else _grid(_fields(cls, grid, "grid"), len(seeds))
    )
    varied = tuple(dict.fromkeys(name for point in combinations for name in point))
    if twice := set(varied) & set(constant):
        raise SettingsError(f"{key_of(min(twice))}: is both fixed and varied; keep one of them")
    for name in NO_NUMBERS:
        if name in varied:
            raise SettingsError(
                f"{name}: changes no number, so there is nothing to vary; put it under fixed"
            )
    made = dict.fromkeys(
        cls(**constant, **point, seed=seed, seeds=1) for point in combinations for seed in seeds
    )
    measure = measure or declared.measure_of(next(iter(made)))
    source: dict[str, Any] = {
        "experiment": experiment,
        "measure": measure,
        "seeds": seeds,
        "fixed": _spelled(constant),
    }
    if grid is None or any(
        None in point.values() for point in combinations
    ):  # TOML has no None: such are not named
        source["list"] = [_spelled(point) for point in combinations]
    else:
        source["grid"] = plain_value(grid)
    return Plan(experiment, tuple(made), varied, (*constant, *varied), source, measure)


def _spelled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key_of(name): plain_value(value) for name, value in values.items() if value is not None}


def _fields(cls: type[Settings], values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise SettingsError(f"{where}: must be a table of settings (got {values!r})")
    named = {field_named(cls, key, f"in {where}"): value for key, value in values.items()}
    for name in ("seed", "seeds"):
        if name in named:
            raise SettingsError(
                f"{name}: is no part of {where}; the sweep's own seeds says how many, or which"
            )
    return named


def _count(name: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_POINTS:
        raise SettingsError(f"{name}: must be a whole number in [1, {MOST_POINTS}] (got {value!r})")
    return value


def _seeds(seeds: Any) -> list[int]:
    if isinstance(seeds, list | tuple):
        if seeds and all(type(seed) is int and seed >= 0 for seed in seeds):
            return [*dict.fromkeys(seeds)]
        raise SettingsError(
            "seeds: must be a number of seeds, or a list of whole numbers from 0 on (got"
            f" {seeds!r})"
        )
    return [*range(_count("seeds", seeds))]


def _grid(values: dict[str, Any], seeds: int) -> list[dict[str, Any]]:
    for name, choices in values.items():
        if not isinstance(choices, list | tuple) or not choices:
            raise SettingsError(
                f"{key_of(name)}: must be a list of values, in grid (got {choices!r})"
            )
    _count("grid", max(math.prod(map(len, values.values())) * seeds, 1))
    return [
        dict(zip(values, combination, strict=True))
        for combination in itertools.product(*values.values())
    ]


def _listed(cls: type[Settings], points: Any) -> list[dict[str, Any]]:
    if not isinstance(points, list | tuple) or not points:
        raise SettingsError(
            f"list: must be a list of points, each a table of settings (got {points!r})"
        )
    return [_fields(cls, point, "list") for point in points]


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

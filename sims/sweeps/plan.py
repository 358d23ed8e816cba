"""The points of a sweep: a grid or a list of settings, times seeds."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab.lab import Experiment
from biorrr.sims.lab.run_folder import PROVENANCE, read_config
from biorrr.sims.lab.settings import NO_NUMBERS, Settings, SettingsError, field_named, key_of
from biorrr.sims.lab.settings import plain as plain_value

PROBLEM = ("data", "k", "s", "ridge")  # settings that change the optimum
MOST_POINTS = 1_000_000  # more is a slip of the pen
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


def swept_experiment(name: Any) -> Experiment:
    """Return the experiment of this name; refuse one that cannot be swept."""
    experiments = {known: find_experiment(known) for known in experiment_names()}
    if isinstance(name, str) and name in experiments and not experiments[name].not_swept:
        return experiments[name]
    reason = (
        f", which {experiments[name].not_swept}"
        if isinstance(name, str) and name in experiments
        else ""
    )
    can_be = ", ".join(
        known for known, experiment in experiments.items() if not experiment.not_swept
    )
    raise SettingsError(f"experiment: must be one of {can_be} (got {name!r}{reason})")


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
    declared = swept_experiment(experiment)
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


def plain(settings: Settings) -> dict[str, Any]:
    """Return settings by the names that the user gives them."""
    return {
        key_of(field.name): plain_value(getattr(settings, field.name))
        for field in dataclasses.fields(settings)
    }

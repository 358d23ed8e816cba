"""The plan of a sweep: a grid or a list of settings, times seeds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab.run_folder import PROVENANCE, read_config
from biorrr.sims.lab.settings import NO_NUMBERS, Settings, SettingsError, field_named, key_of, plain

PROBLEM = ("data", "k", "s", "ridge")  # settings that change the optimum
MOST_POINTS = 1_000_000  # more is a slip of the pen
KEYS = ("experiment", "seeds", "measure", "fixed", "grid", "list")


@dataclass(frozen=True)
class Plan:
    """The points of a sweep.

    Parameters
    ----------
    experiment
        What runs at each point.
    points
        The settings of each, seed included.
    varied, given
        Names of the settings that differ between points, and of all that were given, which are the
        columns of the table; the seed is beside them.
    source
        What :func:`make_plan` was given, as TOML can hold it.
    measure
        The number that is drawn; the lowest is best.
    """

    experiment: str
    points: tuple[Settings, ...]
    varied: tuple[str, ...]
    given: tuple[str, ...]
    source: Mapping[str, Any]
    measure: str

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
    return make_plan(**values, circuit=circuit)


def make_plan(
    experiment: str = "learn",
    seeds: Any = 1,
    measure: str | None = None,
    fixed: Mapping[str, Any] = {},
    grid: Mapping[str, Any] | None = None,
    list: Any = None,
    circuit: str | None = None,
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
    circuit
        The user's own function that returns the circuit, at all points.
    """
    if (grid is None) == (list is None):
        raise SettingsError(
            f"sweep: must have either grid or list (got {'none' if grid is None else 'both'})"
        )
    declared = find_experiment(experiment) if experiment in experiment_names() else None
    if declared is None or declared.not_swept:
        experiments = [find_experiment(name) for name in experiment_names()]
        can_be = ", ".join(one.name for one in experiments if not one.not_swept)
        reason = f", which {declared.not_swept}" if declared else ""
        raise SettingsError(f"experiment: must be one of {can_be} (got {experiment!r}{reason})")
    if measure is not None and not isinstance(measure, str):
        raise SettingsError(f"measure: must be the name of a number (got {measure!r})")
    cls, seeds = declared.settings, _seeds(seeds)
    constant = _fields(cls, fixed, "fixed") | ({} if circuit is None else {"circuit": circuit})
    combinations = _listed(cls, list) if grid is None else _grid(cls, grid, len(seeds))
    varied = tuple(dict.fromkeys(name for point in combinations for name in point))
    for name in varied:
        if name in constant:
            raise SettingsError(f"{key_of(name)}: is both fixed and varied; keep one of them")
        if name in NO_NUMBERS:
            raise SettingsError(
                f"{name}: changes no number, so there is nothing to vary; put it under fixed"
            )
    made = dict.fromkeys(
        cls(**constant, **point, seed=seed, seeds=1) for point in combinations for seed in seeds
    )
    measure = measure or declared.measure_of(next(iter(made)))
    source = {
        "experiment": experiment,
        "measure": measure,
        "seeds": seeds,
        "fixed": _spelled(constant),
    }
    # TOML has no None: in a list it is a setting that is not named.
    if grid is None or any(None in point.values() for point in combinations):
        source["list"] = [_spelled(point) for point in combinations]
    else:
        source["grid"] = plain(grid)
    return Plan(experiment, tuple(made), varied, (*constant, *varied), source, measure)


def _spelled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key_of(name): plain(value) for name, value in values.items() if value is not None}


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
    if not isinstance(seeds, list | tuple):
        return [*range(_count("seeds", seeds))]
    if not seeds or not all(type(seed) is int and seed >= 0 for seed in seeds):
        raise SettingsError(
            "seeds: must be a number of seeds, or a list of whole numbers from 0 on (got"
            f" {seeds!r})"
        )
    return [*dict.fromkeys(seeds)]


def _grid(cls: type[Settings], values: Any, seeds: int) -> list[dict[str, Any]]:
    """Return all combinations of the values of each setting."""
    choices = _fields(cls, values, "grid")
    for name, each in choices.items():
        if not isinstance(each, list | tuple) or not each:
            raise SettingsError(f"{key_of(name)}: must be a list of values, in grid (got {each!r})")
    _count("grid", math.prod(map(len, choices.values())) * seeds)
    combinations = itertools.product(*choices.values())
    return [dict(zip(choices, combination, strict=True)) for combination in combinations]


def _listed(cls: type[Settings], points: Any) -> list[dict[str, Any]]:
    if not isinstance(points, list | tuple) or not points:
        raise SettingsError(
            f"list: must be a list of points, each a table of settings (got {points!r})"
        )
    return [_fields(cls, point, "list") for point in points]

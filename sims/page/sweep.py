"""The page of a sweep: its points with their settings, numbers and learning curves."""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

from biorrr.sims.lab.files import FolderError, inside
from biorrr.sims.lab.folder import is_in_use
from biorrr.sims.lab.folder.inventory import FIGURE, Entry
from biorrr.sims.lab.quantities import readable
from biorrr.sims.lab.settings import PROVENANCE, SettingsError, key_of, read_config
from biorrr.sims.page.plain import plain
from biorrr.sims.page.run import when
from biorrr.sims.sweeps.ledger import POINTS, Ledger
from biorrr.sims.sweeps.plan import Plan, read_plan
from biorrr.sims.sweeps.run import PLAN

MOST_NUMBERS = 250_000  # in table and curves: about 2 MB
SHOWN_FAILURES = 10
FIGURE_OF_SWEEP = Entry(
    "sweep.png",
    FIGURE,
    "sweep",
    "The number that the sweep is judged by, against the settings that vary: small grey points are single runs, large "
    "ones (or cells) their mean over seeds, and the star is the lowest mean.",
    charted=True,
)


def is_sweep(folder: Path) -> bool:
    """Return True if ``folder`` is that of a sweep."""
    return any(os.path.lexists(folder / name) for name in (PLAN, POINTS))


def gather_sweep(folder: Path) -> dict[str, Any]:
    """Return all that the page shows of the sweep in ``folder`` except figures."""
    if not os.path.lexists(folder / PLAN):
        raise FolderError(f"{folder}: {PLAN} is missing; the same `biorrr sweep` again writes it")
    try:
        plan = read_plan(folder / PLAN, folder=folder)
        origin = read_config(folder / PLAN, folder).get(PROVENANCE)
    except SettingsError as error:
        raise FolderError(f"{folder}: {PLAN} must be the plan of a sweep ({error})") from error
    points = _points(plan, folder)
    if not points:
        raise FolderError(f"{folder}: no point of it is finished; `biorrr resume {folder}` continues it")
    table = _table(plan, points)
    failed = Counter(point["reason"] for point in points if point["status"] == "failed")
    first = points[0]["settings"]
    return {
        "kind": "sweep",
        "experiment": "sweep",
        "figures": [FIGURE_OF_SWEEP] if os.path.lexists(folder / FIGURE_OF_SWEEP.file) else [],
        "name": folder.resolve().name,
        "when": when(folder / PLAN),
        "sentence": _sentence(plan, points, is_in_use(folder), Ledger(folder).unit_of(plan)),
        "failures": failed.most_common(SHOWN_FAILURES),
        "settings": {name: first[name] for name in map(key_of, plan.given) if name not in map(key_of, plan.varied)},
        "versions": origin if isinstance(origin, dict) else {},
        "command": None if _circuits(plan) else f"biorrr sweep {PLAN} --out .",
        "own_circuit": _circuits(plan),
        "rows_left_out": len(points) - len(table["status"]),
        "without_curves": table["curves"].count(None),
        "charts": {"sweep": table},
    }


def _circuits(plan: Plan) -> str:
    """Return the functions of the user's own that make circuits: what runs them is not advised to others."""
    return ", ".join(dict.fromkeys(filter(None, (getattr(point, "circuit", None) for point in plan.points))))


def _points(plan: Plan, folder: Path) -> list[dict[str, Any]]:
    """Return the finished points, each with settings, status, reason, numbers, curves and the folder of its run."""
    ledger = Ledger(folder)
    points = []
    for settings in plan.points:
        entry = ledger.read(plan, settings)
        if entry is None:
            continue
        chosen = {key_of(name): _cell(getattr(settings, name)) for name in (*plan.given, "seed")}
        run = ledger.path(plan, settings).stem
        points.append(
            {
                "settings": chosen,
                "status": entry["status"],
                "reason": str(entry["reason"] or ""),
                "numbers": {name: _cell(value) for name, value in entry["numbers"].items() if name not in chosen},
                "curves": _curves(entry.get("curves")),
                "folder": f"runs/{run}" if _is_folder(folder, "runs", run) else None,
            }
        )
    return points


def _is_folder(folder: Path, *names: str) -> bool:
    try:
        return inside(folder, *names).is_dir()
    except FolderError:
        return False


def _cell(value: Any) -> Any:
    """Return one value of the table: a number with few digits, text, or None."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, int | float):
        return value if value is None or isinstance(value, int) else plain(value)
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _curves(found: Any) -> dict[str, tuple[list, list]]:
    """Return samples and values of the curves that have as many numbers as samples."""
    kept = {}
    for name, curve in found.items() if isinstance(found, dict) else ():
        seen, values = (curve.get("seen"), curve.get("values")) if isinstance(curve, dict) else (None, None)
        if not isinstance(seen, list) or not isinstance(values, list) or len(seen) != len(values):
            continue
        values = [math.nan if value is None else value for value in values]
        if all(type(number) in (int, float) for number in (*seen, *values)):
            kept[name] = seen, plain([float(value) for value in values])
    return kept


def _measured(plan: Plan, point: dict[str, Any]) -> float:
    """Return the number by which points are compared, the lower the better; infinite where there is none."""
    value = point["numbers"].get(plan.measure)
    return value if isinstance(value, int | float) else math.inf


def _sentence(plan: Plan, points: list[dict[str, Any]], going_on: bool, unit: str) -> str:
    failed = sum(point["status"] == "failed" for point in points)
    over = " and ".join(map(key_of, plan.varied)) or "seeds"
    sentence = (
        f"A sweep of “{plan.experiment}” over {over}: {len(plan.points)} points, {len(points) - failed} done, "
        f"{failed} failed, {len(plan.points) - len(points)} left{' and running' if going_on else ''}"
    )
    best = min(points, key=lambda point: _measured(plan, point))
    if _measured(plan, best) == math.inf:
        return f"{sentence}."
    if len({tuple(point["settings"][name] for name in plan.problem) for point in points}) > 1:
        return f"{sentence}; {plan.measure} is compared only where {' and '.join(plan.problem)} are the same."
    varied = [*map(key_of, plan.varied)]
    where = ", ".join(f"{name} {best['settings'][name]}" for name in (*varied, "seed"))
    sentence += f"; the lowest {plan.measure} of a single point is {readable(_measured(plan, best), unit)}, at {where}"
    groups: dict[tuple, list[float]] = {}
    for point in points:
        if _measured(plan, point) < math.inf:
            groups.setdefault(tuple(point["settings"][name] for name in varied), []).append(_measured(plan, point))
    place, values = min(groups.items(), key=lambda group: sum(group[1]) / len(group[1]))
    if len(values) > 1 and varied:
        where = ", ".join(f"{name} {value}" for name, value in zip(varied, place, strict=True))
        mean = readable(sum(values) / len(values), unit)
        sentence += f"; the lowest mean over {len(values)} seeds is {mean}, at {where}"
    return f"{sentence}."


def _table(plan: Plan, points: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the points column by column, then curves, the best points first: as many as a page can hold."""
    numbers = dict.fromkeys(name for point in points for name in point["numbers"])
    settings = [*map(key_of, plan.given), "seed"]
    cells = len(numbers) + len(settings) + 1
    rows = points[: MOST_NUMBERS // cells]
    columns = {name: [point["settings"][name] for point in rows] for name in settings}
    samples: list[list] = []  # most points share theirs
    curves: list[dict[str, Any] | None] = [None] * len(rows)
    room = MOST_NUMBERS - cells * len(rows)
    for i in sorted(range(len(rows)), key=lambda i: _measured(plan, rows[i])):
        room -= sum(len(values) for _, values in rows[i]["curves"].values())
        if room < 0:
            break
        kept = {}
        for name, (seen, values) in rows[i]["curves"].items():
            if seen not in samples:
                samples.append(seen)
            kept[name] = [samples.index(seen), values]
        curves[i] = kept
    return {
        "settings": columns,
        "varied": [name for name in map(key_of, plan.varied) if len(set(columns[name])) > 1],
        "numbers": {name: [point["numbers"].get(name) for point in rows] for name in numbers},
        "measure": plan.measure,
        "problem": plan.problem,
        "status": [point["status"] for point in rows],
        "reason": [point["reason"] for point in rows],
        "folder": [point["folder"] for point in rows],
        "samples": samples,
        "curves": curves,
    }

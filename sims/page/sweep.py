"""The page of a sweep: its figure, and the table of its points."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from biorrr.sims.lab.run_folder import PROVENANCE, FolderError, is_in_use, read_config
from biorrr.sims.lab.settings import SettingsError, key_of
from biorrr.sims.page.run import when
from biorrr.sims.sweeps.plan import read_plan
from biorrr.sims.sweeps.points import POINTS, TABLE, Table
from biorrr.sims.sweeps.run import PLAN

MOST_CELLS = 50_000  # of the table: about 2 MB
FIGURE_OF_SWEEP = "sweep.png"


def is_sweep(folder: Path) -> bool:
    """Return True if ``folder`` is that of a sweep."""
    return any(os.path.lexists(folder / name) for name in (PLAN, POINTS))


def gather_sweep(folder: Path) -> dict[str, Any]:
    """Return what the page shows of the sweep in ``folder``, finished or not."""
    if not os.path.lexists(folder / PLAN):
        raise FolderError(f"{folder}: {PLAN} is missing; the same `biorrr sweep` again writes it")
    try:
        plan = read_plan(folder / PLAN, folder=folder)
        origin = read_config(folder / PLAN, folder).get(PROVENANCE)
    except SettingsError as error:
        raise FolderError(f"{folder}: {PLAN} must be the plan of a sweep ({error})") from error
    table = Table.read(plan, folder)
    if not table.rows:
        raise FolderError(
            f"{folder}: no point of it is finished; `biorrr resume {folder}` continues it"
        )
    counts, *further = table.report()
    over = " and ".join(map(key_of, plan.varied)) or "seeds"

    def measured(row: dict[str, Any]) -> float:
        value = row.get(plan.measure)
        return value if isinstance(value, int | float) else math.inf

    rows = sorted(table.rows, key=measured)[: MOST_CELLS // len(table.rows[0])]
    circuits = dict.fromkeys(
        filter(None, (getattr(point, "circuit", None) for point in plan.points))
    )
    return {
        "name": folder.resolve().name,
        "when": when(folder / PLAN),
        "sentence": (
            f"A sweep of “{plan.experiment}” over {over}: {counts}"
            f"{' and running' if is_in_use(folder) else ''}."
        ),
        "lines": further,
        "figures": [FIGURE_OF_SWEEP] if os.path.lexists(folder / FIGURE_OF_SWEEP) else [],
        "points": rows,
        "order": (
            f"The lowest {plan.measure} comes first."
            + (
                f" {len(table.rows) - len(rows)} more points are in {TABLE}."
                if len(rows) < len(table.rows)
                else ""
            )
        ),
        "settings": plan.source,
        "versions": origin if isinstance(origin, dict) else {},
        "command": f"biorrr sweep {PLAN} --out .",
        "own_circuit": ", ".join(circuits),
    }

"""The results of a sweep so far: one small file for each finished point, and the table made of them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biorrr.sims.lab.files import inside, read_json, whole_file
from biorrr.sims.lab.settings import Settings, key_of
from biorrr.sims.sweeps.plan import Plan, plain

POINTS, TABLE = "points", "sweep.parquet"
MOST_CURVE_POINTS = 60  # enough to see the shape of a curve, and small beside the numbers


class Ledger:
    """The finished points in a folder, by their settings.

    A point is written the moment it is finished, whole or not at all. The table is only ever made from the points, so
    a damaged table loses nothing.

    Parameters
    ----------
    folder
        The sweep's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, plan: Plan, settings: Settings) -> Path:
        """Return the path of the file of one point."""
        known = plain(settings)
        if known.get("circuit") is None:  # as before there was such a setting
            known.pop("circuit", None)
        text = json.dumps([plan.experiment, known], sort_keys=True)
        return inside(self.folder, POINTS, f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json")

    def read(self, plan: Plan, settings: Settings) -> dict[str, Any] | None:
        """Return what is known of a point: status, reason, data_sha256, numbers, units, curves; None if not done.

        A damaged file is as good as none: the point is computed again.
        """
        found = read_json(self.folder, POINTS, self.path(plan, settings).name)
        if not isinstance(found, dict) or found.get("status") not in ("done", "failed"):
            return None
        if not isinstance(found.get("numbers"), dict):
            return None
        return {"reason": None, "data_sha256": None, "units": {}, "curves": {}} | found

    def write(self, plan: Plan, settings: Settings, entry: dict[str, Any]) -> None:
        """Keep what is known of a point."""
        text = json.dumps({"settings": plain(settings)} | entry, allow_nan=False)
        path = self.path(plan, settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial:
            partial.write_text(text + "\n", encoding="utf-8")

    def rows(self, plan: Plan) -> list[dict[str, Any]]:
        """Return the finished points of ``plan`` in its order: settings, seed, status and reason, then the numbers."""
        entries = [(settings, self.read(plan, settings)) for settings in plan.points]
        finished = [(settings, entry) for settings, entry in entries if entry is not None]
        # A failed point has no numbers, and the others must not lose theirs by it: every row has every column.
        numbers = dict.fromkeys(name for _, entry in finished for name in entry["numbers"])
        rows = []
        for settings, entry in finished:
            chosen = {key_of(name): _cell(getattr(settings, name)) for name in (*plan.given, "seed")}
            ended = {"status": entry["status"], "reason": entry["reason"]}
            rows.append(chosen | ended | {n: entry["numbers"].get(n) for n in numbers if n not in chosen})
        return rows

    def unit_of(self, plan: Plan) -> str:
        """Return the unit of the plan's measure, as the finished points tell it."""
        for settings in plan.points:
            entry = self.read(plan, settings)
            if entry is not None and isinstance(entry["units"], dict) and plan.measure in entry["units"]:
                return str(entry["units"][plan.measure])
        return ""

    def write_table(self, plan: Plan, csv: bool = False) -> list[dict[str, Any]]:
        """Write the finished points as Parquet, and as CSV if asked for; return its rows."""
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        rows = self.rows(plan)
        table = pa.Table.from_pylist(rows)
        with whole_file(self.folder / TABLE) as partial:
            pa.parquet.write_table(table, partial)
        if csv:
            with whole_file((self.folder / TABLE).with_suffix(".csv")) as partial:
                pa.csv.write_csv(table, partial)
        return rows


def plain_curves(curves: Mapping[str, tuple[Any, Any]]) -> dict[str, dict[str, list]]:
    """Return curves (samples seen, values) as JSON can hold them: at most 60 points, null for infinity."""
    plain: dict[str, dict[str, list]] = {}
    for name, (seen, values) in curves.items():
        last, kept = len(seen) - 1, min(len(seen), MOST_CURVE_POINTS)
        at = sorted({round(i * last / max(kept - 1, 1)) for i in range(kept)})
        plain[name] = {
            "seen": [int(seen[i]) for i in at],
            "values": [float(values[i]) if math.isfinite(values[i]) else None for i in at],
        }
    return plain


def _cell(value: Any) -> Any:
    """Return one value of a table; data and lists of values are text."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, Settings) else value

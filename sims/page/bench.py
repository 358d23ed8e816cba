"""Interactive charts of ``biorrr bench``, from its bench.json."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biorrr.sims.page.files import opened_inside

FILE = "bench.json"


def bench_charts(folder: Path) -> list[dict[str, Any]]:
    """Time per sample of each contestant at each size, and time per synapse as circuits grow, where measured."""
    from biorrr.sims.bench.contestants import CONTESTANTS

    try:
        with opened_inside(folder / FILE, folder) as file:
            found = json.loads(file.read().decode("utf-8"))
    except FileNotFoundError:
        return []
    speed = found["speed"]
    views = [
        _view(
            "time per sample (µs)",
            "inputs × instructions × outputs",
            "y",
            [
                _line(label, [str(row["size"]) for row in speed], [row["microseconds"].get(name) for row in speed])
                for name, label in CONTESTANTS.items()
            ],
        )
    ]
    if growth := found.get("growth"):
        rows = growth["nanoseconds_per_synapse"]
        synapses = [float(row["synapses"]) for row in rows]
        lines = [_line(CONTESTANTS[name], synapses, [row[name] for row in rows]) for name in ("c_loop", "circuit")]
        limit = float(growth["bandwidth_limit"])
        lines.append(_line("weights read from and written to memory", synapses, [limit] * len(rows), theory=True))
        views.append(_view("time per synapse and sample (ns)", "synapses", "x", lines))
    return [{"title": "How fast", "hint": "The lower, the faster.", "views": views}]


def _view(label: str, x: str, log: str, series: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": label, "label": label, "x": [x], "log": log, "window": 0, "percent": False, "choose": {},
        "series": [line for line in series if line["y"]],
    }  # fmt: skip


def _line(label: str, x: Sequence[str | float], y: Sequence[Any], theory: bool = False) -> dict[str, Any]:
    """A line without the points that were not measured."""
    kept = [
        (at, value) for at, value in zip(x, y, strict=True) if isinstance(value, int | float) and math.isfinite(value)
    ]
    return {
        "choose": {}, "line": label, "group": label, "theory": theory, "quantity": None, "repeat": None,
        "x": [[at for at, _ in kept]], "y": [value for _, value in kept],
    }  # fmt: skip

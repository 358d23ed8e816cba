"""The diagram of a circuit: its cells, and its weights through learning."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from biorrr.analysis.figures.panels.wiring import MOST_CELLS
from biorrr.sims.page.plain import plain

SHOWN_SNAPSHOTS = 60  # positions of the slider
PAPER_CELLS = ("sensory", "instructive", "pyramidal", "interneurons")
FEW = slice(MOST_CELLS)  # cells of each kind that are drawn


@np.errstate(over="ignore", invalid="ignore")  # of a circuit that has diverged
def diagram_of(run: Any) -> dict[str, Any]:
    """Return the diagram of ``run``: weights at some snapshots, rules and sizes of the pathways."""
    data, circuit = run.data, json.loads(run.data.attrs["circuit"])
    seen = data["seen"].values
    kept = np.unique(np.linspace(0, len(seen) - 1, min(SHOWN_SNAPSHOTS, len(seen))).astype(int))
    weights = {name: values.values[kept] for name, values in data[[*run.weights]].items()}
    return {
        "seen": plain(seen[kept]),
        **{name: plain(np.linalg.norm(weights[name], axis=1)[:, FEW]) for name in ("Vx", "Vy")},
        **{name: plain(weights[name][:, FEW, FEW]) for name in ("Q", "R")},
        "raising": {name: plain((weights[name] > 0).mean(axis=1)[:, FEW]) for name in ("Vx", "Vy")},
        "sizes": {name: int(data.sizes[name]) for name in ("input", "instruction", "pyramidal", "interneuron")},
        "pathways": {
            one["weight"]: {"synapses": f"{weights[one['weight']][0].size} synapses", "rule": one["change"]}
            for one in circuit["pathways"]
        },
        "own": {
            "populations": [
                one | {"size": min(one["size"], MOST_CELLS)}
                for one in circuit["populations"]
                if one["name"] not in PAPER_CELLS
            ],
            "pathways": [
                one | {"values": plain(_by_source(weights[one["weight"]], one["target_by_source"])[:, FEW, FEW])}
                for one in circuit["pathways"]
                if one["weight"] not in ("Vx", "Vy", "Q", "R")
            ],
        },
    }


def _by_source(weights: np.ndarray, target_by_source: bool) -> np.ndarray:
    """Return weights (snapshot, source, target)."""
    return weights.transpose(0, 2, 1) if target_by_source else weights

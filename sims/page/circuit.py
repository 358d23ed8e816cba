"""The charts of one circuit's learning: its weights, learning curve, plateaus, audit, symmetry and filters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.analysis.figures.panels.wiring import MOST_CELLS
from biorrr.sims.page.plain import plain

if TYPE_CHECKING:
    from biorrr.sims.data import Dataset

SHOWN_SNAPSHOTS = 60  # positions of the slider
AUDITED_SAMPLES = 300  # points of the audit's scatter, a neuron
PAPER_CELLS = ("sensory", "instructive", "pyramidal", "interneurons")


@dataclass(frozen=True)
class Exact:
    """Quantities that need the data: the optimum, the exact filters, the back-propagated error.

    Parameters
    ----------
    data, yardstick
        The data that the run learned, and their exact solution.
    learned, filters : (m, k)
        Filters of the circuit, rotated onto the exact ones, and those; None where the circuit has diverged.
    pixels
        Shape of the pictures that the filters are.
    audit
        Plateau and back-propagated error, each (k, samples), and their correlation (k,); None where the circuit has
        diverged, or the samples are too many to hold.
    """

    data: Dataset
    yardstick: Any
    learned: np.ndarray | None
    filters: np.ndarray | None
    pixels: tuple[int, ...] | None
    audit: dict[str, np.ndarray] | None


def solve_exactly(run: Any, data: Dataset) -> Exact:
    """Return the exact solution of the problem that the run has learned from ``data``."""
    from biorrr.analysis import Yardstick, audit_plateau

    X, Y = data.stand_in
    attrs = run.data.attrs
    ridge = attrs["ridge_x"], attrs["ridge_y"]
    yardstick = Yardstick(X, Y, attrs["s"], ridge)
    if run.ended == "diverged":
        return Exact(data, yardstick, None, None, None, None)
    filters = yardstick.Vx(run.Vx.shape[1])
    audit = None
    if len(X) == len(data.X):  # samples, and not what stands in for more of them than fit in memory
        found = audit_plateau(X, Y, run.Vx, run.Vy, run.Q, run.R, ridge)
        rows = np.linspace(0, len(X) - 1, min(AUDITED_SAMPLES, len(X)), dtype=int)
        correlation = found.plateau_and_error.correlation
        audit = {"plateau": found.plateau[rows].T, "error": found.error[rows].T, "correlation": correlation}
    return Exact(data, yardstick, yardstick.aligned(run.Vx), filters, data.pixels, audit)


@np.errstate(over="ignore", invalid="ignore")  # of a circuit that has diverged
def circuit_charts(run: Any, exact: Exact | None) -> dict[str, Any]:
    """Return the charts of ``run``, with what ``exact`` adds to them."""
    data = run.data
    seen = data["seen"].values
    kept = np.unique(np.linspace(0, len(seen) - 1, min(SHOWN_SNAPSHOTS, len(seen))).astype(int))
    few = slice(MOST_CELLS)
    charts: dict[str, Any] = {
        "seen": plain(seen),
        "s": float(data.attrs["s"]),
        "diagram": {
            "seen": plain(seen[kept]),
            "Vx": plain(np.linalg.norm(data["Vx"].values[kept], axis=1)[:, few]),
            "Vy": plain(np.linalg.norm(data["Vy"].values[kept], axis=1)[:, few]),
            "raising": {name: plain((data[name].values[kept] > 0).mean(axis=1)[:, few]) for name in ("Vx", "Vy")},
            "Q": plain(data["Q"].values[kept][:, few, few]),
            "R": plain(data["R"].values[kept][:, few, few]),
            "sizes": {name: int(data.sizes[name]) for name in ("input", "instruction", "pyramidal", "interneuron")},
            "pathways": _pathways(run),
            "own": _own_parts(run, kept),
        },
        "symmetry": {"measured": plain(run.r_minus_qt), "predicted": plain(_predicted_symmetry(run))},
    }
    if "plateau" in data and data.sizes["sample"]:
        charts["traces"] = _stages(run, exact, few)
    if exact is not None:
        charts["learning"] = {
            "objective": plain(np.atleast_1d(exact.yardstick.objective(data["Vx"].values))),
            "excess": plain(np.atleast_1d(exact.yardstick.excess(data["Vx"].values))),
            "optimum": exact.yardstick.optimum(run.Vx.shape[1]),
        }
    if exact is not None and exact.audit is not None:
        charts["audit"] = {name: plain(values[few]) for name, values in exact.audit.items()}
    if exact is not None and exact.learned is not None and exact.filters is not None:
        shape = exact.pixels if exact.pixels is not None and len(exact.pixels) == 2 else None
        charts["filters"] = {
            "learned": plain(exact.learned.T[few]),
            "exact": plain(exact.filters.T[few]),
            "pixels": list(shape) if shape else None,
        }
    return charts


def _stages(run: Any, exact: Exact | None, few: slice) -> dict[str, Any]:
    """Return traces at the start, halfway and at the end of learning, as ``run.plot_plateau`` draws them."""
    from biorrr.analysis.figures.runs import moments, stages, unit_of

    known = (exact.data.X, exact.data.Y, exact.yardstick) if exact is not None else (None, None, None)
    by_neuron = {
        title: {
            "at": plain(moments(run.data, stage.samples)),
            "traces": {name: plain(_by_neuron(trace)[few]) for name, trace in stage.traces.items()},
            "theory": {name: plain(_by_neuron(signal)[few]) for name, signal in stage.theory.items()},
        }
        for title, stage in stages(run.data, *known).items()
    }
    return {"stages": by_neuron, "unit": unit_of(run.data)}


def _by_neuron(trace: np.ndarray) -> np.ndarray:
    """Return the trace with one row per neuron and one column per tick."""
    return trace.reshape(-1, trace.shape[-1]).T


def _pathways(run: Any) -> dict[str, dict[str, str]]:
    """Return size, rule and meaning of each pathway of the run."""
    return {
        pathway["weight"]: {
            "synapses": f"{run.weights[pathway['weight']].size} synapses",
            "rule": pathway["change"],
            "meaning": pathway["meaning"],
        }
        for pathway in json.loads(run.data.attrs["circuit"])["pathways"]
    }


def _own_parts(run: Any, kept: np.ndarray) -> dict[str, Any]:
    """Return populations and pathways that the paper's circuit lacks, with weights at the snapshots ``kept``."""
    circuit = json.loads(run.data.attrs["circuit"])
    few = slice(MOST_CELLS)
    pathways = []
    for pathway in circuit["pathways"]:
        if pathway["weight"] in ("Vx", "Vy", "Q", "R"):
            continue
        weights = run.data[pathway["weight"]].values[kept]  # one row per source cell
        weights = weights.transpose(0, 2, 1) if pathway["target_by_source"] else weights
        pathways.append({**pathway, "values": plain(weights[:, few, few])})
    own = [p for p in circuit["populations"] if p["name"] not in PAPER_CELLS]
    return {"populations": [{**p, "size": min(p["size"], MOST_CELLS)} for p in own], "pathways": pathways}


def _predicted_symmetry(run: Any) -> np.ndarray:
    """Return ||Q' - R|| by theory at each snapshot: its start times the product of (1 - eta_q)."""
    from biorrr.analysis import decay_between

    data = run.data
    measured = run.r_minus_qt
    if "eta_q" not in data or data.attrs["plastic"] == 0:
        return np.full_like(measured, np.nan)
    rates = data["eta_q"].values.reshape(data.sizes["sample"], -1)[:, 0]  # where a sample is held, at its first tick
    return measured[0] * decay_between(data["seen"].values, data["sample"].values, rates)

"""Figure of ``biorrr bench``: time per sample, and time per synapse as circuits grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import THEORY, axes_of, styled


@styled
def plot_speed(results: Mapping[str, Any], contestants: Mapping[str, str]) -> np.ndarray:
    """Draw time per sample, and time per synapse as circuits grow, where it was measured.

    Parameters
    ----------
    results
        What ``biorrr bench`` has measured, as bench.json holds it.
    contestants
        What each is called, by the name that it has in the results. One that was not measured is left out.

    Returns
    -------
    axes : (1,) or (2,)
    """
    grown = results.get("growth")
    axes = axes_of(None, 1, 2 if grown else 1, figsize=(7.5 if grown else 4.2, 3))[0]
    race, rows = axes[0], results["speed"]
    looks = dict(zip(contestants, (f"C{place}{marker}" for place, marker in enumerate("os^vD")), strict=False))
    for name, label in contestants.items():
        times = [row["microseconds"].get(name, np.nan) for row in rows]
        if np.isfinite(times).any():
            race.plot(times, looks[name], label=label)
    race.set(yscale="log", ylabel="µs per sample", xlabel="inputs × instructions × outputs")
    race.set(xlim=(-0.5, len(rows) - 0.5))
    race.set_xticks(range(len(rows)), [row["size"] for row in rows])
    race.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), handlelength=1, columnspacing=1)
    if grown:
        measured = grown["nanoseconds_per_synapse"]
        for name in ("c_loop", "circuit"):
            axes[1].plot([row["synapses"] for row in measured], [row[name] for row in measured], f"{looks[name]}-")
        axes[1].axhline(grown["bandwidth_limit"], label="limit: weights read from and written to memory", **THEORY)
        axes[1].set(xscale="log", ylim=(0, None), xlabel="synapses", ylabel="ns per synapse and sample")
        axes[1].legend()
    return axes

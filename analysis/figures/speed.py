"""The figure of ``biorrr bench``: the race, and time per synapse as circuits grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import axes_of, styled


@styled
def plot_speed(results: Mapping[str, Any], contestants: Mapping[str, str]) -> np.ndarray:
    """Draw time per sample, and time per synapse as circuits grow, where it was measured.

    Parameters
    ----------
    results
        What ``biorrr bench`` has measured, as bench.json holds it.
    contestants
        What each is called, by the name that it has in the results.

    Returns
    -------
    axes : (1,) or (2,)
    """
    grown = results.get("growth")
    axes = axes_of(None, 1, 2 if grown else 1, figsize=(7.5 if grown else 4.2, 3))[0]
    race, rows = axes[0], results["speed"]
    colours = dict(zip(contestants, ("#009E73", "#CC79A7", "#56B4E9", "0.6", "#0072B2"), strict=True))
    for place, (name, label) in enumerate(contestants.items()):
        times = [row["microseconds"].get(name, np.nan) for row in rows]
        race.bar(np.arange(len(rows)) + 0.16 * (place - 2), times, width=0.15, label=label, color=colours[name])
    race.set(yscale="log", ylabel="µs per sample", xlabel="inputs × instructions × outputs")
    race.set_xticks(range(len(rows)), [row["size"] for row in rows])
    race.legend(ncols=len(contestants), loc="lower left", bbox_to_anchor=(0, 1), handlelength=1, columnspacing=1)
    if grown:
        axis = axes[1]
        synapses = [row["synapses"] for row in grown["nanoseconds_per_synapse"]]
        for name in ("c_loop", "circuit"):
            times = [row[name] for row in grown["nanoseconds_per_synapse"]]
            axis.plot(synapses, times, "o-", label=contestants[name], color=colours[name])
        axis.axhline(
            grown["bandwidth_limit"], color="k", ls="--", lw=0.8, label="weights read from and written to memory"
        )
        axis.set(xscale="log", ylim=(0, None), xlabel="synapses", ylabel="ns per synapse and sample")
        axis.legend()
    return axes

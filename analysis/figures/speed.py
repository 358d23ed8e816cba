"""The figure of ``biorrr bench``: time per sample of the circuit and of its contestants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import axes_of, styled

_COLOURS = ("#009E73", "#CC79A7", "#56B4E9", "0.6", "#0072B2")


@styled
def plot_speed(results: Mapping[str, Any], contestants: Mapping[str, str]) -> np.ndarray:
    """Draw time per sample at each size; a contestant that was not measured is left out.

    Parameters
    ----------
    results
        Measurements of ``biorrr bench``, as bench.json holds them.
    contestants
        Label of each contestant, by its name in the results.

    Returns
    -------
    axes : (1,)
    """
    axes = axes_of(None, 1, 1, figsize=(4.8, 3))[0]
    race, rows = axes[0], results["speed"]
    for (name, label), colour in zip(contestants.items(), _COLOURS, strict=True):
        times = [row["microseconds"].get(name, np.nan) for row in rows]
        if np.isfinite(times).any():
            race.plot(times, "o", label=label, color=colour)
    race.set(yscale="log", ylabel="µs per sample", xlabel="inputs × instructions × outputs")
    race.set_xticks(range(len(rows)), [row["size"] for row in rows])
    race.set_xlim(-0.5, len(rows) - 0.5)
    race.legend(ncols=len(contestants), loc="lower left", bbox_to_anchor=(0, 1), handlelength=1, columnspacing=1)
    return axes

"""Figure of ``biorrr bench``: time per sample of the circuit and of its contestants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import axes_of, styled


@styled
def plot_speed(results: Mapping[str, Any], contestants: Mapping[str, str]) -> np.ndarray:
    """Draw time per sample at each size.

    Parameters
    ----------
    results
        What ``biorrr bench`` has measured, as bench.json holds it.
    contestants
        What each is called, by the name that it has in the results. One that was not measured is
        left out.

    Returns
    -------
    axes : (1,)
    """
    axes = axes_of(None, 1, 1, height=3)[0]
    race, rows = axes[0], results["speed"]
    looks = dict(
        zip(
            contestants, (f"C{place}{marker}" for place, marker in enumerate("os^vD")), strict=False
        )
    )
    for name, label in contestants.items():
        times = [row["microseconds"].get(name, np.nan) for row in rows]
        if np.isfinite(times).any():
            race.plot(times, looks[name], label=label)
    race.set(
        yscale="log",
        ylabel="µs per sample",
        xlabel="inputs × instructions × outputs",
        xlim=(-0.5, len(rows) - 0.5),
    )
    race.set_xticks(range(len(rows)), [row["size"] for row in rows])
    race.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), handlelength=1, columnspacing=1)
    return axes

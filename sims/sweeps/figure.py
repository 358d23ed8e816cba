"""A sweep at a glance: a curve for one setting, a heat map for two, the lowest mean of each problem marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.lab.settings import key_of
from biorrr.sims.sweeps.plan import Plan


def plot_sweep(plan: Plan, rows: list[dict[str, Any]], ax=None):
    """Draw the mean over seeds of the plan's measure against the one or two settings that vary.

    Parameters
    ----------
    plan
        The sweep; its ``varied`` are the axes.
    rows
        Rows of its table.
    ax
        Axes to draw on; new ones unless given.

    Returns
    -------
    The axes, or None where there is nothing to draw: no finished point, or not one or two settings that vary.
    """
    from biorrr.analysis.figures.sweep import plot_means

    names = [key_of(name) for name in plan.varied]
    means = mean_over_seeds(names, plan.measure, rows)
    if not means or len(names) not in (1, 2):
        return None
    return plot_means(plan.measure, rows, names, means, problem=plan.problem, ax=ax)


def mean_over_seeds(names: list[str], measure: str, rows: list[dict[str, Any]]) -> dict[tuple, float]:
    """Return the measure at each combination of the settings ``names``, averaged over the seeds that gave one."""
    found: dict[tuple, list[float]] = {}
    for row in rows:
        if isinstance(row.get(measure), int | float):
            found.setdefault(tuple(row[name] for name in names), []).append(row[measure])
    return {point: float(np.mean(values)) for point, values in found.items()}

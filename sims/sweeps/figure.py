"""A sweep at a glance: a curve for one setting, a heat map for two, the best point marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biorrr.sims.settings import key_of
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
    from biorrr.analysis.figures.style import styled

    names = [key_of(name) for name in plan.varied]
    means = mean_over_seeds(names, plan.measure, rows)
    if not means or len(names) not in (1, 2):
        return None
    spans = plan.source.get("random", {})
    scales = {key_of(name): "log" for name, span in spans.items() if isinstance(span, Mapping) and span.get("log")}
    return styled(_draw)(plan.measure, rows, [(name, scales.get(name, "linear")) for name in names], means, ax)


def _draw(measure: str, rows: list[dict[str, Any]], axes: list[tuple[str, str]], means: dict[tuple, float], ax):
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.figure(figsize=(4.5, 3.2), layout="constrained").add_subplot()
    names, scales = zip(*axes, strict=True)
    # Numbers in order; anything else as it comes.
    levels = [_levels([point[axis] for point in means]) for axis in range(len(names))]
    best = min(means, key=means.__getitem__)
    if len(names) == 1:
        numeric = all(isinstance(level, int | float) for level in levels[0])
        at = {level: level if numeric else i for i, level in enumerate(levels[0])}
        for row in rows:
            if row.get(measure) is not None:
                ax.plot(at[row[names[0]]], row[measure], ".", color="0.7", markersize=4)
        ax.plot([at[level] for level in levels[0]], [means[(level,)] for level in levels[0]], "o-", markersize=4)
        ax.plot(at[best[0]], means[best], "*", markersize=14, color="C1")
        ax.set(xlabel=names[0], ylabel=measure, xscale=scales[0])
        if not numeric:
            ax.set_xticks(range(len(levels[0])), levels[0])
    elif all(isinstance(level, int | float) for axis in levels for level in axis) and _scattered(levels, means):
        (y, x), heights = np.array(list(means)).T, list(means.values())
        points = ax.scatter(x, y, c=heights, cmap="viridis")
        ax.figure.colorbar(points, ax=ax, label=measure)
        ax.plot(best[1], best[0], "*", markersize=14, color="C1", markeredgecolor="white")
        ax.set(xlabel=names[1], ylabel=names[0], xscale=scales[1], yscale=scales[0])
    else:
        grid = np.full([len(axis) for axis in levels], np.nan)
        for point, mean in means.items():
            grid[levels[0].index(point[0]), levels[1].index(point[1])] = mean
        image = ax.imshow(grid, origin="lower", aspect="auto", cmap="viridis")
        ax.figure.colorbar(image, ax=ax, label=measure)
        place = levels[1].index(best[1]), levels[0].index(best[0])
        ax.plot(*place, "*", markersize=14, color="C1", markeredgecolor="white")
        ax.set(xlabel=names[1], ylabel=names[0])
        ax.set_xticks(range(len(levels[1])), [_short(level) for level in levels[1]], rotation=45)
        ax.set_yticks(range(len(levels[0])), [_short(level) for level in levels[0]])
    where = ", ".join(f"{name} {_short(level)}" for name, level in zip(names, best, strict=True))
    ax.set_title(f"best (star): {where}", fontsize="medium")
    return ax


def mean_over_seeds(names: list[str], measure: str, rows: list[dict[str, Any]]) -> dict[tuple, float]:
    """The measure at each combination of the settings ``names``, averaged over the seeds that gave one."""
    found: dict[tuple, list[float]] = {}
    for row in rows:
        if isinstance(row.get(measure), int | float):
            found.setdefault(tuple(row[name] for name in names), []).append(row[measure])
    return {point: float(np.mean(values)) for point, values in found.items()}


def _scattered(levels: list[list], means: dict[tuple, float]) -> bool:
    """Whether points lie anywhere, as in a random sample, rather than on a grid."""
    return len(means) > 4 and len(means) < 0.5 * len(levels[0]) * len(levels[1])


def _levels(values: list) -> list:
    distinct = list(dict.fromkeys(values))
    return sorted(distinct) if all(isinstance(value, int | float) for value in distinct) else distinct


def _short(level: Any) -> str:
    return f"{level:.3g}" if isinstance(level, float) else str(level)

"""A sweep at a glance: a curve for one setting, a heat map for two, the lowest mean of each problem
marked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import EXCESS, Axes, axes_of, styled

LONGEST_LABEL = 24  # characters of a tick's label


@styled
def plot_means(
    measure: str,
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    means: Mapping[tuple, float],
    *,
    problem: Collection[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw means over seeds against the one or two settings that vary, with a star at the lowest of
    each problem.

    Parameters
    ----------
    measure
        The number that is drawn; excess is drawn in percent.
    rows
        Single points, each with its settings and its numbers by name.
    names
        Names of the one or two settings that vary.
    means
        By the values of these settings: the mean over seeds.
    problem
        Those of ``names`` that change the problem: means are compared only where these are the
        same.
    """
    from matplotlib.ticker import FuncFormatter

    ax = axes_of(ax, figsize=(4.7, 3.3))
    percent = (
        FuncFormatter(lambda value, _: f"{100 * value:.3g} %") if "excess" in measure else None
    )
    label = EXCESS if measure == "excess" else measure
    # Numbers in order; anything else as it comes.
    levels = [_levels([point[axis] for point in means]) for axis in range(len(names))]
    best = _lowest(means, [axis for axis, name in enumerate(names) if name in problem])
    if len(names) == 1:
        numeric = all(isinstance(level, int | float) for level in levels[0])
        at = {level: level if numeric else i for i, level in enumerate(levels[0])}
        for row in rows:
            if row.get(measure) is not None:
                ax.plot(at[row[names[0]]], row[measure], ".", color="0.7", markersize=4)
        ax.plot(
            [at[level] for level in levels[0]],
            [means[(level,)] for level in levels[0]],
            "o-",
            markersize=4,
        )
        ax.plot(
            [at[one] for (one,) in best],
            [means[point] for point in best],
            "*",
            markersize=14,
            color="C1",
            ls="",
        )
        ax.set(xlabel=names[0], ylabel=label)
        if percent:
            ax.yaxis.set_major_formatter(percent)
        if not numeric:
            ax.set_xticks(range(len(levels[0])), [_short(level) for level in levels[0]])
    else:
        grid = np.full([len(axis) for axis in levels], np.nan)
        for point, mean in means.items():
            grid[levels[0].index(point[0]), levels[1].index(point[1])] = mean
        image = ax.imshow(grid, origin="lower", aspect="auto", cmap="viridis")
        ax.figure.colorbar(image, ax=ax, label=label, format=percent)
        ax.set(xlabel=names[1], ylabel=names[0])
        ax.set_xticks(range(len(levels[1])), [_short(level) for level in levels[1]], rotation=45)
        ax.set_yticks(range(len(levels[0])), [_short(level) for level in levels[0]])
        for y, x in best:
            place = levels[1].index(x), levels[0].index(y)
            ax.plot(*place, "*", markersize=14, color="C1", markeredgecolor="white")
    if len(best) == 1:
        where = ", ".join(
            f"{name} {_short(level)}" for name, level in zip(names, best[0], strict=True)
        )
    else:
        where = f"for each {' and '.join(problem)}"
    lowest = "lowest mean over seeds" if len(rows) > len(means) else "lowest"
    ax.set_title(
        f"{lowest} (star): {where}" if best else f"different problems {where}: not compared",
        fontsize="medium",
    )
    return ax


def _lowest(means: Mapping[tuple, float], problem: Sequence[int]) -> list[tuple]:
    """Return the lowest point of each problem that has several; ``problem`` are the axes that tell
    problems apart.
    """
    groups: dict[tuple, list[tuple]] = {}
    for point in means:
        groups.setdefault(tuple(point[axis] for axis in problem), []).append(point)
    several = [group for group in groups.values() if len(group) > 1 or len(groups) == 1]
    return [min(group, key=means.__getitem__) for group in several]


def _levels(values: list) -> list:
    distinct = list(dict.fromkeys(values))
    return (
        sorted(distinct) if all(isinstance(value, int | float) for value in distinct) else distinct
    )


def _short(level: Any) -> str:
    """Return a value as the label of a tick; of a long text, such as a path, the end."""
    text = f"{level:.3g}" if isinstance(level, float) else str(level)
    return text if len(text) <= LONGEST_LABEL else f"…{text[1 - LONGEST_LABEL :]}"

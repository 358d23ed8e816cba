"""A sweep at a glance: a curve for one setting, a heat map for two, the lowest mean of each problem
marked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import (
    COLUMN,
    EXCESS,
    PAGE,
    Axes,
    axes_of,
    colour,
    legend_below,
    percent,
    styled,
)

_LONGEST_LABEL = 16  # characters of a tick's label


@dataclass(frozen=True)
class _Sweep:
    """Means over seeds on a grid of one or two settings."""

    measure: str
    rows: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    means: Mapping[tuple, float]
    problem: Collection[str]

    @property
    def label(self) -> str:
        """Label of the axis or the colour bar."""
        return EXCESS if self.measure == "excess" else self.measure

    @property
    def percent(self) -> Any:
        """Formatter of excess in percent; None for other measures."""
        from matplotlib.ticker import FuncFormatter

        formatter = FuncFormatter(lambda value, _: f"{100 * value:.3g} %")
        return formatter if "excess" in self.measure else None

    @property
    def levels(self) -> list[list]:
        """Values of each setting: numbers in order, anything else as it comes."""
        return [_levels([point[axis] for point in self.means]) for axis in range(len(self.names))]

    @property
    def best(self) -> list[tuple]:
        """The lowest point of each problem that has several."""
        axes = [axis for axis, name in enumerate(self.names) if name in self.problem]
        groups: dict[tuple, list[tuple]] = {}
        for point in self.means:
            groups.setdefault(tuple(point[axis] for axis in axes), []).append(point)
        several = [group for group in groups.values() if len(group) > 1 or len(groups) == 1]
        return [min(group, key=self.means.__getitem__) for group in several]

    @property
    def seeds(self) -> int:
        """Number of seeds of each mean."""
        return max(len(self.rows) // max(len(self.means), 1), 1)


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
    sweep = _Sweep(measure, rows, names, means, problem)
    new = ax is None
    ax = axes_of(ax, **_size(sweep))
    if len(names) == 1:
        _draw_curve(ax, sweep)
    else:
        _draw_map(ax, sweep)
    if new:
        legend_below(ax, _note(sweep))
    return ax


def _size(sweep: _Sweep) -> dict[str, float]:
    """Return a width that has room for the labels of all columns."""
    wide = len(sweep.names) == 2 and len(sweep.levels[1]) > 5
    return {"width": PAGE if wide else COLUMN, "height": 3.0}


def _draw_curve(ax: Axes, sweep: _Sweep) -> None:
    """Draw the means against one setting, over the seeds that they are of."""
    (name,), (levels,) = sweep.names, sweep.levels
    numeric = all(isinstance(level, int | float) for level in levels)
    at = {level: level if numeric else place for place, level in enumerate(levels)}
    if sweep.seeds > 1:
        _draw_seeds(ax, sweep, at)
    curve = [at[level] for level in levels], [sweep.means[(level,)] for level in levels]
    ax.plot(*curve, "o-", color=colour("circuit"), label=_of_seeds(sweep))
    _mark_lowest(ax, [(at[point[0]], sweep.means[point]) for point in sweep.best])
    ax.set(xlabel=name, ylabel=sweep.label)
    if sweep.percent:
        ax.yaxis.set_major_formatter(sweep.percent)
    if not numeric:
        ax.set_xticks(range(len(levels)), [_short(level) for level in levels])


def _draw_seeds(ax: Axes, sweep: _Sweep, at: Mapping[Any, float]) -> None:
    """Draw each seed as a grey point."""
    (name,) = sweep.names
    seeds = [row for row in sweep.rows if row.get(sweep.measure) is not None]
    look = {"color": colour("theory"), "alpha": 0.6, "markersize": 4, "label": "one seed"}
    ax.plot([at[row[name]] for row in seeds], [row[sweep.measure] for row in seeds], ".", **look)


def _draw_map(ax: Axes, sweep: _Sweep) -> None:
    """Draw the means against two settings as a heat map."""
    rows, columns = sweep.levels
    grid = np.full((len(rows), len(columns)), np.nan)
    for (row, column), mean in sweep.means.items():
        grid[rows.index(row), columns.index(column)] = mean
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="viridis_r")
    bar = {"label": f"{sweep.label},\n{_of_seeds(sweep)}", "format": sweep.percent}
    ax.figure.colorbar(image, ax=ax, **bar)
    ax.set(xlabel=sweep.names[1], ylabel=sweep.names[0])
    longest = max(len(_short(level)) for level in columns)
    turned = 90 if longest * len(columns) > 34 else 0
    ax.set_xticks(range(len(columns)), [_short(level) for level in columns], rotation=turned)
    ax.set_yticks(range(len(rows)), [_short(level) for level in rows])
    _mark_lowest(ax, [(columns.index(x), rows.index(y)) for y, x in sweep.best])


def _mark_lowest(ax: Axes, places: list[tuple[float, float]]) -> None:
    """Draw a star at each of ``places``, (x, y)."""
    look = {"color": colour("distal"), "markeredgecolor": "white", "linestyle": "none"}
    if places:
        ax.plot(*zip(*places, strict=True), "*", markersize=11, label="lowest", **look)


def _of_seeds(sweep: _Sweep) -> str:
    return f"mean of {sweep.seeds} seeds" if sweep.seeds > 1 else "one seed"


def _note(sweep: _Sweep) -> str:
    """Return which points are compared with which, and the lowest where there is one."""
    others = " and ".join(name for name in sweep.names if name in sweep.problem)
    if not sweep.best:
        each = "pair of " if " and " in others else ""
        return f"Each {each}{others} is a problem of its own: values are not compared."
    if others and len(sweep.best) > 1:
        return f"Values are compared only at equal {others}, which is a problem of its own."
    (lowest,) = sweep.best[:1]
    where = ", ".join(f"{a} {_short(b)}" for a, b in zip(sweep.names, lowest, strict=True))
    value = sweep.means[lowest]
    return f"Lowest: {percent(value) if sweep.percent else f'{value:.3g}'} at {where}."


def _levels(values: list) -> list:
    distinct = list(dict.fromkeys(values))
    return (
        sorted(distinct) if all(isinstance(value, int | float) for value in distinct) else distinct
    )


def _short(level: Any) -> str:
    """Return a value as the label of a tick; of a long text, such as a path, the end."""
    text = f"{level:.3g}" if isinstance(level, float) else str(level)
    return text if len(text) <= _LONGEST_LABEL else f"…{text[1 - _LONGEST_LABEL :]}"

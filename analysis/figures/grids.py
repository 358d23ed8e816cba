"""Figures of results over settings: departures from the paper's circuit, and sweeps."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    COLUMN,
    EXCESS,
    PAGE,
    Axes,
    DataArray,
    Dataset,
    axes_of,
    colour,
    explain,
    in_percent,
    percent,
    styled,
)

_BOUNDS = (0.01, 0.2)  # of excess, where a colour changes, beside the tolerated one
_COLOURS = "#E4F0F8", "#B5D8EC", "#EFA873", "#D2713A"  # darker and darker, in grey print too


@styled
def plot_departures(results: Dataset) -> NDArray:
    """Draw a table for each data set: a row for each departure, a field for each of its values,
    mild ones first.

    A field shows the value and, below it, the mean excess over seeds. It is blue where the circuit
    learns and orange where learning is broken.

    Parameters
    ----------
    results
        By name of the departure, the excess (data, <name>_value, seed), with the attributes
        ``long_name``, in words, and ``ordered``, 1 where values go from mild to severe; rows
        without order get a star. ``plain`` (data, seed) is the excess without any departure. The
        attribute ``tolerated`` of the dataset is the excess beyond which learning counts as broken.

    Returns
    -------
    axes : (data sets,)
    """
    from matplotlib.patches import Rectangle

    names = [str(name) for name in results.data_vars if f"{name}_value" in results.coords]
    tolerated = results.attrs["tolerated"]
    data, most = results["data"].values, max(results.sizes[f"{name}_value"] for name in names)
    fits = 2.3 + 0.33 * most * len(data) < COLUMN
    size = {"width": COLUMN if fits else PAGE, "height": 0.9 + 0.37 * len(names)}
    axes = axes_of(None, 1, len(data), "one for each data set", **size, sharey=True)[0]
    for ax, one in zip(axes, data, strict=True):
        for row, name in enumerate(names):
            excess = results[name].sel(data=one).mean("seed")
            _draw_row(ax, row, excess[f"{name}_value"].values.tolist(), excess.values, tolerated)
        plain = float(results["plain"].sel(data=one).mean())
        ax.set(xlim=(-0.5, most - 0.5), ylim=(len(names) - 0.5, -0.5), xticks=[])
        ax.set_title(f"{one} (plain: {percent(plain)})")
        ax.spines[:].set_visible(False)
        ax.tick_params(left=False)
    axes[0].set_yticks(range(len(names)), [_label(results[name]) for name in names])
    low, learns, high = (f"{100 * bound:g} %" for bound in (_BOUNDS[0], tolerated, _BOUNDS[1]))
    words = f"below {low}", f"to {learns}: learns", f"to {high}: broken", f"above {high}"
    for tint, word in zip(_COLOURS, words, strict=True):
        axes[0].add_patch(Rectangle((0, 0), 0, 0, facecolor=tint, label=word))
    note = (
        "In each field: its value, and below it the mean excess over seeds, in %. Fields go from"
        " mild to severe (rows with *: in no order). Plain: the excess without any departure."
    )
    explain(axes, note)
    return axes


def _draw_row(ax: Axes, row: int, values: list, excess: NDArray, tolerated: float) -> None:
    """Draw a field for each of ``values``, with the ``excess`` (values,) that it has."""
    from matplotlib.patches import Rectangle

    bounds = _BOUNDS[0], tolerated, _BOUNDS[1]
    for place, (value, found) in enumerate(zip(values, excess, strict=True)):
        colour = _COLOURS[int(np.searchsorted(bounds, found, side="right"))]
        ax.add_patch(
            Rectangle((place - 0.47, row - 0.44), 0.94, 0.88, facecolor=colour, linewidth=0)
        )
        words = textwrap.fill(value, 7) if isinstance(value, str) else f"{value:g}"
        text = f"{words}\n{percent(found).removesuffix(' %')}"
        ax.text(place, row, text, ha="center", va="center", linespacing=1.0)


def _label(excess: DataArray) -> str:
    """Return the words of a departure, in short lines, with a star where its values have no
    order.
    """
    return textwrap.fill(excess.attrs["long_name"] + ("" if excess.attrs["ordered"] else " *"), 36)


_LONGEST_LABEL = 16  # characters of a tick's label
_SHOWN = 4  # lowest points that are named


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
    levels = [_levels(values) for values in zip(*means, strict=True)]
    wide = len(names) == 2 and len(levels[1]) > 5
    ax = axes_of(ax, width=PAGE if wide else COLUMN, height=3.0)
    seeds = max(len(rows) // len(means), 1)
    words = f"mean of {seeds} seeds" if seeds > 1 else "one seed"
    label = EXCESS if measure == "excess" else measure
    if len(names) == 1:
        places, shown = _draw_curve(ax, levels[0], means, words), ax
        if seeds > 1:
            _draw_seeds(ax, measure, rows, names[0], places)
    else:
        places, shown = _draw_map(ax, levels, means, f"{label},\n{words}")
    ax.set(xlabel=names[-1], ylabel=label if len(names) == 1 else names[0])
    if "excess" in measure:
        in_percent(shown)
    _mark_lowest(ax, [places[best] for best in _best(means, names, problem)])
    return explain(ax, _note(measure, names, means, problem))


def _draw_curve(
    ax: Axes, levels: list, means: Mapping[tuple, float], words: str
) -> dict[tuple, tuple[float, float]]:
    """Draw the means against one setting; return the place of each."""
    numeric = all(isinstance(level, int | float) for level in levels)
    places = {
        (level,): (level if numeric else place, means[level,]) for place, level in enumerate(levels)
    }
    mark = "o-" if numeric else "o"
    ax.plot(*zip(*places.values(), strict=True), mark, color=colour("circuit"), label=words)
    if not numeric:
        ax.set_xticks(range(len(levels)), [_short(level) for level in levels])
    return places


def _draw_seeds(
    ax: Axes,
    measure: str,
    rows: Sequence[Mapping[str, Any]],
    name: str,
    places: Mapping[tuple, tuple[float, float]],
) -> None:
    """Draw a dot for each seed at the place of its setting."""
    known = [row for row in rows if row.get(measure) is not None]
    at = [places[row[name],][0] for row in known]
    look: dict[str, Any] = {"color": colour("theory"), "alpha": 0.6, "markersize": 4}
    ax.plot(at, [row[measure] for row in known], ".", label="one seed", zorder=1, **look)


def _draw_map(
    ax: Axes, levels: list[list], means: Mapping[tuple, float], words: str
) -> tuple[dict[tuple, tuple[int, int]], Axes]:
    """Draw the means against two settings as a heat map; return the place of each pair of values,
    and the axes of the colour bar.
    """
    rows, columns = levels
    places = {pair: (columns.index(pair[1]), rows.index(pair[0])) for pair in means}
    grid = np.full((len(rows), len(columns)), np.nan)
    for pair, (column, row) in places.items():
        grid[row, column] = means[pair]
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="viridis_r")
    bar = ax.figure.colorbar(image, ax=ax, label=words)
    longest = max(len(_short(level)) for level in columns)
    turned = 90 if longest * len(columns) > 34 else 0
    ax.set_xticks(range(len(columns)), [_short(level) for level in columns], rotation=turned)
    ax.set_yticks(range(len(rows)), [_short(level) for level in rows])
    return places, bar.ax


def _mark_lowest(ax: Axes, places: list[tuple[float, float]]) -> None:
    """Put a star at each of these places."""
    if places:
        star: dict[str, Any] = {"color": colour("distal"), "markeredgecolor": "white"}
        ax.plot(*zip(*places, strict=True), "*", markersize=11, label="lowest", **star)


def _best(
    means: Mapping[tuple, float], names: Sequence[str], problem: Collection[str]
) -> list[tuple]:
    """Return the lowest point of each problem that has several."""
    axes = [axis for axis, name in enumerate(names) if name in problem]
    groups: dict[tuple, list[tuple]] = {}
    for point in means:
        groups.setdefault(tuple(point[axis] for axis in axes), []).append(point)
    several = [group for group in groups.values() if len(group) > 1 or len(groups) == 1]
    return [min(group, key=means.__getitem__) for group in several]


def _note(
    measure: str, names: Sequence[str], means: Mapping[tuple, float], problem: Collection[str]
) -> str:
    """Return which points are compared with which, and the lowest where there is one."""
    best, others = _best(means, names, problem), [name for name in names if name in problem]
    if not best:
        each = f"{'pair of ' if len(others) > 1 else ''}{' and '.join(others)}"
        return f"Each {each} is a problem of its own: values are not compared."
    lowest = []
    for point in best[:_SHOWN]:
        where = ", ".join(f"{name} {_short(one)}" for name, one in zip(names, point, strict=True))
        value = percent(means[point]) if "excess" in measure else f"{means[point]:.3g}"
        lowest.append(f"{value} at {where}")
    equal = f" at each {others[0]}, a problem of its own" if others and len(best) > 1 else ""
    more = "; and so on" if len(best) > _SHOWN else ""
    return f"Lowest{equal}: {'; '.join(lowest)}{more}."


def _levels(values: Sequence) -> list:
    """Return the values of a setting: numbers in order, anything else as it comes."""
    distinct = list(dict.fromkeys(values))
    numbers = all(isinstance(value, int | float) for value in distinct)
    return sorted(distinct) if numbers else distinct


def _short(level: Any) -> str:
    """Return a value as the label of a tick; of a long text, such as a path, the end."""
    text = f"{level:.3g}" if isinstance(level, float) else str(level)
    return text if len(text) <= _LONGEST_LABEL else f"…{text[1 - _LONGEST_LABEL :]}"

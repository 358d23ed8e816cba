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

_LOW, _HIGH = 0.01, 0.2  # excess where a colour changes, beside the tolerated one
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
    names = [str(name) for name in results.data_vars if f"{name}_value" in results.coords]
    data, most = results["data"].values, max(results.sizes[f"{name}_value"] for name in names)
    fits = 2.3 + 0.33 * most * len(data) < COLUMN
    axes = axes_of(
        None,
        1,
        len(data),
        width=COLUMN if fits else PAGE,
        height=0.9 + 0.37 * len(names),
        sharey=True,
    )[0]
    low, tolerated, high = bounds = _LOW, results.attrs["tolerated"], _HIGH
    for ax, one in zip(axes, data, strict=True):
        for row, name in enumerate(names):
            excess = results[name].sel(data=one).mean("seed")
            for place, value in enumerate(excess[f"{name}_value"].values.tolist()):
                _draw_field(ax, place, row, value, float(excess[place]), bounds)
        plain = float(results["plain"].sel(data=one).mean())
        ax.set(xlim=(-0.5, most - 0.5), ylim=(len(names) - 0.5, -0.5), xticks=[])
        ax.set_title(f"{one} (plain: {percent(plain)})")
        ax.spines[:].set_visible(False)
        ax.tick_params(left=False)
    axes[0].set_yticks(range(len(names)), [_label(results[name]) for name in names])
    words = (
        f"below {100 * low:g} %",
        f"to {100 * tolerated:g} %: learns",
        f"to {100 * high:g} %: broken",
        f"above {100 * high:g} %",
    )
    for tint, word in zip(_COLOURS, words, strict=True):
        axes[0].barh(0, 0, color=tint, label=word)
    return explain(
        axes,
        "In each field: its value, and below it the mean excess over seeds, in %. Fields go from"
        " mild to severe (rows with *: in no order). Plain: the excess without any departure.",
    )


def _draw_field(
    ax: Axes, place: int, row: int, value: Any, excess: float, bounds: tuple[float, ...]
) -> None:
    """Draw a field with its value and its excess, in the colour of the excess."""
    tint = _COLOURS[int(np.searchsorted(bounds, excess, side="right"))]
    ax.barh(row, 0.94, left=place - 0.47, height=0.88, color=tint)
    words = textwrap.fill(value, 7) if isinstance(value, str) else f"{value:g}"
    words += f"\n{percent(excess).removesuffix(' %')}"
    ax.text(place, row, words, ha="center", va="center", linespacing=1.0)


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
        ax.set(xlabel=names[0], ylabel=label)
    else:
        places, shown = _draw_map(ax, levels, means, f"{label},\n{words}")
        ax.set(xlabel=names[1], ylabel=names[0])
    if "excess" in measure:
        in_percent(shown)
    best = _best(means, names, problem)
    if best:
        stars, tint = zip(*(places[point] for point in best), strict=True), colour("distal")
        ax.plot(*stars, "*", color=tint, markersize=11, markeredgecolor="white", label="lowest")
    return explain(ax, _note(measure, names, means, problem, best))


def _draw_curve(
    ax: Axes, levels: list, means: Mapping[tuple, float], words: str
) -> Mapping[tuple, tuple[float, float]]:
    """Draw the means against one setting; return the place of each."""
    numeric = all(isinstance(level, int | float) for level in levels)
    at = levels if numeric else range(len(levels))
    places = {(level,): (x, means[level,]) for level, x in zip(levels, at, strict=True)}
    mark = "o-" if numeric else "o"
    ax.plot(*zip(*places.values(), strict=True), mark, color=colour("circuit"), label=words)
    if not numeric:
        ax.set_xticks(at, map(_short, levels))
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
    at, found = [places[row[name],][0] for row in known], [row[measure] for row in known]
    tint = colour("theory")
    ax.plot(at, found, ".", color=tint, alpha=0.6, markersize=4, zorder=1, label="one seed")


def _draw_map(
    ax: Axes, levels: list[list], means: Mapping[tuple, float], words: str
) -> tuple[Mapping[tuple, tuple[float, float]], Axes]:
    """Draw the means against two settings as a heat map; return the place of each pair of values,
    and the axes of the colour bar.
    """
    rows, columns = levels
    places = {pair: (columns.index(pair[1]), rows.index(pair[0])) for pair in means}
    grid = np.full((len(rows), len(columns)), np.nan)
    for pair, (x, y) in places.items():
        grid[y, x] = means[pair]
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="viridis_r")
    bar = ax.figure.colorbar(image, ax=ax, label=words)
    across = [_short(level) for level in columns]
    turned = 90 if max(map(len, across)) * len(across) > 34 else 0
    ax.set_xticks(range(len(columns)), across, rotation=turned)
    ax.set_yticks(range(len(rows)), map(_short, rows))
    return places, bar.ax


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
    measure: str,
    names: Sequence[str],
    means: Mapping[tuple, float],
    problem: Collection[str],
    best: list[tuple],
) -> str:
    """Return which points are compared with which, and the lowest where there is one."""
    others = [name for name in names if name in problem]
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

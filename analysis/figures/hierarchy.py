"""Figures of areas with apical feedback: the hierarchy, how it learns, what its plateaus carry, what lesions do.

An area has one colour in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, in_percent, shades, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

_HALF, _HIGH = 0.33, 0.2  # half the width and half the height of a box, where boxes stand a unit apart


@styled
def plot_hierarchy(areas: Sequence[int], gains: Sequence[float], m: int, n: int, *, ax: Axes | None = None) -> Axes:
    """Draw x, ``areas`` of so many cells and y one above the other, with the links between them.

    Each link has its gain, the weight that the equilibrium gives it. ``m`` and ``n`` are the numbers of features of x
    and y.
    """
    boxes = [f"$x$\n{m} features", *(f"area {i}\n{k} cells" for i, k in enumerate(areas, 1)), f"$y$\n{n} features"]
    edges = ["0.5", *shades(len(areas)), "0.5"]
    ax = axes_of(ax, figsize=(4.0, 0.4 + 0.95 * len(boxes)))
    for level, (words, edge) in enumerate(zip(boxes, edges, strict=True)):
        outline = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": edge, "linewidth": 1.8}
        ax.text(0, level, words, ha="center", va="center", fontsize=8, bbox=outline, zorder=3)
    for level, gain in enumerate(gains):
        low, high = level + _HIGH + 0.06, level + 1 - _HIGH - 0.06
        if level < len(areas):
            _link(ax, (-0.12, low), (-0.12, high), "proximal", f"$W_{level + 1}$")
        if level > 0:
            _link(ax, (0.12, high), (0.12, low), "distal", f"$A_{level}$")
        ax.text(-0.5, level + 0.5, f"gain {gain:.3g}", ha="right", va="center", fontsize=8, color="0.35")
    for level, (k, edge) in enumerate(zip(areas, edges[1:-1], strict=True), 1):
        ax.text(
            1.2, level, f"{k} inter-\nneurons", ha="center", va="center", fontsize=8,
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": edge, "linewidth": 1.2},
        )  # fmt: skip
        _link(ax, (_HALF, level - 0.09), (0.9, level - 0.09), "R", f"$R_{level}$", (0, -0.11))
        _link(ax, (0.9, level + 0.09), (_HALF, level + 0.09), "Q", f"$Q_{level}$", (0, 0.11), inhibits=True)
    ax.set(xlim=(-1.05, 1.6), ylim=(-0.4, len(boxes) - 0.6))
    ax.axis("off")
    return ax


def _link(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    words: str,
    aside: tuple[float, float] | None = None,
    inhibits: bool = False,
) -> None:
    """Draw an arrow, or a bar where a pathway inhibits, and its name ``aside``, by default away from the middle."""
    from matplotlib.patches import FancyArrowPatch

    style = "|-|,widthA=0,widthB=3" if inhibits else "-|>,head_length=5,head_width=2.5"
    look: dict[str, Any] = {"arrowstyle": style, "color": COLOURS[colour], "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.add_patch(FancyArrowPatch(start, end, **look))
    x, y = np.mean([start, end], axis=0) + (aside or (0.12 * np.sign(start[0]), 0))
    ax.text(x, y, words, ha="center", va="center", fontsize=8, color=COLOURS[colour])


@styled
def plot_hierarchy_learning(results: xr.Dataset, *, ax: Any = None) -> NDArray:
    """Draw the excess of all areas together and of each, and the distance of A from W' between areas.

    Parameters
    ----------
    results
        ``excess`` (seed, snapshot) of all areas, with the attribute ``bound`` up to which they count as learned;
        ``area_excess`` (seed, snapshot, area), the other areas held; ``meeting`` (seed, snapshot, link), which is
        ||A - W'|| / ||W|| and empty for one area; ``seen`` (snapshot,), samples seen.
    """
    panels = 3 if results.sizes["link"] else 2
    axes = axes_of(ax, 1, panels, figsize=(2.5 * panels, 2.6))[0]
    shown = results.isel(snapshot=results["seen"].values > 0)
    seen = shown["seen"].values
    axes[0].plot(seen, shown["excess"].values.T.clip(1e-8), color=COLOURS["plateau"], linewidth=0.9)
    axes[0].axhline(shown["excess"].attrs["bound"], label=f"{shown['excess'].attrs['bound']:.0%}", **THEORY)
    _draw_each(axes[1], seen, shown["area_excess"].clip(1e-8))
    titles = ["excess, all areas", "excess, other areas held"]
    if panels == 3:
        _draw_each(axes[2], seen, shown["meeting"])
        titles.append(r"$\Vert A - W' \Vert\, /\, \Vert W \Vert$")
    for panel, title in zip(axes, titles, strict=True):
        panel.set(xlabel="samples seen", xscale="log", yscale="log", title=title)
        in_percent(panel)
        panel.legend(loc="lower left", fontsize=7)
    return axes


def _draw_each(panel: Axes, seen: NDArray, values: xr.DataArray) -> None:
    """Draw a line for each seed, in the colour of its area, or of the area below its link."""
    dim = values.dims[-1]
    for name, colour, courses in zip(values[dim].values, shades(values.sizes[dim]), values.values.T, strict=True):
        panel.plot(seen, courses, color=colour, linewidth=0.9)[0].set_label(name)


@styled
def plot_area_plateaus(results: xr.Dataset, *, ax: Any = None) -> NDArray:
    """Draw plateaus of each area against the theory for the optimum.

    Parameters
    ----------
    results
        ``plateau`` and ``plateau_theory``, each (row, cell), with the ``cell_area`` (cell,) of each cell.
    """
    areas = np.unique(results["cell_area"].values)
    axes = axes_of(ax, 1, len(areas), figsize=(2.6 * len(areas), 2.6))[0]
    for panel, area, colour in zip(axes, areas, shades(len(areas)), strict=True):
        here = results.isel(cell=results["cell_area"].values == area)
        measured, theory = here["plateau"].values, here["plateau_theory"].values
        panel.plot(theory.ravel(), measured.ravel(), ".", color=colour, markersize=1.5, alpha=0.3, rasterized=True)
        reach = max(np.abs(theory).max(), np.abs(measured).max())
        panel.plot([-reach, reach], [-reach, reach], **THEORY)
        panel.set(title=f"area {area}", xlabel="theory at the optimum", ylabel="plateau" if area == areas[0] else "")
    return axes


@styled
def plot_hierarchy_lesions(results: xr.Dataset, *, ax: Any = None) -> NDArray:
    """Draw the mean variance of each area's outputs after each lesion.

    Parameters
    ----------
    results
        ``variance`` (lesion, step, area), and ``since`` (lesion, step), samples since the lesion; both NaN after
        outputs have run away. ``lesion`` names the lesions.
    """
    lesions = results["lesion"].values
    axes = axes_of(ax, 1, len(lesions), figsize=(2.8 * len(lesions), 2.6), sharey=True)[0]
    for panel, lesion in zip(axes, lesions, strict=True):
        here = results[["variance", "since"]].sel(lesion=lesion)
        for area, colour in zip(results["area"].values, shades(results.sizes["area"]), strict=True):
            panel.plot(here["since"], here["variance"].sel(area=area).clip(1e-6, 1e6), color=colour, label=area)
        panel.axhline(1, **THEORY)
        panel.set(title=lesion, xlabel="samples since the lesion", yscale="log")
    axes[0].set(ylabel="variance of the outputs")
    axes[0].legend()
    return axes

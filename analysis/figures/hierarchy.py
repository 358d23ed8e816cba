"""Figures of areas with apical feedback: how they learn, and what their plateaus carry.

An area has one colour in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, draw_against, in_percent, shades, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes


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
        draw_against(panel, here["plateau_theory"], here["plateau"], colour)
        panel.set(title=f"area {area}", xlabel="theory at the optimum", ylabel="plateau" if area == areas[0] else "")
    return axes

"""Figures of areas with apical feedback: how they learn, and what their plateaus carry.

An area has one colour in all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    COLOURS,
    THEORY,
    Dataset,
    axes_of,
    draw_against,
    in_percent,
    shades,
    styled,
)


@styled
def plot_hierarchy_learning(results: Dataset, *, ax: Any = None) -> NDArray:
    """Draw the excess of all areas together, and the distance of A from W' between areas.

    Parameters
    ----------
    results
        ``excess`` (seed, snapshot) of all areas, with the attribute ``bound`` up to which they
        count as learned; ``meeting`` (seed, snapshot, link), which is ||A - W'|| / ||W|| and empty
        for one area; ``seen`` (snapshot,), samples seen.
    """
    panels = 2 if results.sizes["link"] else 1
    axes = axes_of(ax, 1, panels, figsize=(2.5 * panels, 2.6))[0]
    shown = results.isel(snapshot=results["seen"].values > 0)
    seen = shown["seen"].values
    axes[0].plot(seen, shown["excess"].values.T.clip(1e-8), color=COLOURS["plateau"], linewidth=0.9)
    axes[0].axhline(
        shown["excess"].attrs["bound"], label=f"{shown['excess'].attrs['bound']:.0%}", **THEORY
    )
    titles = ["excess, all areas"]
    if panels == 2:
        for link, colour in zip(results["link"].values, shades(results.sizes["link"]), strict=True):
            courses = shown["meeting"].sel(link=link).values.T
            axes[1].plot(seen, courses, color=colour, linewidth=0.9)[0].set_label(link)
        titles.append(r"$\Vert A - W' \Vert\, /\, \Vert W \Vert$")
    for panel, title in zip(axes, titles, strict=True):
        panel.set(xlabel="samples seen", xscale="log", yscale="log", title=title)
        in_percent(panel)
        panel.legend(loc="lower left", fontsize=7)
    return axes


@styled
def plot_area_plateaus(results: Dataset, *, ax: Any = None) -> NDArray:
    """Draw plateaus of each area against the theory for the optimum.

    Parameters
    ----------
    results
        ``plateau`` and ``plateau_theory``, each (row, cell), with the ``cell_area`` (cell,) of each
        cell.
    """
    areas = np.unique(results["cell_area"].values)
    axes = axes_of(ax, 1, len(areas), figsize=(2.6 * len(areas), 2.6))[0]
    for panel, area, colour in zip(axes, areas, shades(len(areas)), strict=True):
        here = results.isel(cell=results["cell_area"].values == area)
        draw_against(panel, here["plateau_theory"], here["plateau"], colour)
        panel.set(
            title=f"area {area}",
            xlabel="theory at the optimum",
            ylabel="plateau" if area == areas[0] else "",
        )
    return axes

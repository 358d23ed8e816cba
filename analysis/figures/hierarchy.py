"""Figures of areas with apical feedback: how they learn, and what their plateaus carry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    COLUMN,
    PAGE,
    THEORY,
    Dataset,
    axes_of,
    colour,
    draw_against,
    in_percent,
    legend_below,
    log_samples,
    of_seeds,
    percent,
    shade,
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
    shown = results.isel(snapshot=results["seen"].values > 0)
    seen, bound = shown["seen"].values, shown["excess"].attrs["bound"]
    links = results["link"].values
    size = {"width": PAGE if len(links) else COLUMN, "height": 2.6}
    axes = axes_of(ax, 1, 2 if len(links) else 1, **size)[0]
    courses = shown["excess"].values.clip(1e-8)
    axes[0].plot(seen, courses.T, color=colour("circuit"), linewidth=0.9)
    axes[0].axhline(bound, label=f"{100 * bound:g} %: counts as learned", **THEORY)
    axes[0].set_title(f"excess of all areas: at most {percent(courses[:, -1].max())} in the end")
    for place, link in enumerate(links):
        meeting = shown["meeting"].sel(link=link).values
        ends = f"{link}: at most {percent(meeting[:, -1].max())} in the end"
        axes[1].plot(seen, meeting.T, color=shade(place + 1), linewidth=0.9)[0].set_label(ends)
        axes[1].set_title(r"between areas: $\Vert A - W' \Vert\, /\, \Vert W \Vert$")
    for panel in axes:
        log_samples(panel, seen)
        panel.set_yscale("log")
        in_percent(panel)
    legend_below(axes, of_seeds("line", len(courses)))
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
    axes = axes_of(ax, 1, len(areas), width=COLUMN if len(areas) < 3 else PAGE, height=2.2)[0]
    for place, (panel, area) in enumerate(zip(axes, areas, strict=True)):
        here = results.isel(cell=results["cell_area"].values == area)
        theory, found = here["plateau_theory"].values, here["plateau"].values
        deviation = draw_against(panel, theory, found, colour("plateau"))
        panel.set_title(f"area {area}: {deviation}")
        panel.set(xlabel="theory at the optimum", ylabel="plateau" if place == 0 else "")
    legend_below(axes, "Each dot is a sample of one cell; deviation: relative r.m.s.")
    return axes

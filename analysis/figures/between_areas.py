"""Figures of areas with apical feedback, and of the prediction of one area from another.

The latter are after Semedo et al. (2019), Neuron 102, 249-259. They take a dataset with the
variables that ``biorrr communication`` writes; its attribute ``areas`` names source and target.
Controls that it does not hold are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    BAND,
    COLUMN,
    GUIDE,
    PAGE,
    THEORY,
    Axes,
    Dataset,
    axes_of,
    colour,
    draw_against,
    explain,
    in_percent,
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
    seen, bound, links = (
        shown["seen"].values,
        shown["excess"].attrs["bound"],
        results["link"].values,
    )
    width, columns = (PAGE, 2) if len(links) else (COLUMN, 1)
    axes = axes_of(ax, 1, columns, width=width, height=2.6)[0]
    courses = shown["excess"].values.clip(1e-8)
    axes[0].plot(seen, courses.T, color=colour("circuit"), linewidth=0.9)
    axes[0].axhline(bound, label=f"{100 * bound:g} %: counts as learned", **THEORY)
    axes[0].set_title(f"excess of all areas: at most {percent(courses[:, -1].max())} in the end")
    for place, link in enumerate(links, 1):
        meeting = shown["meeting"].sel(link=link).values
        ends = f"{link}: at most {percent(meeting[:, -1].max())} in the end"
        axes[1].plot(seen, meeting.T, color=shade(place), linewidth=0.9, label=ends)
        axes[1].set_title(r"between areas: $\Vert A - W' \Vert\, /\, \Vert W \Vert$")
    for panel in axes:
        log_samples(panel, seen)
        panel.set_yscale("log")
        in_percent(panel)
    return explain(axes, of_seeds("Each line is one of {} seeds.", len(courses)))


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
    return explain(axes, "Each dot is a sample of one cell; deviation: relative r.m.s.")


WITHIN, ACROSS = "own", "circuit"  # colours of the same area and of the other, in all figures here
_FOLDS = "Bars: standard errors over folds."


@styled
def plot_prediction(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw held-out R2 against rank: circuits beside the exact solution, and its controls.

    Bars are standard errors over folds for the exact solution, and standard deviations over seeds
    for circuits and over draws for targets within the area.

    Parameters
    ----------
    results
        ``exact_r2`` and ``exact_r2_sem`` (k,), ``chosen_rank``, and perhaps ``circuit_r2`` (rank,
        seed), ``null_r2`` (shuffle,) and ``within_r2`` (draw, draw_k).
    """
    ax, grey = axes_of(ax, height=3.3), colour("theory")
    exact, sem = results["exact_r2"].values, results["exact_r2_sem"].values
    chosen, ranks = int(results["chosen_rank"]), np.arange(1, len(exact) + 1)
    ax.errorbar(ranks, exact, sem, color=grey, marker=".", capsize=1.5, label="exact")
    ax.axhline(exact[-1], color=grey, linestyle=":", linewidth=1, label="exact, full rank")
    last = max(chosen, 6)
    if "circuit_r2" in results:
        last = max(last, int(results["rank"].max()))
        known, found = results["rank"].values, results["circuit_r2"].values.T
        _draw_repeats(ax, known, found, ACROSS, fmt="o", label="circuit")
    if "within_r2" in results:
        within = results["within_r2"].values
        places, words = np.arange(1, within.shape[1] + 1) + 0.12, "matched targets within the area"
        _draw_repeats(ax, places, within, WITHIN, fmt="s-", linewidth=1, label=words)
    if "null_r2" in results:
        null = results["null_r2"]
        ax.axhspan(null.min(), null.max(), label="trials shuffled", **BAND)
    above = (exact + sem)[chosen - 1] + 0.06 * exact.max()
    ax.plot(chosen, above, "v", color=grey, markersize=6, zorder=5, label="chosen rank")
    last = min(last + 2, max(len(exact), 3))
    ax.set(title=results.attrs["areas"], xlabel="rank $k$", ylabel="held-out $R^2$")
    ax.set(xlim=(0.5, last + 0.5), ylim=(min(0, ax.get_ylim()[0]), None))
    ax.set_xticks(range(1, last + 1, 1 if last < 13 else 2))
    return explain(
        ax,
        "Bars: standard errors over folds (exact), standard deviations over seeds (circuit) and"
        " draws (targets).",
        most=2,
    )


@styled
def plot_dimensionality(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw predictive dimensions beside the dimensions that source and target share within
    themselves, row by row.

    Parameters
    ----------
    results
        ``chosen_rank``, ``source_dimensionality``, ``target_dimensionality``, and perhaps
        ``equal_within_rank``, ``equal_across_rank`` and ``within_dimensionality`` (draw,). Draws
        that would lie on each other are spread a little.
    """
    rows: dict[str, tuple[str, ...]] = {
        results.attrs["areas"]: ("chosen_rank", "target_dimensionality", "source_dimensionality")
    }
    if "equal_within_rank" in results and results["equal_within_rank"].notnull().any():
        rows["matched draws\nwithin the source"] = ("equal_within_rank", "within_dimensionality")
        rows["matched draws\nacross areas"] = ("equal_across_rank",)
    ax = axes_of(ax, height=1.3 + 0.55 * len(rows))
    rng = np.random.default_rng(0)
    for place, names in enumerate(rows.values()):
        found = [np.atleast_1d(results[name].values) for name in names]
        ends = [float(np.nanmean(values)) for values in found]
        ax.plot([min(ends), max(ends)], [place, place], **GUIDE)
        for values, (words, marker, quantity, fill, offset) in zip(
            found, _DIMENSIONS, strict=False
        ):
            size, heights = 7.0, np.array([place])
            if len(values) > 1:
                size, heights = 3.5, place + offset + rng.uniform(-0.07, 0.07, len(values))
                values = values + rng.uniform(-0.12, 0.12, len(values))
            ax.plot(
                values,
                heights,
                marker,
                color=colour(quantity),
                fillstyle=fill,
                markersize=size,
                label=words,
            )
    ax.set(
        xlabel="dimensions",
        xlim=(0, None),
        yticks=range(len(rows)),
        yticklabels=rows,
        ylim=(len(rows) - 0.5, -0.5),
    )
    return explain(ax, "Large marks: areas; small ones: draws; grey lines join means.")


_DIMENSIONS = (  # label, marker, quantity whose colour it has, fill, place of draws in a row
    ("predictive (rank)", "o", ACROSS, "full", -0.1),
    ("shared within the target", "s", WITHIN, "none", 0.1),
    ("shared within the source", "D", "theory", "none", 0.0),
)


@styled
def plot_removal(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw held-out R2 of the full regression against the number of predictive dimensions removed
    from the source.

    Parameters
    ----------
    results
        ``removed_r2`` and ``removed_r2_sem`` (removed,), and ``chosen_rank``, which a dotted line
        marks.
    """
    ax, chosen = _draw_course(ax, results, "removed"), int(results["chosen_rank"])
    words, tint = f"chosen rank, {chosen}", colour(ACROSS)
    ax.axvline(chosen, color=tint, linestyle=":", linewidth=1, label=words)
    ax.locator_params(axis="x", integer=True)
    ax.axhline(0, **GUIDE)
    ax.set(xlabel="dimensions removed", ylabel="held-out $R^2$, full regression")
    return explain(ax, _FOLDS)


@styled
def plot_lags(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw held-out R2 at the chosen rank against the lag of the target behind the source.

    Parameters
    ----------
    results
        ``lag_r2`` and ``lag_r2_sem`` (lag,), with ``lag`` in seconds.
    """
    ax = _draw_course(ax, results, "lag")
    ax.axvline(0, **GUIDE)
    ax.set(xlabel="lag of the target behind the source (s)", ylabel="held-out $R^2$")
    return explain(ax, _FOLDS)


def _draw_course(ax: Axes | None, results: Dataset, along: str) -> Axes:
    """Draw R2 along a dimension with its standard errors, below the names of the areas."""
    ax, scores = axes_of(ax, height=2.5), results[f"{along}_r2"]
    bars, tint = results[f"{along}_r2_sem"], colour(ACROSS)
    ax.errorbar(results[along], scores, bars, color=tint, marker="o", markersize=4, capsize=1.5)
    ax.set_title(results.attrs["areas"])
    ax.locator_params(axis="x", nbins=6)
    return ax


def _draw_repeats(ax: Axes, places: NDArray, values: NDArray, quantity: str, **look: Any) -> None:
    """Draw means over repeats, (repeats, places), with standard deviations where there are several
    repeats.
    """
    bars = values.std(axis=0) if len(values) > 1 else None
    look |= {"color": colour(quantity), "markersize": 4.5, "elinewidth": 1, "capsize": 1.5}
    ax.errorbar(places, values.mean(axis=0), bars, zorder=4, **look)

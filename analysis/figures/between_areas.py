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
    DataArray,
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
    explain(axes, of_seeds("line", len(courses)))
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
    explain(axes, "Each dot is a sample of one cell; deviation: relative r.m.s.")
    return axes


WITHIN, ACROSS = "own", "circuit"  # colours of the same area and of the other, in all figures here


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
    ax = axes_of(ax, height=3.3)
    exact, sem = (results[name].values for name in ("exact_r2", "exact_r2_sem"))
    chosen, grey = int(results["chosen_rank"]), {"color": colour("theory")}
    low, high, ranks = [0.0], [1e-3, np.max(exact + sem)], [chosen]
    places = np.arange(1, len(exact) + 1)
    ax.errorbar(places, exact, sem, marker=".", capsize=1.5, label="exact", **grey)
    ax.axhline(exact[-1], linestyle=":", linewidth=1, label="exact, full rank", **grey)
    if "circuit_r2" in results:
        known = results["rank"].values
        ranks += known.tolist()
        _draw_repeats(ax, known, results["circuit_r2"].values.T, ACROSS, "o", "circuit")
    if "within_r2" in results:
        within = results["within_r2"].values
        high.append(within.mean(axis=0).max())
        places = np.arange(1, within.shape[1] + 1) + 0.12
        words = "matched targets within the area"
        _draw_repeats(ax, places, within, WITHIN, "s", words, linewidth=1)
    if "null_r2" in results:
        null = results["null_r2"].values
        low.append(null.min())
        ax.axhspan(null.min(), null.max(), label="trials shuffled", **BAND)
    above = (exact + sem)[chosen - 1] + 0.06 * exact.max()
    ax.plot(chosen, above, "v", markersize=6, zorder=5, label="chosen rank", **grey)
    last = min(max(*ranks, 6) + 2, max(len(exact), 3))
    ax.set(title=results.attrs["areas"], xlabel="rank $k$", ylabel="held-out $R^2$")
    ax.set(xlim=(0.5, last + 0.5), ylim=(min(low) - 0.03 * max(high), 1.15 * max(high)))
    ax.set_xticks(range(1, last + 1, 1 if last < 13 else 2))
    note = (
        "Bars: standard errors over folds (exact), standard deviations over seeds (circuit) and"
        " draws (targets)."
    )
    explain(ax, note, most=2)
    return ax


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
    looks = (  # label, marker, quantity whose colour it has, fill
        ("predictive (rank)", "o", ACROSS, "full"),
        ("shared within the target", "s", WITHIN, "none"),
        ("shared within the source", "D", "theory", "none"),
    )
    rng = np.random.default_rng(0)
    for place, names in enumerate(rows.values()):
        found = [np.atleast_1d(results[name].values) for name in names]
        ends = [float(np.nanmean(values)) for values in found]
        ax.plot([min(ends), max(ends)], [place, place], **GUIDE)
        for offset, values, (words, *look) in zip((-0.1, 0.1, 0.0), found, looks, strict=False):
            marker, quantity, fill = look
            spread = 0 if len(values) == 1 else 1
            heights = place + spread * (offset + rng.uniform(-0.07, 0.07, len(values)))
            across = values + spread * rng.uniform(-0.12, 0.12, len(values))
            style: dict[str, Any] = {"color": colour(quantity), "fillstyle": fill, "label": words}
            ax.plot(across, heights, marker, markersize=3.5 if spread else 7, **style)
    ax.set(
        xlabel="dimensions", yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5)
    )
    ax.set_xlim(left=0)
    explain(ax, "Large marks: areas; small ones: draws; grey lines join means.")
    return ax


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
    ax = _draw_course(ax, results, results["removed"], "removed_r2")
    chosen = int(results["chosen_rank"])
    look = {"color": colour(ACROSS), "linestyle": ":", "linewidth": 1}
    ax.axvline(chosen, label=f"chosen rank, {chosen}", **look)
    ax.locator_params(axis="x", integer=True)
    ax.axhline(0, **GUIDE)
    ax.set(xlabel="dimensions removed", ylabel="held-out $R^2$, full regression")
    explain(ax, "Bars: standard errors over folds.")
    return ax


@styled
def plot_lags(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw held-out R2 at the chosen rank against the lag of the target behind the source.

    Parameters
    ----------
    results
        ``lag_r2`` and ``lag_r2_sem`` (lag,), with ``lag`` in seconds.
    """
    ax = _draw_course(ax, results, results["lag"], "lag_r2")
    ax.axvline(0, **GUIDE)
    ax.set(xlabel="lag of the target behind the source (s)", ylabel="held-out $R^2$")
    explain(ax, "Bars: standard errors over folds.")
    return ax


def _draw_course(ax: Axes | None, results: Dataset, places: DataArray, name: str) -> Axes:
    """Draw a variable with its standard errors, below the names of the areas."""
    ax = axes_of(ax, height=2.5)
    look = {"color": colour(ACROSS), "marker": "o", "markersize": 4, "capsize": 1.5}
    ax.errorbar(places, results[name], results[f"{name}_sem"], **look)
    ax.set_title(results.attrs["areas"])
    ax.locator_params(axis="x", nbins=6)
    return ax


def _draw_repeats(
    ax: Axes,
    places: NDArray,
    values: NDArray,
    quantity: str,
    marker: str,
    label: str,
    linewidth: float = 0,
) -> None:
    """Draw means over repeats, (repeats, places), with standard deviations where there are several
    repeats.
    """
    bars = values.std(axis=0) if len(values) > 1 else None
    look: dict[str, Any] = {"color": colour(quantity), "marker": marker, "label": label}
    look |= {"markersize": 4.5, "linewidth": linewidth, "elinewidth": 1, "zorder": 4}
    capsize = 1.5 if len(values) > 1 else 0
    ax.errorbar(places, values.mean(axis=0), bars, capsize=capsize, **look)

"""Prediction of one area from another, in figures after Semedo et al. (2019), Neuron 102, 249-259.

Figures take a dataset with the variables that ``biorrr communication`` writes; its attribute
``areas`` names source and target. Controls that it does not hold are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    BAND,
    GUIDE,
    Axes,
    DataArray,
    Dataset,
    axes_of,
    colour,
    legend_below,
    styled,
)

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
    legend_below(ax, note, most=2)
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
    legend_below(ax, "Large marks: areas; small ones: draws; grey lines join means.")
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
    legend_below(ax, "Bars: standard errors over folds.")
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
    legend_below(ax, "Bars: standard errors over folds.")
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

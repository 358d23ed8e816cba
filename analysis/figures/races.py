"""Figures of learners, and of rival theories of dendrites, side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    COLUMN,
    EXCESS,
    GUIDE,
    MARKERS,
    PAGE,
    THEORY,
    Axes,
    DataArray,
    Dataset,
    Figure,
    axes_of,
    characters,
    colour,
    draw_mean,
    explain,
    in_percent,
    of_seeds,
    shade,
    styled,
)

# Lines are told apart in grey print by dashes and markers.
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_NEAR = 0.05  # excess at which a learner counts as arrived


@styled
def plot_race(results: Dataset, steps: str = "samples", title: str = "", note: str = "") -> Figure:
    """Draw the excess over the optimum, in percent, against steps and CPU time, one column per
    rank.

    A row in between counts passes through the data, if learners differ in how many steps make a
    pass. A dashed line is drawn where the excess is 5 %.

    Parameters
    ----------
    results
        ``excess`` as a fraction, ``passes`` and ``seconds``, (learner, k, seed, snapshot), and
        ``t`` without seed.
    steps
        What t counts.
    title
        What was run.
    note
        A remark below the figure.
    """
    rows = {"t": steps, "passes": "passes through the data", "seconds": "CPU time (s)"}
    a_pass = (results["passes"] / results["t"]).max(("k", "seed", "snapshot")).values
    if np.allclose(a_pass, a_pass[0]):
        del rows["passes"]
    return _draw_race(results, "k", rows, 1e-5, title, note)


@styled
def plot_pictures_race(results: Dataset) -> Figure:
    """Draw the excess, (data, learner, seed, snapshot), in percent against ``t`` without seed, one
    panel per data.
    """
    if "data" not in results.dims:  # a single data set
        results = results.expand_dims("data")
    return _draw_race(results, "data", {"t": "samples"}, 1e-3)


@styled
def plot_constraint(results: Dataset, steps: str = "samples", title: str = "") -> Figure:
    """Draw ||Vx'CxxVx - I||^2/k, ``whitening_error`` (learner, k, seed, snapshot), against ``t``
    without seed.
    """
    axes = _draw_learners(results, "k", {"t": steps}, "whitening_error", 1e-12)
    for ax in axes[0]:
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 1e-6))
    axes[0, 0].set_ylabel("$\\Vert V_x' C_{xx} V_x - I \\Vert^2 / k$")
    return _finish(axes, results, title)


def _draw_race(
    results: Dataset,
    panels: str,
    rows: Mapping[str, str],
    lowest: float,
    title: str = "",
    note: str = "",
) -> Figure:
    """Draw the excess of every learner, and the line of arrival; axes end at ``lowest``."""
    axes = _draw_learners(results, panels, rows, "excess", 1e-6)
    for ax in axes.flat:
        ax.axhline(_NEAR, label=f"{100 * _NEAR:g} %: counts as arrived", **THEORY)
        ax.set_ylim(lowest, 1.5)
    for ax in axes[:, 0]:
        ax.set_ylabel(EXCESS)
        in_percent(ax)
    return _finish(axes, results, title, note)


def _draw_learners(
    results: Dataset, panels: str, rows: Mapping[str, str], name: str, least: float
) -> NDArray:
    """Draw a quantity of every learner: the mean over seeds in a band of one standard deviation.

    Parameters
    ----------
    results
        The quantity ``name``, and what it is drawn along.
    panels
        Dimension that has a column of panels for each of its values.
    rows
        Label of the horizontal axis of each row, by what the quantity is drawn along. The start,
        at 0, is left out.
    name, least
        The quantity, and the value below which it is not followed.

    Returns
    -------
    axes : (rows, panels)
    """
    columns, height = results[panels].values, 1 + 1.95 * len(rows)
    axes = axes_of(None, len(rows), len(columns), width=PAGE, height=height, sharey=True)
    for (row, column), ax in np.ndenumerate(axes):
        along, label = [*rows.items()][row]
        ax.set(xscale="log", yscale="log", xlabel=label)
        for place, learner in enumerate(results["learner"].values):
            one = results.isel({panels: column}).sel(learner=learner)
            x = one[along].mean(set(one[along].dims) - {"snapshot"}).values
            values = np.maximum(one[name].transpose("seed", "snapshot").values, least)
            which = (place + place // len(_DASHES)) % len(_DASHES)
            first = 3 * place % len(x)  # markers of lines that coincide lie side by side
            draw_mean(
                ax,
                x[x > 0],
                values[:, x > 0],
                label=str(learner),
                color=shade(place),
                linestyle=_DASHES[which],
                marker=MARKERS[which],
                markersize=3,
                markevery=(first, 16),
            )
    for ax, one in zip(axes[0], columns, strict=True):
        ax.set_title(f"$k = {one}$" if panels == "k" else one)
    return axes


@styled
def plot_sensitivity(results: Dataset, title: str = "") -> Figure:
    """Draw the excess over the optimum for every pair of eta0 and N, one row per algorithm and one
    column per rank.

    Parameters
    ----------
    results
        ``excess`` (algorithm, k, decade, N, seed) as a fraction, NaN where a seed diverged, drawn
        hatched; ``eta0`` (algorithm, k, decade), NaN where fewer values were tried.
    """
    algorithms, ranks = results["algorithm"].values, results["k"].values
    width = COLUMN if len(ranks) == 1 else PAGE
    height = 0.9 + 2.5 * len(algorithms)
    axes = axes_of(None, len(algorithms), len(ranks), width=width, height=height)
    for (row, column), ax in np.ndenumerate(axes):
        tried = results.isel(algorithm=row, k=column).dropna("decade", subset=["eta0"])
        image = _map_rates(ax, tried)
        ax.set_title(f"{algorithms[row]}, $k = {ranks[column]}$")
    axes[0, 0].figure.colorbar(image, ax=axes, label="excess over the optimum (%)", shrink=0.8)
    explain(axes, f"Means over {results.sizes['seed']} seeds; hatched: a seed diverged.")
    return _entitle(axes[0, 0].figure, title)


def _map_rates(ax: Axes, tried: Dataset) -> Any:
    """Draw the mean excess in percent for every pair of N and eta0; return the picture."""
    percent = 100 * tried["excess"].mean("seed", skipna=False).values
    ax.patch.set(facecolor="white", hatch="////")
    shown = np.maximum(percent, 1e-3)
    image = ax.imshow(shown, "viridis_r", origin="lower", aspect="auto", norm="log")
    image.set_clim(0.01, 100)
    for (y, x), value in np.ndenumerate(percent):
        words = "–" if np.isnan(value) else f"{value:.2g}" if value >= 1 else f"{value:.1g}"
        ax.text(x, y, words, color="w" if value > 1.5 else "k", ha="center", va="center")
    ax.set_xticks(range(len(tried["N"])), [f"{n:,.0f}" for n in tried["N"].values], rotation=90)
    ax.set_yticks(range(len(percent)), [f"{eta:.2g}" for eta in tried["eta0"].values])
    ax.set(xlabel="$N$ (samples)", ylabel="$\\eta_0$ of $V_x$")
    return image


def _finish(axes: NDArray, results: Dataset, title: str, note: str = "") -> Figure:
    """Draw legend, title and note of a figure of learners; return the figure."""
    words = "Lines: mean of {} seeds; bands: standard deviation."
    band = of_seeds(words, results.sizes["seed"])
    explain(axes[0, 0], f"{band} {note}")
    return _entitle(axes[0, 0].figure, title)


def _entitle(figure: Any, title: str) -> Figure:
    """Write the title above a figure; return the figure."""
    if title:
        figure.suptitle(textwrap.fill(title, characters(figure)), x=0.01, ha="left")
    return figure


_LEAST = 1e-4  # of excess and whitening error, below which dots are not told apart


@styled
def plot_theories(results: Dataset, *, ax=None) -> NDArray:
    """Draw excess, participation ratio and whitening error, one axes for each.

    Parameters
    ----------
    results
        ``excess``, ``law``, ``participation`` and ``whitening`` (data, theory, seed).

    Returns
    -------
    axes : (3,)
    """
    theories, k = results["theory"].values, results.attrs["k"]
    height = 1.5 + 0.28 * len(theories)
    axes = axes_of(ax, 1, 3, "one for each measure", width=PAGE, height=height, sharey=True)[0]
    _dots(axes[0], results["excess"].clip(_LEAST))
    if results["law"].notnull().any():
        _dots(
            axes[0],
            results["law"],
            marker="|",
            color=colour("plateau"),
            markersize=7,
            label="law 1: predicted excess",
        )
    _dots(axes[1], results["participation"])
    _dots(axes[2], results["whitening"].clip(_LEAST))
    axes[0].set(
        xscale="log",
        xlabel=EXCESS,
        yticks=range(len(theories)),
        yticklabels=theories,
        ylim=(len(theories) - 0.5, -0.5),
    )
    in_percent(axes[0], "x")
    axes[1].set(xlabel=f"participation ratio\nof the {k:g} outputs", xlim=(0.9, k + 0.1))
    axes[2].set(xscale="log", xlabel="whitening error\nof the outputs")
    axes[2].xaxis.set_minor_formatter("")  # numbers between powers of ten would be crowded
    for panel in axes:
        panel.grid(axis="y", **GUIDE)
    marks = of_seeds("Each mark is one of {} seeds.", results.sizes["seed"])
    return explain(
        axes,
        f"{marks} An excess below 0.01 % is drawn there, a whitening error below {_LEAST:g} too."
        f" Participation ratio: {k:g} where all outputs vary alike and independently, 1 where"
        " there is only one direction. Law 1: what fixed feedback must end at, whatever the"
        " theory.",
    )


def _dots(panel: Axes, numbers: DataArray, **look: Any) -> None:
    """Draw a mark for each of ``numbers`` (data, theory, seed), data sets a little apart."""
    for place, one in enumerate(numbers.transpose("data", "theory", "seed")):
        rows = np.arange(len(one)) + 0.22 * (place - (len(numbers["data"]) - 1) / 2)
        usual = {
            "marker": MARKERS[place % len(MARKERS)],
            "color": shade(place),
            "label": one["data"].item(),
        }
        for values in one.values.T:
            panel.plot(values, rows, linestyle="none", **({"markersize": 3} | usual | look))

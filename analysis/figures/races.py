"""Figures of learners, and of rival theories of dendrites, side by side."""

from __future__ import annotations

import textwrap
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
    Dataset,
    Figure,
    axes_of,
    colour,
    in_percent,
    legend_below,
    of_seeds,
    shade,
    styled,
)

# Lines are told apart in grey print by dashes and markers.
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_NEAR = 0.05  # excess at which a learner counts as arrived
_FLOOR = 1e-5  # excess below which nothing is shown


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
    ranks = results["k"].values
    size = {"width": PAGE, "height": 1.2 + 1.9 * len(rows)}
    axes = axes_of(None, len(rows), len(ranks), **size, sharey=True)
    for (row, column), ax in np.ndenumerate(axes):
        _draw_excess(ax, results.isel(k=column), [*rows][row])
        ax.set(ylim=(_FLOOR, 1.5), xlabel=[*rows.values()][row])
    for ax, k in zip(axes[0], ranks, strict=True):
        ax.set_title(f"$k = {k}$")
    for ax in axes[:, 0]:
        ax.set_ylabel(EXCESS)
        in_percent(ax)
    return _explain(axes[0, 0], results.sizes["seed"], title, note)


@styled
def plot_constraint(results: Dataset, steps: str = "samples", title: str = "") -> Figure:
    """Draw ||Vx'CxxVx - I||^2/k, ``whitening_error`` (learner, k, seed, snapshot), against ``t``
    without seed.
    """
    ranks = results["k"].values
    axes = axes_of(None, 1, len(ranks), width=PAGE, height=2.9, sharey=True)
    for ax, k in zip(axes[0], ranks, strict=True):
        _draw_lines(ax, results.sel(k=k), "t", "whitening_error", 1e-12)
        ax.set(title=f"$k = {k}$", xlabel=steps)
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 1e-6))
    axes[0, 0].set_ylabel("$\\Vert V_x' C_{xx} V_x - I \\Vert^2 / k$")
    return _explain(axes[0, 0], results.sizes["seed"], title)


@styled
def plot_pictures_race(results: Dataset) -> Figure:
    """Draw the excess, (data, learner, seed, snapshot), in percent against ``t`` without seed, one
    panel per data.
    """
    if "data" not in results.dims:  # a single data set
        results = results.expand_dims("data")
    panels = results["data"].values
    axes = axes_of(None, 1, len(panels), width=PAGE, height=2.9, sharey=True)
    for ax, name in zip(axes[0], panels, strict=True):
        _draw_excess(ax, results.sel(data=name), "t")
        ax.set(ylim=(1e-3, 1.5), title=name, xlabel="samples")
    axes[0, 0].set_ylabel(EXCESS)
    in_percent(axes[0, 0])
    return _explain(axes[0, 0], results.sizes["seed"])


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
    size = {"width": width, "height": 0.9 + 2.5 * len(algorithms)}
    axes = axes_of(None, len(algorithms), len(ranks), **size)
    for (row, column), ax in np.ndenumerate(axes):
        image = _map_rates(
            ax, results.isel(algorithm=row, k=column).dropna("decade", subset=["eta0"])
        )
        ax.set_title(f"{algorithms[row]}, $k = {ranks[column]}$")
    figure = axes[0, 0].figure
    figure.colorbar(image, ax=axes, label="excess over the optimum (%)", shrink=0.8)
    note = f"Means over {results.sizes['seed']} seeds; hatched: a seed diverged."
    return _finish(axes[0, 0], note, title)


def _map_rates(ax: Axes, tried: Dataset) -> Any:
    """Draw the mean excess in percent for every pair of N and eta0; return the picture."""
    from matplotlib.colors import LogNorm

    percent = 100 * tried["excess"].mean("seed", skipna=False).values
    ax.set_facecolor("white")
    ax.patch.set_hatch("////")
    look = {"norm": LogNorm(0.01, 100), "cmap": "viridis_r", "origin": "lower", "aspect": "auto"}
    image = ax.imshow(np.maximum(percent, 1e-3), **look)
    for (y, x), value in np.ndenumerate(percent):
        words = "–" if np.isnan(value) else f"{value:.2g}" if value >= 1 else f"{value:.1g}"
        tint = "k" if np.isnan(value) or value <= 1.5 else "w"
        ax.text(x, y, words, color=tint, ha="center", va="center")
    ax.set_xticks(range(len(tried["N"])), [f"{n:,.0f}" for n in tried["N"].values], rotation=90)
    ax.set_yticks(range(len(percent)), [f"{eta:.2g}" for eta in tried["eta0"].values])
    ax.set(xlabel="$N$ (samples)", ylabel="$\\eta_0$ of $V_x$")
    return image


def _draw_lines(ax: Axes, results: Dataset, along: str, name: str, least: float) -> None:
    """Draw a quantity of every learner, (learner, seed, snapshot), along another: the mean over
    seeds in a band of one standard deviation; the start, at 0, is left out.
    """
    for place, learner in enumerate(results["learner"].values):
        one = results.sel(learner=learner)
        x = one[along].mean("seed").values if "seed" in one[along].dims else one[along].values
        scores, shown = np.maximum(one[name].transpose("seed", ...).values, least), x > 0
        mean, spread = scores.mean(axis=0)[shown], scores.std(axis=0)[shown]
        which = (place + place // len(_DASHES)) % len(_DASHES)
        first = 3 * place % max(len(mean), 1)  # markers of lines that coincide lie side by side
        style = {"marker": MARKERS[which], "markersize": 3, "markevery": (first, 16)}
        look: dict[str, Any] = {"color": shade(place), "linestyle": _DASHES[which]}
        ax.plot(x[shown], mean, label=str(learner), **look, **style)
        low = np.maximum(mean - spread, 0.1 * mean)  # on a logarithmic axis none may reach 0
        ax.fill_between(x[shown], low, mean + spread, color=shade(place), alpha=0.2, linewidth=0)
    ax.set(xscale="log", yscale="log")


def _draw_excess(ax: Axes, results: Dataset, along: str) -> None:
    """Draw the excess of every learner along a quantity, and the line of arrival."""
    _draw_lines(ax, results, along, "excess", _FLOOR / 10)
    ax.axhline(_NEAR, label=f"{100 * _NEAR:g} %: counts as arrived", **THEORY)


def _explain(ax: Axes, seeds: int, title: str = "", note: str = "") -> Figure:
    """Draw legend, title and note of the figure that ``ax`` is in; return the figure."""
    band = f"Lines: mean of {seeds} seeds; bands: standard deviation." if seeds > 1 else "One seed."
    return _finish(ax, f"{band} {note}", title)


def _finish(ax: Axes, note: str, title: str) -> Figure:
    """Draw the legend below the figure of ``ax``, and the title above; return the figure."""
    figure: Any = ax.figure
    legend_below(ax, note)
    if title:
        room = int(figure.get_figwidth() * 17)
        figure.suptitle(textwrap.fill(title, room), x=0.01, ha="left")
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
    size = {"width": PAGE, "height": 1.5 + 0.28 * len(theories)}
    axes = axes_of(ax, 1, 3, "one for each measure", **size, sharey=True)[0]
    _dots(axes[0], results, "excess", _LEAST)
    _mark_law(axes[0], results)
    axes[0].set(xscale="log", xlabel=EXCESS)
    in_percent(axes[0], "x")
    _dots(axes[1], results, "participation", 0)
    axes[1].set(xlabel=f"participation ratio\nof the {k:g} outputs", xlim=(0.9, k + 0.1))
    _dots(axes[2], results, "whitening", _LEAST)
    axes[2].set(xscale="log", xlabel="whitening error\nof the outputs")
    axes[2].xaxis.set_minor_formatter("")  # numbers between powers of ten would be crowded
    axes[0].set_yticks(range(len(theories)), list(theories))
    axes[0].set_ylim(len(theories) - 0.5, -0.5)
    for panel in axes:
        for row in range(len(theories)):
            panel.axhline(row, **GUIDE)
    note = (
        f"{of_seeds('mark', results.sizes['seed'])} An excess below 0.01 % is drawn there, a"
        f" whitening error below {_LEAST:g} too. Participation ratio: {k:g} where all outputs vary"
        " alike and independently, 1 where there is only one direction. Law 1: what fixed feedback"
        " must end at, whatever the theory."
    )
    legend_below(axes, note)
    return axes


def _dots(panel: Axes, results: Dataset, name: str, floor: float) -> None:
    """Draw one dot for each seed, and a marker and a colour for each data set."""
    for place, data in enumerate(results["data"].values):
        values = results[name].sel(data=data).transpose("theory", "seed").values
        values = np.maximum(values, floor)
        rows = np.broadcast_to(_rows(results, place), values.shape)
        look = {"color": shade(place), "markersize": 3, "label": str(data)}
        panel.plot(values.ravel(), rows.ravel(), MARKERS[place % len(MARKERS)], **look)


def _mark_law(panel: Axes, results: Dataset) -> None:
    """Draw a tick where law 1 predicts the excess."""
    for place, data in enumerate(results["data"].values):
        law = results["law"].sel(data=data).transpose("theory", "seed").values
        if not np.isfinite(law).any():
            continue
        rows = np.broadcast_to(_rows(results, place), law.shape)
        look = {"color": colour("plateau"), "markersize": 7, "zorder": 3}
        panel.plot(law.ravel(), rows.ravel(), "|", label="law 1: predicted excess", **look)


def _rows(results: Dataset, place: int) -> NDArray:
    """Return the height of each theory's dots for the data set at ``place``, (theory, 1)."""
    beside = 0.22 * (place - (results.sizes["data"] - 1) / 2)
    return np.arange(results.sizes["theory"])[:, None] + beside

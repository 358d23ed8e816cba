"""Figures of what interneurons are for: maps of rates, theory and silence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    EXCESS,
    PAGE,
    THEORY,
    Dataset,
    axes_of,
    colour,
    legend_below,
    shade,
    styled,
)
from biorrr.analysis.interneurons import least_inhibition

_TOLERATED = 0.02
_NAMES = "direct", "interneurons"


def _edges(values: NDArray) -> NDArray:
    """Return the edges of fields around ``values``, which grow by about the same factor."""
    logs = np.log10(values)
    half = np.diff(logs).mean() / 2 if len(logs) > 1 else 0.5
    return 10 ** np.r_[logs - half, logs[-1] + half]


@styled
def plot_maps(maps: Dataset) -> NDArray:
    """Draw the median excess of both circuits against their rates, a column for each problem.

    Parameters
    ----------
    maps
        ``excess`` (problem, l, x, q, seed), with l = 0 for direct inhibition, ``expected`` of
        theory (problem, l, x, q), and ``eigenvalues`` (problem, component).

    Returns
    -------
    axes : (2, problems)
    """
    from matplotlib.colors import LogNorm

    problems, circuits = maps["problem"].values, sorted(maps["l"].values)[::-1]
    size = {"width": PAGE, "height": 3.6, "sharex": True, "sharey": True}
    axes = axes_of(None, 2, len(problems), **size)
    x, q = maps["x"].values, maps["q"].values
    for row, l in zip(axes, circuits, strict=True):
        for ax, problem in zip(row, problems, strict=True):
            one = maps.sel(problem=problem, l=l)
            excess = one["excess"].median("seed").transpose("q", "x").values
            norm = LogNorm(1e-4, 1)
            field = ax.pcolormesh(_edges(x), _edges(q), excess, norm=norm, cmap="viridis_r")
            expected = one["expected"].transpose("q", "x").values
            known = np.where(
                np.isfinite(expected), expected, np.where(np.isnan(expected), np.nan, 1)
            )
            for value, at in np.ndenumerate(known):
                if at < _TOLERATED:
                    ax.plot(x[value[1]], q[value[0]], ".", color="black", markersize=3)
            values = maps["eigenvalues"].sel(problem=problem).values
            least = [least_inhibition(values, one, one, direct=not l) / one for one in x]
            ax.plot(x, least, **(THEORY | {"color": "black", "linestyle": "-"}))
            ax.set(xscale="log", yscale="log", xlim=_edges(x)[[0, -1]], ylim=_edges(q)[[0, -1]])
            ax.set_title(f"{problem}" if l else "")
        row[0].set_ylabel(f"{_NAMES[bool(l)]}\n$\\eta_q / \\eta_x$")
    for ax in axes[-1]:
        ax.set_xlabel(r"$\eta_x = \eta_y$")
    axes[0, 0].figure.colorbar(field, ax=axes, label=EXCESS, aspect=40)
    return axes


@styled
def plot_theory(modes: Dataset, unequal: Dataset, turns: Dataset) -> NDArray:
    """Draw decay and frequency against theory, and excess against the rate of R and against the
    number of interneurons.

    Parameters
    ----------
    modes
        ``decay`` and ``frequency`` and their theory (problem, l, case).
    unequal, turns
        ``excess`` (problem, l, r, seed) with ``expected``, and ``excess`` (problem, l, y, seed).

    Returns
    -------
    axes : (4,)
    """
    axes = axes_of(None, 1, 4, width=PAGE, height=2.2)[0]
    for ax, name in zip(axes, ("decay", "frequency"), strict=False):
        for l in modes["l"].values:
            one = modes.sel(l=l)
            look = {"color": colour("own" if l == 0 else "Q"), "label": _NAMES[bool(l)]}
            ax.loglog(one[f"{name}_theory"].values.ravel(), one[name].values.ravel(), "o", **look)
        ends = [modes[f"{name}_theory"].min(), modes[f"{name}_theory"].max()]
        ax.loglog(ends, ends, zorder=0, **THEORY)
        ax.set(xlabel=f"{name} per sample, theory", ylabel="measured")
    for place, problem in enumerate(unequal["problem"].values):
        one = unequal.sel(problem=problem).squeeze("l")
        look = {"color": shade(place), "label": str(problem)}
        excess, stable = one["excess"].median("seed"), np.isfinite(one["expected"])
        axes[2].loglog(one["r"], excess, "-", **look)
        axes[2].loglog(one["r"], excess.where(stable), "o", color=shade(place))
        axes[2].loglog(one["r"], excess.where(~stable), "o", color=shade(place), mfc="white")
        few = turns.sel(problem=problem).squeeze("y")
        axes[3].semilogy(few["l"], few["excess"].median("seed"), "o-", color=shade(place))
    axes[2].set(xlabel=r"$\eta_r / \eta_q$", ylabel=EXCESS)
    axes[3].set(xlabel="interneurons", ylabel=EXCESS)
    legend_below(axes, most=6)
    return axes


@styled
def plot_silence(silence: Dataset) -> NDArray:
    """Draw what silence of interneurons does at once and after learning.

    Parameters
    ----------
    silence
        ``plateaus``, ``variance`` and ``excess`` (silent, seed, time), with time 0 at once.

    Returns
    -------
    axes : (3,)
    """
    axes = axes_of(None, 1, 3, width=PAGE, height=2.3)[0]
    words = ("plateaus beyond 2 s.d.", "variance of outputs", EXCESS)
    for ax, name, label in zip(axes, ("plateaus", "variance", "excess"), words, strict=True):
        for time, when in enumerate(("at once", "after learning")):
            one = silence[name].isel(time=time)
            one = one.where(np.isfinite(one))
            share = silence["silent"].values / silence["silent"].values.max()
            bars = {"yerr": one.std("seed").values, "fmt": "o-", "capsize": 1.5, "label": when}
            ax.errorbar(share, one.mean("seed").values, color=shade(time), **bars)
        ax.set(xlabel="share of interneurons silent", ylabel=label)
    axes[1].set_yscale("log")
    legend_below(axes)
    return axes

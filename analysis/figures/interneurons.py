"""Figures of what interneurons are for: maps of rates, theory and silence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    EXCESS,
    MARKERS,
    PAGE,
    THEORY,
    Dataset,
    axes_of,
    colour,
    in_percent,
    legend_below,
    shade,
    shades,
    styled,
)
from biorrr.analysis.interneurons import least_inhibition

_TOLERATED = 0.02
_RUNAWAY = 1e3  # variance of outputs, 1 if white
_NAMES = "direct inhibition", "interneurons"


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
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import NullFormatter

    problems, circuits = maps["problem"].values, sorted(maps["l"].values)[::-1]
    size = {"width": PAGE, "height": 3.9, "sharex": True, "sharey": True}
    axes = axes_of(None, 2, len(problems), **size)
    x, q = maps["x"].values, maps["q"].values
    for row, l in zip(axes, circuits, strict=True):
        for ax, problem in zip(row, problems, strict=True):
            one = maps.sel(problem=problem, l=l)
            excess = one["excess"].median("seed").transpose("q", "x").values
            norm = LogNorm(1e-4, 1)
            field = ax.pcolormesh(
                _edges(x), _edges(q), excess, norm=norm, cmap="viridis_r", rasterized=True
            )
            good = np.argwhere(one["expected"].transpose("q", "x").values < _TOLERATED)
            dots = {"markersize": 3, "markeredgecolor": "black", "markeredgewidth": 0.5}
            words = f"theory: noise keeps the excess below {100 * _TOLERATED:g} %"
            ax.plot(x[good[:, 1]], q[good[:, 0]], "o", color="white", label=words, **dots)
            values = maps["eigenvalues"].sel(problem=problem).values
            least = [least_inhibition(values, rate, rate, direct=not l) / rate for rate in x]
            edge = [withStroke(linewidth=2.4, foreground="black")]
            words = "theory: pairs of outputs settle above this line"
            ax.plot(x, least, color="white", linewidth=1, path_effects=edge, label=words)
            ax.set(xscale="log", yscale="log", xlim=_edges(x)[[0, -1]], ylim=_edges(q)[[0, -1]])
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_minor_formatter(NullFormatter())  # of a map with few rates
            ax.set_title(f"{problem}" if l else "")
        row[0].set_ylabel(f"{_NAMES[bool(l)]}\n$\\eta_q / \\eta_x$")
    for ax in axes[-1]:
        ax.set_xlabel(r"$\eta_x = \eta_y$")
    bar = axes[0, 0].figure.colorbar(field, ax=axes, label=EXCESS, aspect=40)
    in_percent(bar.ax)
    seeds = maps.sizes["seed"]
    legend_below(axes, f"Colours: median of {seeds} seeds." if seeds > 1 else "One seed.")
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
    axes : (3,)
    """
    axes = axes_of(None, 1, 3, width=PAGE, height=2.6)[0]
    for l, tint, fill in ((0, "own", "none"), (int(modes["l"].max()), "Q", "full")):
        for name, mark in {"decay": "v", "frequency": "o"}.items():
            theory, found = (modes[one].sel(l=l).values.ravel() for one in (f"{name}_theory", name))
            label = f"{name}, {_NAMES[bool(l)]}"
            axes[0].loglog(theory, found, mark, color=colour(tint), fillstyle=fill, label=label)
    ends = modes["decay_theory"].min(), modes["frequency_theory"].max()
    axes[0].loglog(ends, ends, zorder=0, label="equal", **THEORY)
    axes[0].set(xlabel="theory (per sample)", ylabel="measured (per sample)")
    for place, problem in enumerate(unequal["problem"].values):
        one = unequal.sel(problem=problem).squeeze("l")
        look = {"color": shade(place), "marker": MARKERS[place % len(MARKERS)]}
        excess, stable = one["excess"].median("seed"), np.isfinite(one["expected"])
        axes[1].loglog(one["r"], excess, label=str(problem), **look)
        axes[1].loglog(one["r"], excess.where(~stable), linestyle="none", mfc="white", **look)
        few = turns.sel(problem=problem).squeeze("y")
        axes[2].semilogy(few["l"], few["excess"].median("seed"), **look)
    axes[1].set(xlabel=r"$\eta_r / \eta_q$", ylabel=EXCESS)
    axes[2].set(xlabel="interneurons", ylabel=EXCESS, xticks=turns["l"].values)
    for ax in axes[1:]:
        in_percent(ax)
    note = "Excess: median over seeds; white marks: by theory it has no bound there."
    legend_below(axes, note)
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
    axes = axes_of(None, 1, 3, width=PAGE, height=2.5)[0]
    words = ("share of plateaus beyond 2 s.d.", "variance of outputs", EXCESS)
    for ax, name, label in zip(axes, ("plateaus", "variance", "excess"), words, strict=True):
        for time, when in enumerate(("at once", "after learning")):
            one = silence.isel(time=time)
            one = one[name].where(one["variance"] < _RUNAWAY)
            share = silence["silent"].values / silence["silent"].values.max()
            fmt = ("o-", "s--")[time]
            bars = {"yerr": one.std("seed").values, "fmt": fmt, "capsize": 1.5, "label": when}
            ax.errorbar(share, one.mean("seed").values, color=shades(2)[time], **bars)
        ax.set(xlabel="share of interneurons silent", ylabel=label)
    in_percent(axes[2])
    seeds = silence.sizes["seed"]
    note = f"Bars: standard deviation of {seeds} seeds." if seeds > 1 else "One seed."
    legend_below(axes, f"{note} Outputs that grow without bound are left out.")
    return axes

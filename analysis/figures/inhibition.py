"""Figures of inhibition: how R meets Q', and what interneurons are for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import (
    BAND,
    EXCESS,
    MARKERS,
    PAGE,
    THEORY,
    Axes,
    Dataset,
    axes_of,
    colour,
    explain,
    in_percent,
    mark_cuts,
    of_seeds,
    percent,
    shade,
    shades,
    styled,
)

_HIGHEST = 3.0  # ||QQ'|| over the exact one that is drawn: transients would flatten the rest
_CUT = f"axis cut off: above {_HIGHEST:g}"
_STARTS = {"positive": ("-", "all > 0"), "negative": (":", "in part < 0")}  # dashes, eigenvalues


@styled
def plot_symmetry(
    samples: ArrayLike,
    distance: ArrayLike,
    inhibition: ArrayLike,
    predicted: ArrayLike | None = None,
    exact: ArrayLike | None = None,
    rounding: ArrayLike | None = None,
    *,
    ax: NDArray | None = None,
) -> NDArray:
    """Draw the distance of R from Q', relative to Q, and beside it the strength of inhibition.

    The distance has a logarithmic axis over linear samples: at constant rates it decays
    exponentially, which is a straight line. If R only seemed to find Q' because both fade, the
    distance would stay where it is, and the inhibition on the right would fall to zero.

    Parameters
    ----------
    samples : (S,)
        Samples seen.
    distance : (S,)
        ||R - Q'|| / ||Q||.
    inhibition : (S, k)
        Eigenvalues of QQ', largest first.
    predicted : (S,)
        The distance that theory predicts; none unless given.
    exact : (k,)
        Eigenvalues that those of QQ' equal at the optimum; not drawn unless given.
    rounding : (S,)
        Distance below which there is nothing but rounding error; 1e-12 unless given.
    ax : (2,)
        Axes; new ones unless given.

    Returns
    -------
    axes : (2,)
    """
    axes = axes_of(ax, 1, 2, "one for distance, one for inhibition", width=PAGE, height=2.6)[0]
    floor = 1e-12 if rounding is None else float(np.nanmedian(rounding))
    axes[0].set_title(_draw_distance(axes[0], samples, np.asarray(distance), floor))
    if predicted is not None:
        axes[0].plot(samples, predicted, label="predicted, no free parameter", **THEORY)
    axes[1].set_title(_draw_inhibition(axes[1], samples, np.asarray(inhibition), exact))
    for panel in axes:
        panel.set_xlabel("samples seen")
        panel.xaxis.set_major_formatter("{x:,.0f}")
    return explain(axes)


def _draw_distance(ax: Axes, samples: ArrayLike, distance: NDArray, floor: float) -> str:
    """Draw the relative distance of R from Q', and where rounding error begins; return in words
    where it ends.
    """
    ax.plot(samples, distance, "o", color=colour("R"), label="measured", markersize=3)
    ax.set_ylabel("$\\Vert R - Q' \\Vert\\ /\\ \\Vert Q \\Vert$")
    known = distance[np.isfinite(distance) & (distance > 0)]
    if not len(known):
        return "R is $Q'$ from the start, and stays it"
    ax.set_yscale("log")
    if known.min() < floor:
        ax.axhspan(1e-3 * floor, floor, label="rounding error may show", **BAND)
        ax.set_ylim(min(known.min(), 0.1 * floor) / 3, 5 * known.max())
    return f"in the end R equals $Q'$ to {distance[-1]:.1e} of $\\Vert Q \\Vert$"


def _draw_inhibition(
    ax: Axes, samples: ArrayLike, inhibition: NDArray, exact: ArrayLike | None
) -> str:
    """Draw the eigenvalues of QQ' and its norm on their way to those of the exact solution; return
    in words where the norm ends.
    """
    norm, tint = np.linalg.norm(inhibition, axis=1), colour("Q")
    thin = ax.plot(samples, inhibition, color=tint, linewidth=0.8, alpha=0.7)
    thin[0].set_label("eigenvalues of $QQ'$")
    ax.plot(samples, norm, color=tint, linewidth=2, label="$\\Vert QQ' \\Vert$")
    known = [] if exact is None else [*np.asarray(exact), np.linalg.norm(exact)]
    for value in known:
        ax.axhline(value, label="exact solution", **THEORY)
    ax.set_ylabel("strength of inhibition")
    ax.set_ylim(bottom=0)
    theory = f", exact {known[-1]:.3g}" if known else ""
    return f"in the end $\\Vert QQ' \\Vert$ = {norm[-1]:.3g}{theory}"


@styled
def plot_meeting(results: Dataset, deviation: float) -> NDArray:
    """Draw how R meets Q' at several rates from several starts: the distance, inhibition, excess.

    Parameters
    ----------
    results
        ``seen``, samples seen; ``ratio``, which is ||Q' - R|| over its start; ``inhibition``, which
        is ||QQ'|| over that of the exact solution; and ``excess``, a fraction; each (eigenvalues,
        eta, start, snapshot) and NaN after a divergence. The ``eigenvalues`` of QR at the start are
        "positive" or, in part, "negative".
    deviation
        Largest relative deviation of the ratio from theory.

    Returns
    -------
    axes : (3,)
    """
    axes = axes_of(None, 1, 3, width=PAGE, height=3.2)[0]
    tints = shades(results.sizes["eta"])  # the darker, the slower: seen in grey print too
    for place, eta in enumerate(results["eta"].values):
        marker, line = MARKERS[place % len(MARKERS)], {"color": tints[place], "linewidth": 0.7}
        for kind, (dashes, words) in _STARTS.items():
            one = results.sel(eta=eta, eigenvalues=kind).transpose("snapshot", "start")
            at, inhibition = eta * one["seen"].values, one["inhibition"].values
            axes[0].plot(at, one["ratio"], marker, color=tints[place], markersize=2.5)
            axes[1].plot(at, inhibition, dashes, **line)
            axes[2].plot(at, one["excess"].clip(1e-6), dashes, **line)
            mark_cuts(axes[1], at, inhibition, _HIGHEST, _CUT, color=tints[place])
            label = f"rate {eta:g}, eigenvalues of $QR$ {words}"
            axes[1].plot([], [], marker + dashes, markersize=2.5, label=label, **line)
        span = np.linspace(0, np.nanmax(results["seen"].sel(eta=eta)), 200)
        axes[0].plot(eta * span, (1 - eta) ** span, zorder=3, label="theory", **THEORY)
    axes[1].axhline(1, zorder=3, **THEORY)
    ends = results[["inhibition", "excess"]].isel(snapshot=-1)
    low, high = float(ends["inhibition"].min()), float(ends["inhibition"].max())
    axes[0].set(
        title=f"R meets $Q'$, off theory by {deviation:.1g}",
        ylabel="$\\Vert R - Q' \\Vert$ over its start",
        yscale="log",
        ylim=(1e-14, 30),
    )
    axes[1].set(
        title=f"inhibition ends at {low:.2g} to {high:.2g}",
        ylabel="$\\Vert QQ' \\Vert$ over the exact one",
        ylim=(0, _HIGHEST),
    )
    axes[2].set(
        title=f"and circuits learn, to {percent(float(ends['excess'].max()))}",
        ylabel=EXCESS,
        yscale="log",
    )
    in_percent(axes[2])
    for ax in axes:
        ax.set_xlabel(r"samples seen $\times\ \eta/\tau$")
    return explain(
        axes,
        f"Each curve is one of {results.sizes['start']} starts of Q and R; rates are those of Q and"
        " R. Distances below 1e-14 of the start are rounding errors, and are left out.",
        2,
    )


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
    problems, circuits = maps["problem"].values, sorted(maps["l"].values, reverse=True)
    axes = axes_of(None, 2, len(problems), width=PAGE, height=3.9, sharex=True, sharey=True)
    for row, l in zip(axes, circuits, strict=True):
        for ax, problem in zip(row, problems, strict=True):
            field = _draw_map(ax, maps.sel(problem=problem, l=l))
            ax.set_title(str(problem) if l else "")
        row[0].set_ylabel(f"{_NAMES[bool(l)]}\n$\\eta_q / \\eta_x$")
    for ax in axes[-1]:
        ax.set_xlabel(r"$\eta_x = \eta_y$")
    in_percent(axes[0, 0].figure.colorbar(field, ax=axes, label=EXCESS, aspect=40).ax)
    return explain(axes, of_seeds("Colours: median of {} seeds.", maps.sizes["seed"]))


def _draw_map(ax: Axes, one: Dataset) -> Any:
    """Draw the median excess of one circuit and problem, and where theory expects it to be low;
    return the fields.
    """
    from matplotlib.patheffects import withStroke

    from biorrr.analysis.interneurons import least_inhibition

    x, q, one = one["x"].values, one["q"].values, one.transpose("q", "x", ...)
    ax.set(xscale="log", yscale="log", xlim=_edges(x)[[0, -1]], ylim=_edges(q)[[0, -1]])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter("")  # of a map with few rates
    good = np.argwhere(one["expected"].values < _TOLERATED)
    ax.plot(
        x[good[:, 1]],
        q[good[:, 0]],
        "o",
        color="white",
        markersize=3,
        markeredgecolor="black",
        markeredgewidth=0.5,
        label=f"theory: noise keeps the excess below {100 * _TOLERATED:g} %",
    )
    eigenvalues, direct = one["eigenvalues"].values, not one["l"]
    ax.plot(
        x,
        [least_inhibition(eigenvalues, rate, rate, direct) / rate for rate in x],
        color="white",
        linewidth=1,
        path_effects=[withStroke(linewidth=2.4, foreground="black")],
        label="theory: pairs of outputs settle above this line",
    )
    return ax.pcolormesh(
        _edges(x),
        _edges(q),
        one["excess"].median("seed").values,
        norm="log",
        clim=(1e-4, 1),
        cmap="viridis_r",
        rasterized=True,
    )


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
        for name, mark in (("decay", "v"), ("frequency", "o")):
            theory, found = (modes[one].sel(l=l).values.ravel() for one in (f"{name}_theory", name))
            label = f"{name}, {_NAMES[bool(l)]}"
            axes[0].plot(theory, found, mark, color=colour(tint), fillstyle=fill, label=label)
    ends = modes["decay_theory"].min(), modes["frequency_theory"].max()
    axes[0].plot(ends, ends, zorder=0, label="equal", **THEORY)
    axes[0].set(xscale="log", xlabel="theory (per sample)", ylabel="measured (per sample)")
    for place, problem in enumerate(unequal["problem"].values):
        one, few = (
            each.sel(problem=problem) for each in (unequal.squeeze("l"), turns.squeeze("y"))
        )
        excess, marker = one["excess"].median("seed"), MARKERS[place % len(MARKERS)]
        axes[1].plot(one["r"], excess, marker + "-", color=shade(place), label=str(problem))
        beyond = excess.where(~np.isfinite(one["expected"]))
        axes[1].plot(one["r"], beyond, marker, color=shade(place), markerfacecolor="white")
        axes[2].plot(few["l"], few["excess"].median("seed"), marker + "-", color=shade(place))
    axes[1].set(xscale="log", xlabel=r"$\eta_r / \eta_q$", ylabel=EXCESS)
    axes[2].set(xlabel="interneurons", ylabel=EXCESS, xticks=turns["l"].values)
    for ax in axes:
        ax.set_yscale("log")
    for ax in axes[1:]:
        in_percent(ax)
    return explain(axes, "Excess: median over seeds; white marks: by theory it has no bound there.")


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
    bounded = silence.where(silence["variance"] < _RUNAWAY)
    mean, spread = bounded.mean("seed"), bounded.std("seed")
    share = silence["silent"] / silence["silent"].max()
    words = ("share of plateaus beyond 2 s.d.", "variance of outputs", EXCESS)
    for ax, name, label in zip(axes, ("plateaus", "variance", "excess"), words, strict=True):
        for time, (when, fmt) in enumerate({"at once": "o-", "after learning": "s--"}.items()):
            values = mean[name].isel(time=time), spread[name].isel(time=time)
            tint = shades(2)[time]
            ax.errorbar(share, *values, fmt=fmt, color=tint, capsize=1.5, label=when)
        ax.set(xlabel="share of interneurons silent", ylabel=label)
    in_percent(axes[2])
    bars = of_seeds("Bars: standard deviation of {} seeds.", silence.sizes["seed"])
    return explain(axes, f"{bars} Outputs that grow without bound are left out.")

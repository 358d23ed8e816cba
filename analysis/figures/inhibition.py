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
    percent,
    shade,
    shades,
    styled,
)

_HIGHEST = 3.0  # ||QQ'|| over the exact one that is drawn: transients would flatten the rest
_KINDS = {"positive": "all > 0", "negative": "in part < 0"}  # at the start


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
    what = "one for the distance and one for inhibition"
    axes = axes_of(ax, 1, 2, what, width=PAGE, height=2.5).ravel()
    floor = 1e-12 if rounding is None else float(np.nanmedian(rounding))
    _draw_distance(axes[0], np.asarray(samples), np.asarray(distance), predicted, floor)
    _draw_inhibition(axes[1], np.asarray(samples), np.asarray(inhibition), exact)
    return axes


def _draw_distance(
    ax: Axes, samples: NDArray, distance: NDArray, predicted: ArrayLike | None, floor: float
) -> None:
    """Draw the relative distance of R from Q', and where rounding error begins."""
    ax.plot(samples, distance, "o", color=colour("R"), label="measured", markersize=3)
    if predicted is not None:
        ax.plot(samples, predicted, label="predicted, no free parameter", zorder=3, **THEORY)
    ax.set(xlabel="samples seen", ylabel="$\\Vert R - Q' \\Vert\\ /\\ \\Vert Q \\Vert$")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_title(f"in the end R equals $Q'$ to {distance[-1]:.1e} of $\\Vert Q \\Vert$")
    known = distance[np.isfinite(distance) & (distance > 0)]
    if not len(known):
        ax.set_title("R is $Q'$ from the start, and stays it")
    else:
        ax.set_yscale("log")
        if known.min() < floor:
            ax.axhspan(1e-3 * floor, floor, label="rounding error may show", **BAND)
            ax.set_ylim(min(known.min(), 0.1 * floor) / 3, 5 * known.max())
    ax.legend(loc="best")


def _draw_inhibition(
    ax: Axes, samples: NDArray, inhibition: NDArray, exact: ArrayLike | None
) -> None:
    """Draw the eigenvalues of QQ' and its norm on their way to those of the exact solution."""
    norm = np.linalg.norm(inhibition, axis=1)
    thin = ax.plot(samples, inhibition, color=colour("Q"), linewidth=0.8, alpha=0.7)
    thin[0].set_label("eigenvalues of $QQ'$")
    ax.plot(samples, norm, color=colour("Q"), linewidth=2, label="$\\Vert QQ' \\Vert$")
    title = f"in the end $\\Vert QQ' \\Vert$ = {norm[-1]:.3g}"
    top = [np.nanmax(norm)]
    if exact is not None:
        at_optimum = float(np.linalg.norm(exact))
        for place, value in enumerate([*np.asarray(exact), at_optimum]):
            ax.axhline(value, label=None if place else "exact solution", **THEORY)
        title += f", exact {at_optimum:.3g}"
        top.append(at_optimum)
    ax.set(xlabel="samples seen", ylabel="strength of inhibition", title=title)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_ylim(0, 1.45 * max(top))  # room for a legend
    ax.legend(loc="upper right", ncols=2)


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
        for kind, dashes in (("positive", "-"), ("negative", ":")):
            one = results.sel(eta=eta, eigenvalues=kind)
            at = eta * one["seen"].values.T
            look: dict[str, Any] = {"color": tints[place], "linestyle": dashes, "linewidth": 0.7}
            mark: dict[str, Any] = {"marker": MARKERS[place % len(MARKERS)], "markersize": 2.5}
            axes[0].plot(at, one["ratio"].values.T, **{**look, **mark, "linestyle": "none"})
            axes[1].plot(at, one["inhibition"].values.T, **look)
            cut = f"axis cut off: above {_HIGHEST:g}"
            mark_cuts(axes[1], at, one["inhibition"].values.T, _HIGHEST, cut, color=tints[place])
            axes[2].plot(at, np.maximum(one["excess"].values.T, 1e-6), **look)
            words = f"rate {eta:g}, eigenvalues of $QR$ {_KINDS[kind]}"
            axes[1].plot([], [], label=words, **look, **mark)
        span = np.linspace(0, np.nanmax(results["seen"].sel(eta=eta)), 200)
        axes[0].plot(eta * span, (1 - eta) ** span, zorder=3, label="theory", **THEORY)
    axes[0].set(
        yscale="log", title=f"R meets $Q'$, off theory by {deviation:.1g}", ylim=(1e-14, 30)
    )
    axes[0].set_ylabel("$\\Vert R - Q' \\Vert$ over its start")
    axes[1].axhline(1, zorder=3, **THEORY)
    ends = results[["inhibition", "excess"]].isel(snapshot=-1)
    low, high = float(ends["inhibition"].min()), float(ends["inhibition"].max())
    axes[1].set(title=f"inhibition ends at {low:.2g} to {high:.2g}", ylim=(0, _HIGHEST))
    axes[1].set_ylabel("$\\Vert QQ' \\Vert$ over the exact one")
    axes[2].set(yscale="log", ylabel=EXCESS)
    axes[2].set_title(f"and circuits learn, to {percent(float(ends['excess'].max()))}")
    in_percent(axes[2])
    for ax in axes:
        ax.set_xlabel(r"samples seen $\times\ \eta/\tau$")
    note = (
        f"Each curve is one of {results.sizes['start']} starts of Q and R; rates are those of Q and"
        " R. Distances below 1e-14 of the start are rounding errors, and are left out."
    )
    explain(axes, note, 2)
    return axes


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

    from biorrr.analysis.interneurons import least_inhibition

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
    explain(axes, f"Colours: median of {seeds} seeds." if seeds > 1 else "One seed.")
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
    explain(axes, note)
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
    explain(axes, f"{note} Outputs that grow without bound are left out.")
    return axes

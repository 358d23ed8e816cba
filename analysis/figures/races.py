"""Figures of learners side by side: mean and standard deviation over seeds, one column per rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import THEORY, axes_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour-blind safe (Okabe and Ito), and told apart in grey print by dashes and markers.
_LINES = (
    ("#0072B2", "-", "o"), ("#56B4E9", "--", "s"), ("#D55E00", "-.", "^"), ("#009E73", ":", "D"),
    ("#CC79A7", (0, (5, 1)), "v"), ("#E69F00", (0, (3, 1, 1, 1)), "P"), ("#000000", (0, (1, 1)), "X"),
)  # fmt: skip
_NEAR = (5.0, 1.0)  # percent above the optimum at which a learner counts as arrived
_FLOOR = 1e-3  # percent, below which nobody looks


@styled
def plot_race(
    curves: Mapping[tuple[str, int], tuple[NDArray, NDArray, NDArray, NDArray]],
    steps: str = "samples",
    title: str = "",
    note: str = "",
) -> Figure:
    """Excess over the optimum, in percent, against steps, passes through the data and CPU time, one column per rank.

    Dashed lines are drawn where the excess is 5 % and 1 %.

    Parameters
    ----------
    curves
        By (learner, k): t (S,), passes (seeds, S), CPU seconds (seeds, S), excess (seeds, S) as a fraction.
    steps
        What t counts.
    title
        What was run.
    note
        Said below the figure.
    """
    lines = _lines(curves)
    ranks = list(dict.fromkeys(k for _, k in curves))
    labels = (steps, "passes through the data", "CPU time (s)")
    axes = axes_of(None, 3, len(ranks), figsize=(1.4 + 2.7 * len(ranks), 7), sharey=True)
    for column, k in enumerate(ranks):
        for (learner, rank), (t, passes, seconds, excess) in curves.items():
            if rank == k:
                for ax, along in zip(axes[:, column], (t, passes.mean(axis=0), seconds.mean(axis=0)), strict=True):
                    _band(ax, along, np.maximum(100 * excess, _FLOOR / 10), learner, lines)
        for ax, label in zip(axes[:, column], labels, strict=True):
            for near in _NEAR:
                ax.axhline(near, **THEORY)
            ax.set(xscale="log", yscale="log", ylim=(_FLOOR, 150), xlabel=label)
        axes[0, column].set_title(f"$k = {k}$")
    for ax in axes[:, 0]:
        ax.set_ylabel("excess over the optimum (%)")
    return _legend(axes[0, 0], title, note)


@styled
def plot_constraint(
    curves: Mapping[tuple[str, int], tuple[NDArray, NDArray]], steps: str = "samples", title: str = ""
) -> Figure:
    """Deviation ||Vx'CxxVx - I||^2/k against steps; by (learner, k): t (S,), deviation (seeds, S)."""
    lines = _lines(curves)
    ranks = list(dict.fromkeys(k for _, k in curves))
    axes = axes_of(None, 1, len(ranks), figsize=(1.4 + 2.7 * len(ranks), 3.2), sharey=True)
    for (learner, k), (t, deviation) in curves.items():
        _band(axes[0, ranks.index(k)], t, np.maximum(deviation, 1e-12), learner, lines)
    for ax, k in zip(axes[0], ranks, strict=True):
        ax.set(xscale="log", yscale="log", title=f"$k = {k}$", xlabel=steps)
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 1e-6))
    axes[0, 0].set_ylabel("$\\Vert V_x' C_{xx} V_x - I \\Vert^2 / k$")
    return _legend(axes[0, 0], title)


@styled
def plot_pictures_race(curves: Mapping[str, Mapping[str, tuple[NDArray, NDArray]]], ranks: Mapping[str, int]) -> Figure:
    """Excess over the optimum, in percent, against samples, one panel per data set.

    Parameters
    ----------
    curves
        By data set and learner: t (S,), excess (seeds, S) as a fraction.
    ranks
        By data set.
    """
    lines = _lines({(learner, 0): None for raced in curves.values() for learner in raced})
    axes = axes_of(None, 1, len(curves), figsize=(1.4 + 2.7 * len(curves), 3.2), sharey=True)
    for ax, (name, raced) in zip(axes[0], curves.items(), strict=True):
        for learner, (t, excess) in raced.items():
            _band(ax, t, np.maximum(100 * excess, _FLOOR / 10), learner, lines)
        for near in _NEAR:
            ax.axhline(near, **THEORY)
        ax.set(xscale="log", yscale="log", ylim=(0.1, 150), title=f"{name}, $k = {ranks[name]}$", xlabel="samples")
    axes[0, 0].set_ylabel("excess over the optimum (%)")
    return _legend(axes[0, 0])


@styled
def plot_sensitivity(
    excess: Mapping[tuple[str, int], NDArray], eta0: Mapping[tuple[str, int], NDArray], N: NDArray, title: str = ""
) -> Figure:
    """Excess over the optimum for every pair of eta0 and N, one row per algorithm and one column per rank.

    Parameters
    ----------
    excess
        By (algorithm, k): mean over seeds as a fraction, (eta0, N); NaN where a seed diverged, drawn hatched.
    eta0
        By (algorithm, k): the values tried, (eta0,).
    N
        The values tried, (N,).
    """
    from matplotlib.colors import LogNorm

    algorithms = list(dict.fromkeys(name for name, _ in excess))
    ranks = list(dict.fromkeys(k for _, k in excess))
    size = 1.6 + 2.9 * len(ranks), 0.6 + 2.8 * len(algorithms)
    axes = axes_of(None, len(algorithms), len(ranks), figsize=size)
    figure = axes[0, 0].figure
    for (name, k), values in excess.items():
        ax = axes[algorithms.index(name), ranks.index(k)]
        ax.set_facecolor("white")
        ax.patch.set_hatch("////")
        shown = ax.imshow(
            100 * np.maximum(values, 1e-5), norm=LogNorm(0.01, 100), cmap="viridis_r", origin="lower", aspect="auto"
        )
        for row, column in np.ndindex(values.shape):
            value = 100 * values[row, column]
            text = "diverged" if np.isnan(value) else f"{value:.2g}"
            dark = not np.isnan(value) and value > 3
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1} if np.isnan(value) else None
            ax.text(column, row, text, ha="center", va="center", fontsize=6, color="w" if dark else "k", bbox=box)
        ax.set_xticks(range(len(N)), [f"{n:,.0f}" for n in N], fontsize=6)
        ax.set_yticks(range(len(values)), [f"{eta:.2g}" for eta in eta0[name, k]], fontsize=6)
        ax.set(title=f"{name}, $k = {k}$", xlabel="$N$ (samples)", ylabel="$\\eta_0$ of $V_x$")
        ax.grid(False)
    figure.colorbar(shown, ax=axes, label="excess over the optimum (%)", shrink=0.8)
    figure.suptitle(title, fontsize="small")
    return figure


def _lines(curves: Mapping[tuple[str, int], object]) -> dict[str, tuple]:
    return dict(zip(dict.fromkeys(learner for learner, _ in curves), _LINES, strict=False))


def _band(ax: Axes, x: NDArray, scores: NDArray, learner: str, lines: Mapping[str, tuple]) -> None:
    """Mean of ``scores`` (seeds, S) over ``x`` (S,) with a band of one standard deviation; x = 0 is left out."""
    colour, dashes, marker = lines[learner]
    shown = x > 0
    mean, spread = scores.mean(axis=0)[shown], scores.std(axis=0)[shown]
    first = 3 * list(lines).index(learner)  # markers of two lines that coincide lie side by side
    style = {"marker": marker, "markersize": 3.5, "markevery": (first % max(len(mean), 1), 16)}
    ax.plot(x[shown], mean, color=colour, linestyle=dashes, label=learner, **style)
    low = np.maximum(mean - spread, 0.1 * mean)  # on a logarithmic axis a band must not reach 0
    ax.fill_between(x[shown], low, mean + spread, color=colour, alpha=0.2, linewidth=0)


def _legend(ax: Axes, title: str = "", note: str = "") -> Figure:
    """Draw legend, title and note of the figure that ``ax`` is in; return the figure."""
    figure: Any = ax.figure
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, title=note,
        title_fontsize="small",
    )  # fmt: skip
    if title:
        figure.suptitle(title, fontsize="small")
    return figure

"""Figures of learners side by side: mean and standard deviation over seeds, a column a rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import THEORY, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour-blind safe (Okabe and Ito), and told apart in grey print by their dashes.
_LINES = (
    ("#0072B2", "-"), ("#56B4E9", "--"), ("#D55E00", "-."), ("#009E73", ":"), ("#CC79A7", (0, (5, 1))),
    ("#E69F00", (0, (3, 1, 1, 1))), ("#000000", (0, (1, 1))),
)  # fmt: skip


@styled
def plot_race(
    curves: Mapping[tuple[str, int], tuple[NDArray, NDArray, NDArray]],
    optima: Mapping[int, float],
    steps: str = "samples",
    note: str = "",
) -> Figure:
    """Objective against steps (above) and CPU time (below), the optimum dashed.

    Parameters
    ----------
    curves
        By (learner, k): t (S,), CPU seconds (seeds, S), objective (seeds, S).
    optima
        By k.
    steps
        What t counts.
    note
        Said below the figure.
    """
    import matplotlib.pyplot as plt

    lines = _lines(curves)
    figure, axes = plt.subplots(
        2, len(optima), figsize=(1 + 2.6 * len(optima), 5), squeeze=False, sharey="col", layout="constrained"
    )
    for column, (k, optimum) in enumerate(optima.items()):
        for (learner, rank), (t, seconds, objective) in curves.items():
            if rank == k:
                _band(axes[0, column], t, objective, learner, lines)
                _band(axes[1, column], seconds.mean(axis=0), objective, learner, lines)
        for ax in axes[:, column]:
            ax.axhline(optimum, label="optimum", **THEORY)
            ax.set(xscale="log", ylim=(1.05 * optimum, -0.05 * optimum))
        axes[0, column].set(title=f"$k = {k}$", xlabel=steps)
        axes[1, column].set(xlabel="CPU time (s)")
    for ax in axes[:, 0]:
        ax.set_ylabel("objective")
    _legend(figure, axes[0, 0], note)
    return figure


@styled
def plot_constraint(curves: Mapping[tuple[str, int], tuple[NDArray, NDArray]], steps: str = "samples") -> Figure:
    """Deviation ||Vx'CxxVx - I||^2/k against steps; by (learner, k): t (S,), deviation (seeds, S)."""
    import matplotlib.pyplot as plt

    lines = _lines(curves)
    ranks = list(dict.fromkeys(k for _, k in curves))
    figure, axes = plt.subplots(
        1, len(ranks), figsize=(1 + 2.6 * len(ranks), 3), squeeze=False, sharey=True, layout="constrained"
    )
    for (learner, k), (t, deviation) in curves.items():
        _band(axes[0, ranks.index(k)], t, deviation, learner, lines)
    for ax, k in zip(axes[0], ranks, strict=True):
        ax.set(xscale="log", yscale="log", title=f"$k = {k}$", xlabel=steps)
    axes[0, 0].set_ylabel("$\\Vert V_x' C_{xx} V_x - I \\Vert^2 / k$")
    _legend(figure, axes[0, 0], "")
    return figure


@styled
def plot_pictures_race(
    curves: Mapping[str, Mapping[str, tuple[NDArray, NDArray]]], optima: Mapping[str, float], ranks: Mapping[str, int]
) -> Figure:
    """Objective against samples, a panel a data set, the optimum dashed.

    Parameters
    ----------
    curves
        By data set and learner: t (S,), objective (seeds, S).
    optima, ranks
        By data set.
    """
    import matplotlib.pyplot as plt

    lines = _lines({(learner, 0): None for raced in curves.values() for learner in raced})
    figure, axes = plt.subplots(
        1, len(curves), figsize=(1 + 2.6 * len(curves), 3.2), squeeze=False, layout="constrained"
    )
    for ax, (name, raced) in zip(axes[0], curves.items(), strict=True):
        for learner, (t, objective) in raced.items():
            _band(ax, t, objective, learner, lines)
        ax.axhline(optima[name], label="optimum", **THEORY)
        ax.set(xscale="log", title=f"{name}, $k = {ranks[name]}$", xlabel="samples")
        ax.set_ylim(1.05 * optima[name], -0.05 * optima[name])
    axes[0, 0].set_ylabel("objective")
    _legend(figure, axes[0, 0], "")
    return figure


def _lines(curves: Mapping[tuple[str, int], object]) -> dict[str, tuple]:
    return dict(zip(dict.fromkeys(learner for learner, _ in curves), _LINES, strict=False))


def _band(ax: Axes, x: NDArray, scores: NDArray, learner: str, lines: Mapping[str, tuple]) -> None:
    """Mean of ``scores`` (seeds, S) over ``x`` (S,) with a band of one standard deviation; x = 0 is left out."""
    colour, dashes = lines[learner]
    shown = x > 0
    mean, spread = scores.mean(axis=0)[shown], scores.std(axis=0)[shown]
    ax.plot(x[shown], mean, color=colour, linestyle=dashes, label=learner)
    low = mean - spread
    if (mean > 0).all():  # on a logarithmic axis a band must not reach 0
        low = np.maximum(low, 0.1 * mean)
    ax.fill_between(x[shown], low, mean + spread, color=colour, alpha=0.2, linewidth=0)


def _legend(figure: Figure, ax: Axes, note: str) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=4, frameon=False, title=note, title_fontsize="small"
    )

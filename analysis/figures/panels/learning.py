"""Curves of scores and angles through learning."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import (
    EXCESS,
    THEORY,
    Axes,
    axes_of,
    for_log_axis,
    in_percent,
    styled,
)


@styled
def plot_learning(
    samples: ArrayLike,
    scores: ArrayLike,
    optimum: float | None = None,
    *,
    label: str | None = None,
    color: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the objective against samples with its optimum or, without ``optimum``, excess in
    percent, logarithmic.

    Parameters
    ----------
    samples : (S,)
        Samples seen, on a logarithmic axis; the start, at 0, is drawn at half the first count that
        follows.
    scores : (S,) or (seeds, S)
        Of several seeds the mean is drawn, and a band of one standard deviation on either side.
    optimum
        Of the objective.
    label, color
        Of the curve; call again with the same ``ax`` for further curves.
    """
    ax = axes_of(ax)
    samples = for_log_axis(samples)
    scores = np.atleast_2d(np.asarray(scores, dtype=float))
    mean, spread = scores.mean(axis=0), scores.std(axis=0)
    (line,) = ax.plot(samples, mean, label=label, color=color)
    ax.set(
        xscale="log", xlabel="samples seen", ylabel="objective" if optimum is not None else EXCESS
    )
    low = mean - spread
    if optimum is None:
        ax.set_yscale("log")
        in_percent(ax)
        low = np.maximum(low, scores.min(axis=0))  # a logarithmic axis has no room below zero
    else:
        named = "optimum" in ax.get_legend_handles_labels()[1]
        ax.axhline(optimum, label=None if named else "optimum", zorder=0, **THEORY)
    if len(scores) > 1:
        ax.fill_between(
            samples, low, mean + spread, color=line.get_color(), alpha=0.25, linewidth=0
        )
    if ax.get_legend_handles_labels()[1]:
        ax.legend()
    return ax


@styled
def plot_angles(samples: ArrayLike, angles: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the angles between the learned and the exact subspace against samples, the largest on
    top.

    Parameters
    ----------
    samples : (S,)
        Samples seen, on a logarithmic axis; a count of 0 is left out.
    angles : (S, k)
        Principal angles in degrees, largest first.
    """
    ax = axes_of(ax)
    started = np.asarray(samples) > 0
    lines = ax.plot(np.asarray(samples)[started], np.asarray(angles)[started])
    if len(lines) > 1:
        lines[0].set_label("largest angle")
        lines[-1].set_label("smallest angle")
        ax.legend()
    ax.set(xscale="log", xlabel="samples seen", ylabel="angle to exact subspace (°)", ylim=(0, 92))
    return ax

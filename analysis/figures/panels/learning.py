"""Curves of scores and angles through learning."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import (
    EXCESS,
    THEORY,
    Axes,
    axes_of,
    colour,
    for_log_axis,
    in_percent,
    legend_below,
    log_samples,
    percent,
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

    The legend says where the curve ends.

    Parameters
    ----------
    samples : (S,)
        Samples seen, on a logarithmic axis; the start is drawn before the axis begins, at "0".
    scores : (S,) or (seeds, S)
        Of several seeds the mean is drawn, and a band of one standard deviation on either side.
    optimum
        Of the objective.
    label, color
        Of the curve; call again with the same ``ax`` for further curves.
    """
    given, ax = ax, axes_of(ax)
    scores = np.atleast_2d(np.asarray(scores, dtype=float))
    ends = scores[:, -1] if optimum is None else (scores[:, -1] - optimum) / abs(optimum)
    label = f"{label or 'circuit'}: {percent(ends.mean())} above the optimum in the end"
    (line,) = ax.plot(for_log_axis(samples), scores.mean(axis=0), label=label, color=color)
    ax.set(ylabel="objective" if optimum is not None else EXCESS)
    log_samples(ax, samples)
    if optimum is None:
        ax.set_yscale("log")
        in_percent(ax)
    else:
        named = "optimum" in ax.get_legend_handles_labels()[1]
        ax.axhline(optimum, label=None if named else "optimum", zorder=0, **THEORY)
    if len(scores) > 1:
        _draw_spread(ax, for_log_axis(samples), scores, line.get_color(), optimum is None)
    legend_below(ax, given=given)
    return ax


def _draw_spread(
    ax: Axes, samples: np.ndarray, scores: np.ndarray, tint: str, positive: bool
) -> None:
    """Draw one standard deviation on either side of the mean; where values must be positive, down
    to the lowest of all seeds.
    """
    mean, spread = scores.mean(axis=0), scores.std(axis=0)
    low = np.maximum(mean - spread, scores.min(axis=0)) if positive else mean - spread
    words = f"standard deviation over {len(scores)} seeds"
    band = {"color": tint, "alpha": 0.25, "linewidth": 0}
    ax.fill_between(samples, low, mean + spread, label=words, **band)


@styled
def plot_angles(samples: ArrayLike, angles: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the angles between the learned and the exact subspace against samples, the largest
    boldly.

    Parameters
    ----------
    samples : (S,)
        Samples seen, on a logarithmic axis; a count of 0 is drawn before it begins, at "0".
    angles : (S, k)
        Principal angles in degrees, largest first.
    """
    given, ax = ax, axes_of(ax)
    angles, at = np.asarray(angles), for_log_axis(samples)
    largest = f"largest angle: {angles[-1, 0]:.2g}° in the end"
    ax.plot(at, angles[:, 0], color=colour("circuit"), linewidth=1.6, label=largest)
    if angles.shape[1] > 1:
        others = ax.plot(at, angles[:, 1:], color=colour("circuit"), linewidth=0.7)
        others[0].set_label("other angles" if len(others) > 1 else "smallest angle")
    ax.set(ylabel="angle to exact subspace (°)", ylim=(0, 92))
    log_samples(ax, samples)
    legend_below(ax, given=given)
    return ax

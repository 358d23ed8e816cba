"""Figures of what a circuit has learned: scores, angles, eigenvalues, filters and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import (
    COLUMN,
    EXCESS,
    PAGE,
    THEORY,
    Axes,
    axes_of,
    colour,
    for_log_axis,
    in_percent,
    legend_below,
    log_samples,
    percent,
    round_below,
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


@styled
def plot_eigenvalues(
    eigenvalues_M: ArrayLike, eigenvalues_QQ: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the eigenvalues of M (r,), largest first, and those of QQ' (k,), which equal the first k
    at the optimum.

    M = Cxx^-1/2 Cxy Sigma_s Cyx Cxx^-1/2 is the matrix of the exact solution (supplement C). Its
    eigenvalues say how much of y each filter can predict, and minus the sum of the first k is the
    optimum of the objective.
    """
    ax = axes_of(ax)
    exact = np.asarray(eigenvalues_M, dtype=float)
    found = np.asarray([] if eigenvalues_QQ is None else eigenvalues_QQ, dtype=float)
    index = np.arange(1, len(exact) + 1)
    grey = {"color": "none", "edgecolor": colour("theory"), "linewidth": 0.8}
    ax.bar(index, exact, label="exact solution, $M$", **grey)
    if len(found):
        look = {"color": colour("Q"), "markersize": 4.5, "zorder": 4, "clip_on": False}
        ax.plot(index[: len(found)], found, "D", label="circuit, $QQ'$", **look)
        furthest = np.abs(found / exact[: len(found)] - 1).max()
        ax.set_title(f"largest relative deviation of $QQ'$: {percent(furthest)}")
    ax.set(
        xlabel="component", ylabel="eigenvalue", ylim=(0, 1.3 * max(*exact, *found) or 1.0)
    )  # room for a legend
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(loc="upper right")
    return ax


@styled
def plot_filters(
    learned: ArrayLike,
    exact: ArrayLike | None = None,
    pixels: tuple[int, ...] | None = None,
    *,
    numbers: Sequence[int] | None = None,
    of: int | None = None,
    ax: np.ndarray | None = None,
) -> np.ndarray:
    """Draw learned filters, and exact ones below or behind them: as pictures where ``pixels`` is
    given, else as curves.

    Pictures of one column, learned and exact, share a colour scale, so that they can be compared:
    grey is zero, what is lighter (yellow) positive, and what is darker (blue) negative, unless the
    user has set ``image.cmap``.

    Parameters
    ----------
    learned, exact : (m, k)
        Filters Vx, defined up to a rotation: turn the learned ones first, by
        :meth:`biorrr.analysis.ExactSolution.aligned`.
    pixels
        Shape of a filter as a picture, (height, width), or (3, height, width) for colour.
    numbers, of
        Numbers of the filters, 0, 1, ... unless given, and how many there are in all.
    ax : (1, k) or (2, k)
        Axes; a row for the learned and, as pictures, one for the exact filters.
    """
    rows = {"learned": np.asarray(learned)} | (
        {} if exact is None else {"exact": np.asarray(exact)}
    )
    k = rows["learned"].shape[1]
    names = [
        f"filter {number}" + (f" of {of}" if of and of > k else "")
        for number in (range(k) if numbers is None else numbers)
    ]
    if exact is not None:
        names = [f"{name}\nr = {r:.3f}" for name, r in zip(names, _overlaps(**rows), strict=True)]
    if pixels is None:
        return _plot_curves(rows, names, ax)
    return _plot_pictures(rows, names, pixels, ax)


def _plot_pictures(
    rows: dict[str, np.ndarray], names: list[str], pixels: tuple[int, ...], ax: np.ndarray | None
) -> np.ndarray:
    what = "one row for learned filters and, where given, one for exact ones, one column per filter"
    width = COLUMN if len(names) < 4 else PAGE
    side = min((width - 0.4) / len(names), 1.5)
    axes = axes_of(ax, len(rows), len(names), what, width=width, height=side * len(rows) + 0.9)
    for neuron, column in enumerate(axes.T):
        limit = max(np.abs(filters[:, neuron]).max() for filters in rows.values()) or 1.0
        for panel, filters in zip(column, rows.values(), strict=True):
            image = _draw_picture(panel, filters[:, neuron].reshape(pixels), limit)
        column[0].set_title(names[neuron])
        if len(pixels) == 2:
            _draw_bar(column, image, limit)
    for panel, kind in zip(axes[:, 0], rows, strict=True):
        panel.set_ylabel(kind)
    return axes


def _draw_picture(panel: Axes, picture: np.ndarray, limit: float) -> Any:
    """Draw one filter; of a colour picture, channels come first, and grey is zero."""
    panel.set(xticks=[], yticks=[])
    panel.spines[:].set_visible(False)
    if picture.ndim == 3:
        return panel.imshow(0.5 + 0.5 * np.moveaxis(picture, 0, -1) / limit)
    return panel.imshow(picture, vmin=-limit, vmax=limit)


def _draw_bar(column: np.ndarray, image: Any, limit: float) -> None:
    """Draw a colour bar below the pictures of one filter."""
    look = {"orientation": "horizontal", "shrink": 0.8, "aspect": 14}
    bar = column[0].figure.colorbar(image, ax=list(column), **look)
    bar.set_ticks([-round_below(limit), 0, round_below(limit)])
    bar.set_label("weight $V_x$")


def _overlaps(learned: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the correlation r of each learned filter with the exact one, about zero; (k,)."""
    both = np.linalg.norm(learned, axis=0) * np.linalg.norm(exact, axis=0)
    return (learned * exact).sum(axis=0) / np.where(both > 0, both, 1.0)


def _plot_curves(
    rows: dict[str, np.ndarray], names: list[str], ax: np.ndarray | None
) -> np.ndarray:
    size = {"width": COLUMN if len(names) < 3 else PAGE, "height": 2.1}
    axes = axes_of(ax, 1, len(names), "one column per filter", **size, sharex=True, sharey=True)
    looks = {"learned": {"color": colour("proximal"), "zorder": 3}, "exact": THEORY}
    for neuron, panel in enumerate(axes[0]):
        for name, filters in rows.items():
            panel.plot(
                np.arange(1, len(filters) + 1), filters[:, neuron], label=name, **looks[name]
            )
        panel.set(title=names[neuron], xlabel="input")
        panel.xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].set_ylabel("weight $V_x$")
    legend_below(axes[0, 0])
    return axes


_ENDS = {  # what rows and columns of the paper's matrices are
    "Vx": ("sensory input", "pyramidal neuron"),
    "Vy": ("instructive input", "pyramidal neuron"),
    "Q": ("pyramidal neuron", "interneuron"),
    "R": ("interneuron", "pyramidal neuron"),
}


@styled
def plot_weights(weights: Mapping[str, ArrayLike], *, ax: NDArray | None = None) -> NDArray:
    """Draw each matrix of weights as a picture with its own colour bar: grey is zero, what
    is lighter (yellow) positive, and what is darker (blue) negative.

    Parameters
    ----------
    weights
        By name, such as Vx (m, k), Vy (n, k), Q (k, l) and R (l, k).
    ax : (number of matrices,)
        Axes; new ones unless given.

    Returns
    -------
    axes : (number of matrices,)
    """
    size = {"width": COLUMN if len(weights) < 3 else PAGE, "height": 2.7}
    axes = axes_of(ax, 1, len(weights), "one for each matrix", **size)[0]
    for panel, (name, matrix) in zip(axes, weights.items(), strict=True):
        matrix = np.asarray(matrix)
        limit = np.abs(matrix).max() or 1.0
        image = panel.imshow(matrix, vmin=-limit, vmax=limit, aspect="auto")
        rows, columns = _ENDS.get(name, ("row", "column"))
        panel.set(
            title=f"${name[0]}_{name[1:]}$" if name[1:] else f"${name}$",
            ylabel=rows,
            xlabel=columns,
        )
        for axis in (panel.xaxis, panel.yaxis):
            axis.get_major_locator().set_params(integer=True, nbins=5, min_n_ticks=1)
        bar = panel.figure.colorbar(image, ax=panel, orientation="horizontal", aspect=14)
        bar.set_label("weight")
        bar.ax.locator_params(nbins=3)
    return axes

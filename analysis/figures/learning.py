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
    draw_mean,
    explain,
    in_percent,
    log_samples,
    percent,
    styled,
    symbol,
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
    ax = axes_of(ax)
    scores = np.atleast_2d(np.asarray(scores, dtype=float))
    ends = scores[:, -1] if optimum is None else (scores[:, -1] - optimum) / abs(optimum)
    label = f"{label or 'circuit'}: {percent(ends.mean())} above the optimum in the end"
    log_samples(ax, samples)
    ax.set_ylabel(EXCESS if optimum is None else "objective")
    ax.set_yscale("log" if optimum is None else "linear")
    band = f"standard deviation over {len(scores)} seeds"
    draw_mean(ax, samples, scores, band, label=label, color=color)
    if optimum is None:
        in_percent(ax)
    else:
        ax.axhline(optimum, label="optimum", zorder=0, **THEORY)
    return explain(ax)


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
    ax, angles = axes_of(ax), np.asarray(angles)
    largest = f"largest angle: {angles[-1, 0]:.2g}° in the end"
    ax.plot(samples, angles[:, 0], color=colour("circuit"), linewidth=1.6, label=largest)
    others = ax.plot(samples, angles[:, 1:], color=colour("circuit"), linewidth=0.7)
    for line in others[:1]:
        line.set_label("other angles" if len(others) > 1 else "smallest angle")
    ax.set(ylabel="angle to exact subspace (°)", ylim=(0, 92))
    log_samples(ax, samples)
    return explain(ax)


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
    ax.bar(
        index,
        exact,
        color="none",
        edgecolor=colour("theory"),
        linewidth=0.8,
        label="exact solution, $M$",
    )
    if len(found):
        ax.plot(
            index[: len(found)],
            found,
            "D",
            color=colour("Q"),
            markersize=4.5,
            zorder=4,
            clip_on=False,
            label="circuit, $QQ'$",
        )
        furthest = np.abs(found / exact[: len(found)] - 1).max()
        ax.set_title(f"largest relative deviation of $QQ'$: {percent(furthest)}")
    room = 1.3 * max(*exact, *found)  # for a legend
    ax.set(xlabel="component", ylabel="eigenvalue", ylim=(0, room or 1.0))
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
    rows = {"learned": np.asarray(learned)}
    k = rows["learned"].shape[1]
    each = range(k) if numbers is None else numbers
    titles = [f"filter {number}" + (f" of {of}" if of and of > k else "") for number in each]
    if exact is not None:
        rows["exact"] = np.asarray(exact)
        titles = [f"{one}\nr = {r:.3f}" for one, r in zip(titles, _overlaps(**rows), strict=True)]
    if pixels is None:
        return _plot_curves(rows, titles, ax)
    return _plot_pictures(rows, titles, pixels, ax)


def _plot_pictures(
    rows: dict[str, np.ndarray], titles: list[str], pixels: tuple[int, ...], ax: np.ndarray | None
) -> np.ndarray:
    what = "one row for learned filters and, where given, one for exact ones, one column per filter"
    width = COLUMN if len(titles) < 4 else PAGE
    side = min((width - 0.4) / len(titles), 1.5)
    axes = axes_of(ax, len(rows), len(titles), what, width=width, height=side * len(rows) + 0.9)
    for neuron, column in enumerate(axes.T):
        pictures = [filters[:, neuron].reshape(pixels) for filters in rows.values()]
        limit = max(np.abs(picture).max() for picture in pictures) or 1.0
        for panel, picture in zip(column, pictures, strict=True):
            if len(pixels) == 3:  # channels come first, and grey is zero
                picture = 0.5 + 0.5 * np.moveaxis(picture, 0, -1) / limit
            image = panel.imshow(picture, vmin=-limit, vmax=limit)
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
        column[0].set_title(titles[neuron])
        if len(pixels) == 2:
            _draw_bar([*column], image, "weight $V_x$")
    for panel, kind in zip(axes[:, 0], rows, strict=True):
        panel.set_ylabel(kind)
    return axes


def _draw_bar(panels: Sequence[Axes], image: Any, label: str) -> None:
    """Draw the colour bar of ``image`` below these panels."""
    figure = panels[0].figure
    bar = figure.colorbar(image, ax=panels, orientation="horizontal", aspect=14, label=label)
    bar.ax.locator_params(nbins=3)


def _overlaps(learned: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the correlation r of each learned filter with the exact one, about zero; (k,)."""
    both = np.linalg.norm(learned, axis=0) * np.linalg.norm(exact, axis=0)
    return (learned * exact).sum(axis=0) / np.where(both > 0, both, 1.0)


def _plot_curves(
    rows: dict[str, np.ndarray], titles: list[str], ax: np.ndarray | None
) -> np.ndarray:
    axes = axes_of(
        ax,
        1,
        len(titles),
        "one column per filter",
        width=COLUMN if len(titles) < 3 else PAGE,
        height=2.1,
        sharex=True,
        sharey=True,
    )
    looks = {"learned": {"color": colour("proximal"), "zorder": 3}, "exact": THEORY}
    for neuron, panel in enumerate(axes[0]):
        for name, filters in rows.items():
            index = np.arange(1, len(filters) + 1)
            panel.plot(index, filters[:, neuron], label=name, **looks[name])
        panel.set(title=titles[neuron], xlabel="input")
        panel.xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].set_ylabel("weight $V_x$")
    explain(axes[0, 0])
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
    width = COLUMN if len(weights) < 3 else PAGE
    axes = axes_of(ax, 1, len(weights), "one for each matrix", width=width, height=2.7)[0]
    for panel, (name, matrix) in zip(axes, weights.items(), strict=True):
        limit = np.abs(matrix).max() or 1.0
        image = panel.imshow(matrix, vmin=-limit, vmax=limit, aspect="auto")
        rows, columns = _ENDS.get(name, ("row", "column"))
        panel.set(title=symbol(name), ylabel=rows, xlabel=columns)
        for axis in (panel.xaxis, panel.yaxis):
            axis.get_major_locator().set_params(integer=True, nbins=5, min_n_ticks=1)
        _draw_bar([panel], image, "weight")
    return axes

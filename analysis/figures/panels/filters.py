"""Filters of neurons, as pictures or as curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import (
    COLUMN,
    PAGE,
    THEORY,
    Axes,
    axes_of,
    colour,
    legend_below,
    round_below,
    styled,
)


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

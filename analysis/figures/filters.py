"""Filters of neurons, as pictures or as curves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, styled


@styled
def plot_filters(
    learned: ArrayLike,
    exact: ArrayLike | None = None,
    pixels: tuple[int, ...] | None = None,
    *,
    ax: np.ndarray | None = None,
) -> np.ndarray:
    """Learned filters, and exact ones below or behind them: as pictures where ``pixels`` is given, else as curves.

    Parameters
    ----------
    learned, exact : (m, k)
        Filters Vx. Align the learned ones first (:func:`biorrr.analysis.align`): they are defined up to a rotation.
    pixels
        Shape of a filter as a picture, (height, width), or (3, height, width) for colour.
    ax : (1, k) or (2, k)
        Axes; a row for the learned and, as pictures, one for the exact filters.
    """
    rows = {"learned": np.asarray(learned)} | ({} if exact is None else {"exact": np.asarray(exact)})
    k = rows["learned"].shape[1]
    if pixels is None:
        axes = axes_of(ax, 1, k, figsize=(2.6 * k, 2.2), sharey=True)
        looks = {"learned": {"color": COLOURS["proximal"], "zorder": 3}, "exact": THEORY}
        for neuron, panel in enumerate(axes[0]):
            for name, filters in rows.items():
                panel.plot(np.arange(1, len(filters) + 1), filters[:, neuron], label=name, **looks[name])
            panel.set(title=f"neuron {neuron + 1}", xlabel="input")
        axes[0, 0].set_ylabel("weight $V_x$")
        axes[0, 0].legend()
        return axes
    axes = axes_of(ax, len(rows), k, figsize=(1.4 * k + 0.4, 1.5 * len(rows)))
    for row, (name, filters) in zip(axes, rows.items(), strict=True):
        row[0].set_ylabel(name)
        for neuron, panel in enumerate(row):
            picture, limit = filters[:, neuron].reshape(pixels), np.abs(filters[:, neuron]).max() or 1.0
            if len(pixels) == 3:  # channels first, as data sets have them; grey is zero
                panel.imshow(0.5 + 0.5 * np.moveaxis(picture, 0, -1) / limit)
            else:
                panel.imshow(picture, vmin=-limit, vmax=limit)
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
    for neuron, panel in enumerate(axes[0]):
        panel.set_title(f"neuron {neuron + 1}")
    return axes

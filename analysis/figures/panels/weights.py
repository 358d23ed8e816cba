"""The weights of a circuit as pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLUMN, PAGE, axes_of, styled

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

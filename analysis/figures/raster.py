"""A circuit as an electrode would see it: spikes above, plateaus below, on one axis of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@styled
def plot_raster(
    time: ArrayLike,
    plateau: NDArray,
    onsets: ArrayLike,
    unit: str,
    spikes: tuple[ArrayLike, ArrayLike] | None = None,
    cells: int = 0,
) -> NDArray | Axes:
    """Plateaus of a few neurons, and where they spike a raster above.

    Parameters
    ----------
    time
        At which each tick ends, shape (ticks,).
    plateau
        Shape (ticks, neurons).
    onsets
        When samples come on, in the units of ``time``.
    unit
        Of ``time``.
    spikes
        Time and cell of each spike, both (spikes,); cells are counted through all populations.
    cells
        How many stand for one neuron.

    Returns
    -------
    axes
        The raster's, where there is one, and one a neuron.
    """
    import matplotlib.pyplot as plt

    neurons = plateau.shape[1]
    heights = [*([2] if spikes is not None else []), *[1] * neurons]
    figure, axes = plt.subplots(
        len(heights), figsize=(6.4, 0.8 + 0.9 * sum(heights)), sharex=True, squeeze=False, height_ratios=heights,
        layout="constrained",
    )  # fmt: skip
    panels = list(axes[:, 0])
    for ax in panels:
        for onset in np.asarray(onsets):
            ax.axvline(onset, color="0.85", linewidth=0.8, zorder=0)
    if spikes is not None:
        raster = panels.pop(0)
        raster.plot(*spikes, "|", color=COLOURS["proximal"], markersize=2, markeredgewidth=0.6)
        raster.set(ylabel="cell", ylim=(-0.5, cells * neurons - 0.5))
        for border in range(1, neurons):
            raster.axhline(cells * border - 0.5, color="0.5", linewidth=0.6)
    for number, ax in enumerate(panels):
        ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
        ax.stairs(plateau[:, number], [0, *np.asarray(time)], baseline=None, color=COLOURS["plateau"], linewidth=1.3)
        ax.set_ylabel(f"plateau {number + 1}")
    panels[-1].set_xlabel(f"time ({unit})")
    figure.align_ylabels()
    return axes[:, 0]

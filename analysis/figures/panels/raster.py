"""A circuit as an electrode would see it: spikes above, the traces of each neuron below, on one
axis of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.panels.plateau import plot_plateau
from biorrr.analysis.figures.style import GUIDE, PAGE, Axes, axes_of, colour, legend_below, styled


@styled
def plot_raster(
    time: ArrayLike,
    traces: Mapping[str, ArrayLike],
    *,
    onsets: ArrayLike,
    unit: str = "sample",
    spikes: tuple[ArrayLike, ArrayLike, int] | None = None,
    neurons: Sequence[str] | None = None,
    ax: NDArray | None = None,
) -> NDArray:
    """Draw the traces of a few neurons as :func:`plot_plateau` does, and where they spike a raster
    above.

    Faint lines show when a new sample comes on.

    Parameters
    ----------
    time
        At which each tick ends, or the number of each sample, shape (T,).
    traces
        By name: plateau and, where known, a, inhibition and z, each (T, neurons).
    onsets
        When samples come on, in the units of ``time``.
    unit
        Label of the horizontal axis.
    spikes
        Time and cell of each spike, both (spikes,), and how many cells stand for one neuron; cells
        are counted through all neurons.
    neurons
        Names of the neurons.
    ax : (1 + neurons,) with spikes, else (neurons,)
        Axes, the raster's first; new ones unless given.

    Returns
    -------
    axes : (1 + neurons,) with spikes, else (neurons,)
    """
    recorded = {name: np.asarray(trace) for name, trace in traces.items()}
    count = recorded["plateau"].shape[1]
    names = [*neurons] if neurons else [f"neuron {number}" for number in range(count)]
    lanes = 0.15 + 0.36 * len(recorded)
    heights = [*([0.35 + 0.5 * count] if spikes is not None else []), *[lanes] * count]
    what = "the raster first where there are spikes, then one for each neuron"
    size = {"width": PAGE, "height": 0.8 + sum(heights), "height_ratios": heights}
    axes = axes_of(ax, len(heights), 1, what, **size, sharex=True)[:, 0]
    panels, known = axes[-count:].reshape(count, 1), {"": recorded}
    plot_plateau(known, at={"": time}, unit=unit, onsets={"": onsets}, neurons=names, ax=panels)
    if spikes is not None:
        _draw_spikes(axes[0], *spikes, np.asarray(onsets), names)
    axes[0].figure.align_ylabels(axes)
    if ax is None:
        legend_below(panels)
    return axes


def _draw_spikes(
    raster: Axes, fired: ArrayLike, cells: ArrayLike, each: int, onsets: NDArray, names: list[str]
) -> None:
    """Draw a tick for every spike, the cells of each neuron between lines."""
    look: dict[str, Any] = {"color": colour("proximal"), "markersize": 2.5, "markeredgewidth": 0.6}
    raster.plot(fired, cells, "|", **look)
    for onset in onsets:
        raster.axvline(onset, **GUIDE)
    for border in range(1, len(names)):
        raster.axhline(each * border - 0.5, color=colour("theory"), linewidth=0.6)
    middles = each * (np.arange(len(names)) + 0.5) - 0.5
    raster.set(ylim=(each * len(names) - 0.5, -0.5), ylabel="spikes of")
    raster.set_yticks(middles, [f"{name},\n{each} cells" for name in names])
    raster.tick_params(left=False, labelbottom=False)

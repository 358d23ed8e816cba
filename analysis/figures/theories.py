"""Figure of rival theories: one row for each theory, one panel for each measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, Axes, Dataset, axes_of, styled

_MARKERS = "osD^v"
_FLOOR = 1e-4  # excess below which dots are not told apart


@styled
def plot_theories(results: Dataset, *, ax=None) -> NDArray:
    """Draw excess, participation ratio and whitening error, one axes for each.

    Parameters
    ----------
    results
        ``excess``, ``law``, ``participation`` and ``whitening`` (data, theory, seed).

    Returns
    -------
    axes : (3,)
    """
    theories = results["theory"].values
    axes = axes_of(
        ax, 1, 3, "one for each measure", figsize=(8.6, 1.2 + 0.28 * len(theories)), sharey=True
    )[0]
    _dots(axes[0], results, "excess", 100, _FLOOR)
    axes[0].set(xscale="log", xlabel="excess over the optimum (%)")
    axes[0].axvline(1, color="0.85", linewidth=0.8, zorder=0)
    axes[0].xaxis.set_major_formatter("{x:g}")
    axes[0].legend(fontsize=7, loc="upper right")
    _dots(axes[1], results, "participation", 1, 0)
    axes[1].set(xlabel="participation ratio\nof the outputs", xlim=(0.9, results.attrs["k"] + 0.1))
    _dots(axes[2], results, "whitening", 1, _FLOOR)
    axes[2].set(xscale="log", xlabel="whitening error\nof the outputs")
    axes[0].set_yticks(range(len(theories)), list(theories))
    axes[0].set_ylim(len(theories) - 0.5, -0.5)
    return axes


def _dots(panel: Axes, results: Dataset, name: str, scale: float, floor: float) -> None:
    """Draw one dot for each seed, a marker for each data set, and a tick where law 1 predicts the
    excess.
    """
    for place, data in enumerate(results["data"].values):
        one = results.sel(data=data)
        rows = np.arange(one.sizes["theory"])[:, None] + 0.22 * (
            place - (results.sizes["data"] - 1) / 2
        )
        values = scale * np.maximum(one[name].transpose("theory", "seed").values, floor)
        rows = np.broadcast_to(rows, values.shape)
        colour = (
            COLOURS["proximal"],
            COLOURS["distal"],
            COLOURS["Q"],
            COLOURS["R"],
            COLOURS["own"],
        )[place % 5]
        panel.plot(
            values.ravel(),
            rows.ravel(),
            _MARKERS[place % 5],
            color=colour,
            markersize=3,
            label=str(data),
        )
        if name == "excess":
            law = scale * one["law"].transpose("theory", "seed").values
            label = (
                "law 1" if place == results.sizes["data"] - 1 and np.isfinite(law).any() else None
            )
            panel.plot(
                law.ravel(), rows.ravel(), "|", color="black", markersize=7, zorder=3, label=label
            )

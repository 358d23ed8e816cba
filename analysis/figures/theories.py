"""Figure of rival theories: one row for each theory, one panel for each measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    EXCESS,
    GUIDE,
    MARKERS,
    PAGE,
    Axes,
    Dataset,
    axes_of,
    colour,
    in_percent,
    legend_below,
    of_seeds,
    shade,
    styled,
)

_FLOOR = 1e-4  # of excess and whitening error, below which dots are not told apart


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
    theories, k = results["theory"].values, results.attrs["k"]
    size = {"width": PAGE, "height": 1.5 + 0.28 * len(theories)}
    axes = axes_of(ax, 1, 3, "one for each measure", **size, sharey=True)[0]
    _dots(axes[0], results, "excess", _FLOOR)
    _mark_law(axes[0], results)
    axes[0].set(xscale="log", xlabel=EXCESS)
    in_percent(axes[0], "x")
    _dots(axes[1], results, "participation", 0)
    axes[1].set(xlabel=f"participation ratio\nof the {k:g} outputs", xlim=(0.9, k + 0.1))
    _dots(axes[2], results, "whitening", _FLOOR)
    axes[2].set(xscale="log", xlabel="whitening error\nof the outputs")
    axes[2].xaxis.set_minor_formatter("")  # numbers between powers of ten would be crowded
    axes[0].set_yticks(range(len(theories)), list(theories))
    axes[0].set_ylim(len(theories) - 0.5, -0.5)
    for panel in axes:
        for row in range(len(theories)):
            panel.axhline(row, **GUIDE)
    note = (
        f"{of_seeds('mark', results.sizes['seed'])} An excess below 0.01 % is drawn there, a"
        f" whitening error below {_FLOOR:g} too. Participation ratio: {k:g} where all outputs vary"
        " alike and independently, 1 where there is only one direction. Law 1: what fixed feedback"
        " must end at, whatever the theory."
    )
    legend_below(axes, note)
    return axes


def _dots(panel: Axes, results: Dataset, name: str, floor: float) -> None:
    """Draw one dot for each seed, and a marker and a colour for each data set."""
    for place, data in enumerate(results["data"].values):
        values = results[name].sel(data=data).transpose("theory", "seed").values
        values = np.maximum(values, floor)
        rows = np.broadcast_to(_rows(results, place), values.shape)
        look = {"color": shade(place), "markersize": 3, "label": str(data)}
        panel.plot(values.ravel(), rows.ravel(), MARKERS[place % len(MARKERS)], **look)


def _mark_law(panel: Axes, results: Dataset) -> None:
    """Draw a tick where law 1 predicts the excess."""
    for place, data in enumerate(results["data"].values):
        law = results["law"].sel(data=data).transpose("theory", "seed").values
        if not np.isfinite(law).any():
            continue
        rows = np.broadcast_to(_rows(results, place), law.shape)
        look = {"color": colour("plateau"), "markersize": 7, "zorder": 3}
        panel.plot(law.ravel(), rows.ravel(), "|", label="law 1: predicted excess", **look)


def _rows(results: Dataset, place: int) -> NDArray:
    """Return the height of each theory's dots for the data set at ``place``, (theory, 1)."""
    beside = 0.22 * (place - (results.sizes["data"] - 1) / 2)
    return np.arange(results.sizes["theory"])[:, None] + beside

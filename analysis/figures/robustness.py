"""Figure of how far a circuit can depart from the paper's and still learn: one row for each
departure.
"""

from __future__ import annotations

import textwrap

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import (
    COLUMN,
    PAGE,
    Axes,
    DataArray,
    Dataset,
    axes_of,
    legend_below,
    percent,
    styled,
)

_BOUNDS = (0.01, 0.2)  # of excess, where a colour changes, beside the tolerated one
_COLOURS = "#E4F0F8", "#B5D8EC", "#EFA873", "#D2713A"  # darker and darker, in grey print too


@styled
def plot_departures(results: Dataset) -> NDArray:
    """Draw a table for each data set: a row for each departure, a field for each of its values,
    mild ones first.

    A field shows the value and, below it, the mean excess over seeds. It is blue where the circuit
    learns and orange where learning is broken.

    Parameters
    ----------
    results
        By name of the departure, the excess (data, <name>_value, seed), with the attributes
        ``long_name``, in words, and ``ordered``, 1 where values go from mild to severe; rows
        without order get a star. ``plain`` (data, seed) is the excess without any departure. The
        attribute ``tolerated`` of the dataset is the excess beyond which learning counts as broken.

    Returns
    -------
    axes : (data sets,)
    """
    from matplotlib.patches import Rectangle

    names = [str(name) for name in results.data_vars if f"{name}_value" in results.coords]
    tolerated = results.attrs["tolerated"]
    data, most = results["data"].values, max(results.sizes[f"{name}_value"] for name in names)
    fits = 2.3 + 0.33 * most * len(data) < COLUMN
    size = {"width": COLUMN if fits else PAGE, "height": 0.9 + 0.37 * len(names)}
    axes = axes_of(None, 1, len(data), "one for each data set", **size, sharey=True)[0]
    for ax, one in zip(axes, data, strict=True):
        for row, name in enumerate(names):
            excess = results[name].sel(data=one).mean("seed")
            _draw_row(ax, row, excess[f"{name}_value"].values.tolist(), excess.values, tolerated)
        plain = float(results["plain"].sel(data=one).mean())
        ax.set(xlim=(-0.5, most - 0.5), ylim=(len(names) - 0.5, -0.5), xticks=[])
        ax.set_title(f"{one} (plain: {percent(plain)})")
        ax.spines[:].set_visible(False)
        ax.tick_params(left=False)
    axes[0].set_yticks(range(len(names)), [_label(results[name]) for name in names])
    low, learns, high = (f"{100 * bound:g} %" for bound in (_BOUNDS[0], tolerated, _BOUNDS[1]))
    words = f"below {low}", f"to {learns}: learns", f"to {high}: broken", f"above {high}"
    for tint, word in zip(_COLOURS, words, strict=True):
        axes[0].add_patch(Rectangle((0, 0), 0, 0, facecolor=tint, label=word))
    note = (
        "In each field: its value, and below it the mean excess over seeds, in %. Fields go from"
        " mild to severe (rows with *: in no order). Plain: the excess without any departure."
    )
    legend_below(axes, note)
    return axes


def _draw_row(ax: Axes, row: int, values: list, excess: NDArray, tolerated: float) -> None:
    """Draw a field for each of ``values``, with the ``excess`` (values,) that it has."""
    from matplotlib.patches import Rectangle

    bounds = _BOUNDS[0], tolerated, _BOUNDS[1]
    for place, (value, found) in enumerate(zip(values, excess, strict=True)):
        colour = _COLOURS[int(np.searchsorted(bounds, found, side="right"))]
        ax.add_patch(
            Rectangle((place - 0.47, row - 0.44), 0.94, 0.88, facecolor=colour, linewidth=0)
        )
        words = textwrap.fill(value, 7) if isinstance(value, str) else f"{value:g}"
        text = f"{words}\n{percent(found).removesuffix(' %')}"
        ax.text(place, row, text, ha="center", va="center", linespacing=1.0)


def _label(excess: DataArray) -> str:
    """Return the words of a departure, in short lines, with a star where its values have no
    order.
    """
    return textwrap.fill(excess.attrs["long_name"] + ("" if excess.attrs["ordered"] else " *"), 36)

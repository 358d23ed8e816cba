"""One page that says how far a circuit can depart from the paper's and still learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 4
_LINES = (("#0072B2", "o-"), ("#D55E00", "s--"), ("#009E73", "^:"), ("#CC79A7", "v-."))
_FLOOR = 1e-3  # excess below which differences do not matter to the eye


@styled
def plot_departures(
    panels: Mapping[str, tuple[Sequence, NDArray]], unordered: Set[str], plain: Mapping[str, float], tolerated: float
) -> NDArray:
    """Excess against each departure, mean and range over seeds; a cross marks where learning first breaks.

    Parameters
    ----------
    panels
        By label of the axis: the values of the departure, from mild to severe, numbers or words; and the excess there,
        shape (data sets, values, seeds).
    unordered
        Labels of the panels whose values do not go from mild to severe: there every value that breaks is marked.
    plain
        Excess without any departure, by data set; drawn as a line across each panel.
    tolerated
        Excess beyond which learning counts as broken.

    Returns
    -------
    axes
        One a panel, shape (panels,).
    """
    import matplotlib.pyplot as plt

    rows, columns = -(-len(panels) // _COLUMNS), min(_COLUMNS, len(panels))
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.8 * columns, 0.6 + 2.5 * rows), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, (label, (values, excess)) in zip(axes.flat, panels.items(), strict=False):
        _draw(ax, values, excess, label not in unordered, plain, tolerated)
        ax.set(yscale="log", ylim=(0.9 * _FLOOR, 1.3), xlabel=label)
        ax.set_yticks([1e-3, 1e-2, tolerated, 1e-1, 1], ["≤ 0.1 %", "1 %", f"{100 * tolerated:g} %", "10 %", "100 %"])
        ax.minorticks_off()
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("excess over the optimum")
    named = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels()), strict=True))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named))
    return axes.reshape(-1)[: len(panels)]


def _draw(
    ax: Axes, values: Sequence, excess: NDArray, ordered: bool, plain: Mapping[str, float], tolerated: float
) -> None:
    places = np.arange(len(values))
    words = isinstance(values[0], str)
    ax.axhspan(tolerated, 1.3, color="0.93", zorder=0)
    for (colour, line), (data, reference), scores in zip(_LINES, plain.items(), excess, strict=False):
        mean = np.maximum(scores.mean(axis=1), _FLOOR)
        spread = np.maximum([mean - scores.min(axis=1), scores.max(axis=1) - mean], 0)
        ax.axhline(max(reference, _FLOOR), color=colour, linewidth=0.8, linestyle=":", label=f"{data}, plain circuit")
        marker = line if ordered else line[0]
        ax.errorbar(places, mean, spread, color=colour, fmt=marker, elinewidth=0.8, capsize=2, label=data)
        broken = np.flatnonzero(mean >= tolerated)[: 1 if ordered else None]
        ax.plot(places[broken], mean[broken], "x", color="black", markersize=8, zorder=5, label="learning breaks")
    labels = [value if words else f"{value:g}" for value in values]
    tilt: dict[str, Any] = {"rotation": 40, "ha": "right"} if words else {}
    ax.set_xticks(places, labels, **tilt)

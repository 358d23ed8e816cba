"""One page that says how far a circuit can depart from the paper's and still learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, axes_of, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

_COLUMNS = 4
_LINES = tuple(
    zip((COLOURS[name] for name in ("proximal", "distal", "Q", "R")), ("o-", "s--", "^:", "v-."), strict=True)
)
_FLOOR = 1e-3  # excess below which differences do not matter to the eye


def departures_in(results: xr.Dataset) -> list[str]:
    """Return the names of the departures that ``results`` has the excess of; see :func:`plot_departures`."""
    return [str(name) for name in results.data_vars if f"{name}_value" in results.coords]


@styled
def plot_departures(results: xr.Dataset) -> NDArray:
    """Draw the excess against each departure, mean and range over seeds; a cross marks where learning first breaks.

    Parameters
    ----------
    results
        By name of the departure, the excess (data, <name>_value, seed). Its attributes are ``long_name``, the label of
        the axis, and ``ordered``: values go from mild to severe, or every value that breaks is marked. ``plain``
        (data, seed) is the excess without any departure, a line across each panel. The attribute ``tolerated`` of the
        dataset is the excess beyond which learning counts as broken.

    Returns
    -------
    axes
        One a panel, shape (panels,).
    """
    names, tolerated = departures_in(results), results.attrs["tolerated"]
    rows, columns = -(-len(names) // _COLUMNS), min(_COLUMNS, len(names))
    axes = axes_of(None, rows, columns, figsize=(2.8 * columns, 0.6 + 2.5 * rows), sharey=True)
    for ax, name in zip(axes.flat, names, strict=False):
        _draw(ax, results[name], results["plain"].mean("seed"), tolerated)
        ax.set(yscale="log", ylim=(0.9 * _FLOOR, 1.3), xlabel=results[name].attrs["long_name"])
        ax.set_yticks([1e-3, 1e-2, tolerated, 1e-1, 1], ["≤ 0.1 %", "1 %", f"{100 * tolerated:g} %", "10 %", "100 %"])
        ax.minorticks_off()
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("excess over the optimum")
    named = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels()), strict=True))
    axes[0, 0].figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named))
    return axes.reshape(-1)[: len(names)]


def _draw(ax: Axes, excess: xr.DataArray, plain: xr.DataArray, tolerated: float) -> None:
    values, ordered = excess[excess.dims[1]].values.tolist(), excess.attrs["ordered"]
    places = np.arange(len(values))
    words = isinstance(values[0], str)
    ax.axhspan(tolerated, 1.3, color="0.93", zorder=0)
    for (colour, line), data, reference, scores in zip(
        _LINES, excess["data"].values, plain.values, excess.values, strict=False
    ):
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

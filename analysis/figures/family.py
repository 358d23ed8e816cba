"""One circuit from RRMSE to CCA: what it learns at each s, beside the exact solution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biorrr.analysis.figures.style import COLOURS, THEORY, styled

if TYPE_CHECKING:
    import xarray as xr

_SHOWN = 40  # samples of a plateau


@styled
def plot_family(results: xr.Dataset, pixels: tuple[int, ...] | None = None) -> np.ndarray:
    """Draw filters and plateaus at each s, one column for each, and numbers against s below.

    Parameters
    ----------
    results
        ``filters`` and ``filters_exact`` (s, input, pyramidal), of which the first neuron's are shown, and so of
        ``plateau`` and back-propagated ``error`` (s, row, pyramidal); ``eigenvalues_QQ`` (s, seed, component) and those
        that they should equal, ``eigenvalues_M`` (s, component); ``excess`` (s, seed) over the optimum and
        ``plateau_relative_error`` (s, seed, pyramidal), both relative; the coefficients ``own_current`` and ``decay``
        of the distal rule and, as the paper has them, ``own_current_exact`` and ``decay_exact``, each (s,).
    pixels
        Shape of a filter as a picture, where it is one.

    Returns
    -------
    axes : (3 * S + 4,) or, where filters are no pictures, (2 * S + 4,)
    """
    import matplotlib
    import matplotlib.pyplot as plt

    s = results["s"].values
    first = results.isel(pyramidal=0)
    pictures = pixels is not None and len(pixels) == 2
    heights = [1.0, 1.0, 0.8] if pictures else [1.2, 0.8]
    figure = plt.figure(figsize=(7.4, 1.35 * sum(heights) + 2.2), layout="constrained")
    halves = figure.add_gridspec(2, 1, height_ratios=[1.35 * sum(heights), 2.2])
    columns = np.asarray(halves[0].subgridspec(len(heights), len(s), height_ratios=heights).subplots(squeeze=False))
    panels = np.asarray(halves[1].subgridspec(1, 4).subplots())

    for place, value in enumerate(s):
        learned, exact = (first[name].values[place] for name in ("filters", "filters_exact"))
        limit = max(np.abs(learned).max(), np.abs(exact).max()) or 1.0
        if pictures:
            for row, (name, one) in enumerate((("learned", learned), ("exact", exact))):
                panel = columns[row, place]
                panel.imshow(one.reshape(pixels), vmin=-limit, vmax=limit)
                panel.set(xticks=[], yticks=[])
                panel.spines[:].set_visible(False)
                if place == 0:
                    panel.set_ylabel(name)
        else:
            panel = columns[0, place]
            panel.plot(learned, color=COLOURS["proximal"], label="learned")
            panel.plot(exact, label="exact", **THEORY)
            panel.set(yticks=[], ylim=(-1.1 * limit, 1.1 * limit), xlabel="input")
            if place == 0:
                panel.set_ylabel("filter")
                panel.legend(fontsize=7)
        columns[0, place].set_title(f"s = {value:g}")
        plateau, error = (first[name].values[place][:_SHOWN] for name in ("plateau", "error"))
        panel = columns[-1, place]
        panel.plot(error, color=COLOURS["theory"], alpha=0.5, linewidth=2.6)
        panel.plot(plateau, color=COLOURS["plateau"], linewidth=0.9)
        panel.tick_params(labelsize=7)
        panel.locator_params(axis="y", nbins=3)
        panel.set(xticks=[])
        if place == 0:
            panel.set_ylabel("plateau")

    measured, exact = (results[name].values for name in ("eigenvalues_QQ", "eigenvalues_M"))
    shades = matplotlib.colormaps["viridis"](np.linspace(0.1, 0.8, exact.shape[1]))
    panel = panels[0]
    for component, shade in enumerate(shades):
        panel.plot(s, measured[:, :, component], "o", color=shade, markersize=3)
        panel.plot(s, exact[:, component], zorder=0, **THEORY)
    panel.plot([], [], "o", color=shades[0], markersize=3, label="$QQ'$")
    panel.plot([], [], label="$M$", **THEORY)
    panel.set(yscale="log")
    panel.legend(fontsize=7)
    for panel, name in ((panels[1], "excess"), (panels[2], "plateau_relative_error")):
        panel.plot(
            s, 100 * results[name].values.reshape(len(s), -1), "o", color=COLOURS["plateau"], markersize=3, alpha=0.6
        )
        panel.set(yscale="log", ylabel="%")
    panel = panels[3]
    for name, colour in (("own_current", COLOURS["distal"]), ("decay", COLOURS["proximal"])):
        panel.plot(s, results[f"{name}_exact"], zorder=0, **THEORY)
        panel.plot(s, results[name], "o", color=colour, markersize=4, label=name.replace("_", " "))
    panel.set(ylim=(-0.05, 1.4))
    panel.legend(fontsize=7, loc="upper center")
    titles = ("eigenvalues", "excess", "plateau's error", "distal rule")
    for panel, title in zip(panels, titles, strict=True):
        panel.set(xlabel="s", title=title)
        panel.tick_params(axis="y", which="both", labelsize=7)
    for panel in panels[:3]:
        panel.yaxis.set_major_formatter("{x:g}")
        low, high = panel.get_ylim()
        panel.yaxis.set_minor_formatter("{x:.1g}" if high < 10 * low else "")
    return np.array([*columns.flat, *panels], dtype=object)

"""One circuit from RRMSE to CCA: what it learns at each s, beside the exact solution."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, styled

_SHOWN = 40  # samples of a plateau


@styled
def plot_family(
    s: NDArray,
    filters: tuple[NDArray, NDArray],
    plateaus: tuple[NDArray, NDArray],
    eigenvalues: tuple[NDArray, NDArray],
    excess: NDArray,
    errors: NDArray,
    distal: Mapping[str, tuple[NDArray, NDArray]],
    pixels: tuple[int, ...] | None = None,
) -> np.ndarray:
    """Draw filters and plateaus at each s, one column for each, and numbers against s below.

    Parameters
    ----------
    s : (S,)
    filters : two of (S, m)
        Learned, turned onto the exact ones, and exact; of one neuron.
    plateaus : two of (S, T)
        Plateau and back-propagated error; of one neuron.
    eigenvalues : (S, seeds, k) and (S, k)
        Of QQ', and those of M that they should equal.
    excess : (S, seeds)
        Relative, over the optimum.
    errors : (S, seeds, k)
        Relative r.m.s. error of the plateau.
    distal : by term of the distal rule, (S,) and (S,)
        Coefficients as measured and as the paper has them.
    pixels
        Shape of a filter as a picture, where it is one.

    Returns
    -------
    axes : (3 * S + 4,) or, where filters are no pictures, (2 * S + 4,)
    """
    import matplotlib
    import matplotlib.pyplot as plt

    pictures = pixels is not None and len(pixels) == 2
    heights = [1.0, 1.0, 0.8] if pictures else [1.2, 0.8]
    figure = plt.figure(figsize=(7.4, 1.35 * sum(heights) + 2.2), layout="constrained")
    halves = figure.add_gridspec(2, 1, height_ratios=[1.35 * sum(heights), 2.2])
    columns = np.asarray(halves[0].subgridspec(len(heights), len(s), height_ratios=heights).subplots(squeeze=False))
    panels = np.asarray(halves[1].subgridspec(1, 4).subplots())

    for place, value in enumerate(s):
        learned, exact = (one[place] for one in filters)
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
        plateau, error = (one[place][:_SHOWN] for one in plateaus)
        panel = columns[-1, place]
        panel.plot(error, color=COLOURS["theory"], alpha=0.5, linewidth=2.6)
        panel.plot(plateau, color=COLOURS["plateau"], linewidth=0.9)
        panel.tick_params(labelsize=7)
        panel.locator_params(axis="y", nbins=3)
        panel.set(xticks=[])
        if place == 0:
            panel.set_ylabel("plateau")

    shades = matplotlib.colormaps["viridis"](np.linspace(0.1, 0.8, eigenvalues[1].shape[1]))
    panel = panels[0]
    for component, shade in enumerate(shades):
        panel.plot(s, eigenvalues[0][:, :, component], "o", color=shade, markersize=3)
        panel.plot(s, eigenvalues[1][:, component], zorder=0, **THEORY)
    panel.plot([], [], "o", color=shades[0], markersize=3, label="$QQ'$")
    panel.plot([], [], label="$M$", **THEORY)
    panel.set(yscale="log")
    panel.legend(fontsize=7)
    for panel, values in ((panels[1], excess), (panels[2], errors.reshape(len(s), -1))):
        panel.plot(s, 100 * values, "o", color=COLOURS["plateau"], markersize=3, alpha=0.6)
        panel.set(yscale="log", ylabel="%")
    panel = panels[3]
    for (name, (measured, expected)), colour in zip(
        distal.items(), (COLOURS["distal"], COLOURS["proximal"]), strict=True
    ):
        panel.plot(s, expected, zorder=0, **THEORY)
        panel.plot(s, measured, "o", color=colour, markersize=4, label=name)
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

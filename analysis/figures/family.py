"""Figure of the family from RRMSE to CCA: plateaus, and numbers against s beside the exact
solution.
"""

from __future__ import annotations

import numpy as np

from biorrr.analysis.figures.style import COLOURS, THEORY, Axes, Dataset, in_percent, shades, styled

_SHOWN_SAMPLES, _SHOWN_S = 60, 3  # of the plateaus


@styled
def plot_family(results: Dataset) -> np.ndarray:
    """Draw plateaus at the first, the middle and the last s, and numbers against s below.

    Parameters
    ----------
    results
        ``plateau`` and back-propagated ``error`` (s, row, pyramidal), of which the first neuron's
        are shown; ``eigenvalues_QQ`` (s, seed, component) and those that they should equal,
        ``eigenvalues_M`` (s, component); ``excess`` (s, seed) and ``plateau_relative_error`` (s,
        seed, pyramidal), both relative; the coefficients ``own_current`` and ``decay`` of the
        distal rule and, as the paper has them, ``own_current_exact`` and ``decay_exact``, each
        (s,).

    Returns
    -------
    axes : (panels of plateaus + 4,)
    """
    import matplotlib.pyplot as plt

    s = results["s"].values
    chosen = np.unique(np.linspace(0, len(s) - 1, min(_SHOWN_S, len(s))).round().astype(int))
    figure = plt.figure(figsize=(7.4, 4.2), layout="constrained")
    halves = figure.add_gridspec(2, 1, height_ratios=[1, 1.4])
    above = np.asarray(halves[0].subgridspec(1, len(chosen)).subplots(squeeze=False))[0]
    below = np.asarray(halves[1].subgridspec(1, 4).subplots())
    for panel, place in zip(above, chosen, strict=True):
        plateau, error = (results[name][place, :_SHOWN_SAMPLES, 0] for name in ("plateau", "error"))
        panel.plot(
            error, color=COLOURS["theory"], alpha=0.5, linewidth=2.6, label="back-propagated error"
        )
        panel.plot(plateau, color=COLOURS["plateau"], linewidth=0.9, label="plateau")
        panel.locator_params(axis="y", nbins=3)
        panel.set(title=f"s = {s[place]:g}", xlabel="sample")
    above[0].set_ylabel("plateau of neuron 1")
    figure.legend(*above[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    _draw_eigenvalues(below[0], results)
    for panel, name in zip(below[1:3], ("excess", "plateau_relative_error"), strict=True):
        values = results[name].values.reshape(len(s), -1)
        panel.plot(s, values, "o", color=COLOURS["plateau"], markersize=3, alpha=0.6)
        if values.min() > 0 and values.max() > 20 * values.min():
            panel.set_yscale("log")
        else:
            panel.set_ylim(0, 1.1 * values.max())
        in_percent(panel)
    for name, colour, words in (
        ("own_current", "distal", "own current"),
        ("decay", "proximal", "decay"),
    ):
        below[3].plot(s, results[f"{name}_exact"], zorder=0, **THEORY)
        below[3].plot(s, results[name], "o", color=COLOURS[colour], markersize=4, label=words)
    below[3].set(ylim=(-0.05, 1.45))
    below[3].legend(fontsize=7, loc="upper center")
    titles = ("eigenvalues", "excess", "error of plateaus", "distal rule")
    for panel, title in zip(below, titles, strict=True):
        panel.set(xlabel="s", title=title)
        panel.tick_params(axis="y", labelsize=7)
    return np.array([*above, *below], dtype=object)


def _draw_eigenvalues(panel: Axes, results: Dataset) -> None:
    """Draw the eigenvalues of QQ' of every seed, a colour for each component, over those of M."""
    s, exact, found = (
        results["s"].values,
        results["eigenvalues_M"].values,
        results["eigenvalues_QQ"].values,
    )
    for component, shade in enumerate(shades(exact.shape[1])):
        panel.plot(s, found[:, :, component], "o", color=shade, markersize=3)
        panel.plot(s, exact[:, component], zorder=0, **THEORY)
    panel.plot([], [], "o", color="0.3", markersize=3, label="$QQ'$")
    panel.plot([], [], label="$M$", **THEORY)
    panel.set_ylim(0)
    panel.legend(fontsize=7, loc="upper left")

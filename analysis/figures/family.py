"""Figure of the family from RRMSE to CCA: plateaus, and numbers against s beside the exact
solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.analysis.figures.style import (
    BEHIND,
    PAGE,
    THEORY,
    Axes,
    Dataset,
    colour,
    in_percent,
    legend_below,
    new_figure,
    percent,
    styled,
)

_SHOWN_SAMPLES, _SHOWN_S = 60, 3  # of the plateaus
_COEFFICIENTS = {  # of the distal rule: marker, how it is filled, label
    "own_current": ("s", "full", "own current $a$"),
    "decay": ("^", "none", "decay of $V_y$"),
}


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
    s = results["s"].values
    chosen = np.unique(np.linspace(0, len(s) - 1, min(_SHOWN_S, len(s))).round().astype(int))
    halves = new_figure(PAGE, 4.2).add_gridspec(2, 1, height_ratios=[1, 1.3])
    above = np.asarray(halves[0].subgridspec(1, len(chosen)).subplots(squeeze=False))[0]
    below = np.asarray(halves[1].subgridspec(1, 4).subplots())
    for panel, place in zip(above, chosen, strict=True):
        _draw_plateau(panel, results.isel(s=place))
    above[0].set_ylabel("plateau of neuron 0,\nfirst seed")
    _draw_eigenvalues(below[0], results)
    _draw_numbers(below[1], results, "excess", "excess")
    _draw_numbers(below[2], results, "plateau_relative_error", "error of plateaus")
    _draw_coefficients(below[3], results)
    for panel in below:
        panel.set(xlabel="$s$ (0: RRMSE, 1: CCA)", xticks=[0, 0.5, 1])
    note = "Each dot is a seed, and in the error of plateaus (relative r.m.s.) a neuron of a seed."
    legend_below([*above, *below], note)
    return np.array([*above, *below], dtype=object)


def _draw_plateau(panel: Axes, results: Dataset) -> None:
    """Draw the plateau of a neuron at one s over the back-propagated error."""
    plateau, error = (results[name][:_SHOWN_SAMPLES, 0] for name in ("plateau", "error"))
    look: Any = {"drawstyle": "steps-mid"}
    panel.plot(error, label="back-propagated error", **look, **BEHIND)
    panel.plot(plateau, color=colour("plateau"), linewidth=0.9, label="plateau", **look)
    panel.locator_params(axis="y", nbins=3)
    panel.set(title=f"s = {float(results['s']):g}", xlabel="sample")


def _draw_eigenvalues(panel: Axes, results: Dataset) -> None:
    """Draw the eigenvalues of QQ' of every seed over those of M, one line for each component."""
    s = results["s"].values
    look = {"color": colour("Q"), "markersize": 3, "linestyle": "none", "marker": "D"}
    dots = panel.plot(s, results["eigenvalues_QQ"].values.reshape(len(s), -1), **look)
    lines = panel.plot(s, results["eigenvalues_M"].values, zorder=0, **THEORY)
    dots[0].set_label("eigenvalues of $QQ'$")
    lines[0].set_label("exact solution, and the paper's rule")
    panel.set_ylim(0)
    panel.set_title("eigenvalues")


def _draw_numbers(panel: Axes, results: Dataset, name: str, title: str) -> None:
    """Draw a number of each seed in percent against s; the title has the largest."""
    s = results["s"].values
    values = results[name].values.reshape(len(s), -1)
    panel.plot(s, values, "o", color=colour("circuit"), markersize=3, alpha=0.6)
    if values.min() > 0 and values.max() > 20 * values.min():
        panel.set_yscale("log")
    else:
        panel.set_ylim(0, 1.1 * values.max())
    in_percent(panel)
    panel.set_title(f"{title},\nat most {percent(values.max())}")


def _draw_coefficients(panel: Axes, results: Dataset) -> None:
    """Draw the coefficients of the distal rule over those of the paper."""
    for name, (marker, fill, words) in _COEFFICIENTS.items():
        panel.plot(results["s"], results[f"{name}_exact"], zorder=0, **THEORY)
        look = {"color": colour("distal"), "markersize": 4.5, "linestyle": "none"}
        panel.plot(results["s"], results[name], marker, fillstyle=fill, label=words, **look)
    panel.set(ylim=(-0.05, 1.15), title="coefficients of the\ndistal rule")

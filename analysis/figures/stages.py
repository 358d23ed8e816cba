"""Figures of the plateau potential at several stages of learning, and of its agreement with theory over its course."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, draw_scale_bar, for_log_axis, styled

TRACES = {"plateau": "plateau", "a": "distal", "inhibition": "Q", "z": "proximal"}  # name -> its colour
LABELS = {"plateau": "plateau", "a": "distal $a$", "inhibition": "inhibition", "z": "output $z$"}
_BEHIND: dict[str, Any] = {"color": COLOURS["theory"], "alpha": 0.55, "linewidth": 2.6, "solid_joinstyle": "round"}


@styled
def plot_stages(
    traces: Mapping[str, Mapping[str, ArrayLike]], theory: Mapping[str, Mapping[str, ArrayLike]] | None = None
) -> np.ndarray:
    """Draw traces of each neuron, one above the other, at each stage of learning, on the same samples.

    Signals of the distal dendrite share a scale within a stage, since plateau = a - inhibition; the output has its
    own. Bars on the right of a panel show both.

    Parameters
    ----------
    traces
        By stage, in the order of the columns, then by name: plateau, a, inhibition and z, each (T, k).
    theory
        By stage and name: what theory says a trace should be, (T, k), drawn behind it in grey.

    Returns
    -------
    axes : (k, number of stages)
    """
    import matplotlib.pyplot as plt

    k = np.shape(next(iter(traces.values()))["plateau"])[1]
    axes = plt.subplots(k, len(traces), figsize=(7.0, 0.6 + 1.8 * k), squeeze=False, sharex=True)[1]
    for column, (stage, recorded) in enumerate(traces.items()):
        axes[0, column].set_title(stage)
        axes[-1, column].set_xlabel("sample shown")
        for neuron, panel in enumerate(axes[:, column]):
            signals = {name: np.asarray(recorded[name])[:, neuron] for name in TRACES}
            distal = max(np.abs(signals[name]).max() for name in ("plateau", "a", "inhibition"))
            scales = dict.fromkeys(TRACES, distal) | {"z": np.abs(signals["z"]).max()}
            for level, (name, signal) in enumerate(signals.items()):
                scale = 2.1 * (scales[name] or 1.0)
                panel.axhline(-level, color="0.85", linewidth=0.6, zorder=0)
                if theory and name in theory[stage]:
                    panel.plot(np.asarray(theory[stage][name])[:, neuron] / scale - level, **_BEHIND)
                panel.plot(signal / scale - level, color=COLOURS[TRACES[name]], linewidth=0.9)
            for level, name in ((1, "a"), (3, "z")):
                draw_scale_bar(panel, level, scales[name] or 1.0)
            panel.set(ylim=(-3.6, 0.6), yticks=-np.arange(len(TRACES)), yticklabels=[])
            panel.tick_params(left=False)
            panel.spines["left"].set_visible(False)
    for neuron, panel in enumerate(axes[:, 0]):
        panel.set_ylabel(f"neuron {neuron + 1}")
        panel.set_yticklabels(LABELS.values())
        for tick, colour in zip(panel.get_yticklabels(), TRACES.values(), strict=True):
            tick.set_color(COLOURS[colour])
    if theory:
        axes[0, -1].plot([], [], label="theory", **_BEHIND)
        axes[0, -1].legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), borderpad=0)
    return axes


@styled
def plot_agreement(
    pairs: Mapping[str, tuple[ArrayLike, ArrayLike]],
    samples: ArrayLike,
    correlations: Mapping[str, NDArray],
) -> np.ndarray:
    """Scatter what the circuit does against what theory says, and follow their correlation through learning.

    Parameters
    ----------
    pairs
        By what is compared, written "measured against expected": both signals at the end of learning, (T, k).
    samples : (S,)
        Samples seen at each snapshot.
    correlations
        By what is compared: (seeds, S, k). The median over seeds and neurons is drawn, in a band from the lowest to
        the highest quarter.

    Returns
    -------
    axes : (len(pairs) + 1,)
    """
    import matplotlib.pyplot as plt

    colours = (COLOURS["Q"], COLOURS["plateau"], COLOURS["distal"])
    rows = 1 if len(pairs) < 3 else 2
    columns = -(-(len(pairs) + 1) // rows)
    axes = plt.subplots(rows, columns, figsize=(2.45 * columns, 2.6 * rows))[1].ravel()
    for panel, colour, (name, (measured, expected)) in zip(axes, colours, pairs.items(), strict=False):
        panel.plot(np.ravel(expected), np.ravel(measured), ".", markersize=2, alpha=0.3, color=colour, rasterized=True)
        limit = 1.05 * max(np.abs(expected).max(), np.abs(measured).max())
        panel.plot([-limit, limit], [-limit, limit], **THEORY)
        panel.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
        panel.set(ylabel=name.split(" against ")[0], xlabel=name.split(" against ")[1])
        panel.locator_params(nbins=5)
        panel.set_title("after learning")
    seen = for_log_axis(samples)
    for colour, (name, values) in zip(colours, correlations.items(), strict=False):
        low, median, high = np.nanpercentile(values, (25, 50, 75), axis=(0, 2))
        axes[-1].plot(seen, median, color=colour, label=name.split(" against ")[1])
        axes[-1].fill_between(seen, low, high, color=colour, alpha=0.2, linewidth=0)
    axes[-1].axhline(1, zorder=0, **THEORY)
    axes[-1].axhline(0, color="0.85", linewidth=0.6, zorder=0)
    axes[-1].set(xscale="log", xlabel="samples", ylabel="correlation with theory")
    axes[-1].set_title("through learning")
    axes[-1].legend(loc="lower right", fontsize=7, frameon=True, framealpha=0.8, edgecolor="none")
    return axes

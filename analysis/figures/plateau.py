"""Plateau potentials and the signals they are made of, as traces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import COLOURS, axes_of, draw_scale_bar, styled


@styled
def plot_plateau(
    samples: ArrayLike,
    plateau: ArrayLike,
    a: ArrayLike | None = None,
    inhibition: ArrayLike | None = None,
    z: ArrayLike | None = None,
    *,
    shown: int = 60,
    unit: str = "sample",
    ax: np.ndarray | None = None,
) -> np.ndarray:
    """Traces of each neuron at the first and the last samples recorded, one above the other.

    The three signals of the distal dendrite share a scale, since plateau = a - inhibition; the output has its own. Bars
    on the right show both. A rare value four times as large as nearly all others is cut off where its lane ends.

    Parameters
    ----------
    samples : (T,)
        Which samples were recorded.
    plateau, a, inhibition, z : (T, k)
        Plateau potential, distal current, inhibition of the distal dendrite, somatic output; None is left out.
    shown
        Recorded samples at either end.
    unit
        What ``samples`` are, for the axis.
    ax : (k, 2)
        Axes, a row for each neuron.
    """
    known = {
        "plateau": (plateau, "plateau"),
        "distal $a$": (a, "distal"),
        "inhibition": (inhibition, "Q"),
        "output $z$": (z, "proximal"),
    }
    traces = {name: (trace, role) for name, (trace, role) in known.items() if trace is not None}
    samples, k, levels = np.asarray(samples), np.shape(plateau)[1], len(traces)
    axes = axes_of(ax, k, 2, figsize=(6.6, 0.5 + (0.1 + 0.4 * levels) * k), sharex="col")
    for neuron, row in enumerate(axes):
        signals = {name: (np.asarray(trace)[:, neuron], COLOURS[role]) for name, (trace, role) in traces.items()}
        peaks = {name: max(_usual_peak(signal[ends]) for ends in _ends(shown)) for name, (signal, _) in signals.items()}
        output = peaks.pop("output $z$", None)
        scales = [max(peaks.values()) or 1.0] * len(peaks) + ([] if output is None else [output or 1.0])
        for panel, ends, when in zip(row, _ends(shown), ("early", "late"), strict=True):
            for level, ((signal, color), scale) in enumerate(zip(signals.values(), scales, strict=True)):
                panel.axhline(-level, color="0.85", linewidth=0.6, zorder=0)
                heights = np.clip(signal[ends] / (2.1 * scale), -0.5, 0.5) - level
                panel.plot(samples[ends], heights, color=color, linewidth=1, drawstyle="steps-mid")
            panel.set(ylim=(0.45 - levels, 0.55), yticks=-np.arange(levels), yticklabels=[])
            panel.tick_params(left=False)
            panel.spines["left"].set_visible(False)
            if neuron == 0:
                panel.set_title(f"{when} in learning")
            if neuron == k - 1:
                panel.set_xlabel(unit)
                panel.ticklabel_format(axis="x", style="plain")
        row[0].set_yticklabels(signals)
        for tick, (_, color) in zip(row[0].get_yticklabels(), signals.values(), strict=True):
            tick.set_color(color)
        row[0].set_ylabel(f"neuron {neuron + 1}")
        bars = {len(peaks) // 2: scales[0]} | ({} if output is None else {levels - 1: scales[-1]})
        for level, scale in bars.items():
            draw_scale_bar(row[1], level, scale)
    return axes


def _usual_peak(signal: np.ndarray) -> float:
    """Size of the largest value; if that is an outlier that would flatten the rest, twice what 19 in 20 stay below."""
    size = np.abs(signal)
    usual = np.percentile(size, 95)
    return float(2 * usual if 0 < 4 * usual < size.max() else size.max())


def _ends(shown: int) -> tuple[slice, slice]:
    return slice(None, shown), slice(-shown, None)

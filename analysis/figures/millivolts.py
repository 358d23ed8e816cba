"""Cells in millivolts: potentials, currents and spikes of one cell and of its population, and how it fires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, axes_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = ("population", "spikes", "currents", "Vd", "calcium", "Vs")
_LABELS = {
    "population": "events in black,\nbursts in red",
    "spikes": "burst\nprobability",
    "currents": "distal\ncurrents (pA)",
    "Vd": "dendrite\n(mV)",
    "calcium": "calcium\ncurrent (pA)",
    "Vs": "soma (mV)",
}
_BURST, _MARKED = "#c1272d", "#f3d9a4"
_PEAK = 10.0  # mV: to where spikes are drawn, which the model replaces by a reset


@styled
def plot_cell(
    stages: Mapping[str, Mapping[str, ArrayLike]],
    *,
    onsets: Mapping[str, ArrayLike],
    errors: Mapping[str, ArrayLike],
    ax: NDArray | None = None,
) -> NDArray:
    """Draw one cell in millivolts below the raster of its population, with one column per stage of learning.

    Samples in which theory says that the teaching signal is large are shaded: upwards above rest, downwards below it.

    Parameters
    ----------
    stages
        By title of the column, then by name: time (T,) in ms; Vs, Vd (T,) in mV; calcium (T,) in pA; fired (T,), 1
        where the cell fires; distal and inhibitory (T,), the currents that the distal dendrite gets, in pA; event and
        burst (T, cells) of the population, 1 where one begins.
    onsets
        By title: when samples come on, in ms.
    errors : (samples,)
        By title: what theory says the teaching signal is in each sample, in units of its r.m.s.
    ax : (6, number of stages)
        Axes; new ones unless given.

    Returns
    -------
    axes : (6, number of stages)
    """
    heights = [1.3, 0.7, 1, 1, 0.7, 1]
    axes = axes_of(
        ax, len(_ROWS), len(stages), "six kinds of signal, one column for each stage",
        figsize=(7.2, 7.4), height_ratios=heights, sharex="col", sharey="row",
    )  # fmt: skip
    for place, (title, traces) in enumerate(stages.items()):
        column = dict(zip(_ROWS, axes[:, place], strict=True))
        signal = {name: np.asarray(values, dtype=float) for name, values in traces.items()}
        begin = np.asarray(onsets[title], dtype=float)
        _shade(axes[:, place], begin, signal["time"][-1], np.asarray(errors[title]))
        _raster(column["population"], signal)
        _probability(column["spikes"], signal, begin)
        column["currents"].plot(signal["time"], signal["distal"], color=COLOURS["distal"], label="excitation, a")
        column["currents"].plot(
            signal["time"], signal["inhibitory"], color=COLOURS["Q"], linewidth=0.8, label="inhibition, Qn"
        )
        column["Vd"].plot(signal["time"], signal["Vd"], color=COLOURS["plateau"], linewidth=0.8)
        column["calcium"].plot(signal["time"], signal["calcium"], color=COLOURS["plateau"], linewidth=0.8)
        spiking = np.where(signal["fired"] > 0, _PEAK, signal["Vs"])
        column["Vs"].plot(signal["time"], spiking, color=COLOURS["proximal"], linewidth=0.8)
        column["population"].set_title(title)
        column["Vs"].set_xlabel("time (ms)")
    for row, name in zip(axes[:, 0], _ROWS, strict=True):
        row.set_ylabel(_LABELS[name])
    axes[_ROWS.index("currents"), -1].legend(loc="upper right", fontsize=7, handlelength=1.2)
    axes[0, 0].figure.align_ylabels(axes[:, 0])
    return axes


def _shade(panels: NDArray, onsets: NDArray, end: float, errors: NDArray) -> None:
    """Shade samples whose error is larger than its r.m.s., and say which way beside the burst probability."""
    for first, last, error in zip(onsets, [*onsets[1:], end], errors, strict=True):
        for panel in panels:
            panel.axvline(first, color="0.9", linewidth=0.6, zorder=0)
            if abs(error) > 1:
                panel.axvspan(first, last, color=_MARKED if error > 0 else "0.88", zorder=0, linewidth=0)
        if abs(error) > 1:
            panels[1].text(
                (first + last) / 2, 0.95, "+" if error > 0 else "–", ha="center", va="top", fontsize=9,
                transform=panels[1].get_xaxis_transform(),
            )  # fmt: skip


def _raster(panel: Axes, signal: Mapping[str, NDArray]) -> None:
    for name, colour, size in (("event", "black", 1.2), ("burst", _BURST, 1.8)):
        moment, cell = np.nonzero(signal[name])
        panel.plot(signal["time"][moment], cell, "|", color=colour, markersize=size, markeredgewidth=0.6)
    panel.set(ylim=(signal["event"].shape[1] - 0.5, -0.5))


def _probability(panel: Axes, signal: Mapping[str, NDArray], onsets: NDArray) -> None:
    """Draw the bursts per event of the population, sample by sample."""
    sample = np.searchsorted(onsets, signal["time"] - 1e-9, side="left") - 1
    events, bursts = (
        np.bincount(sample.clip(0), weights=signal[name].sum(axis=1), minlength=len(onsets))
        for name in ("event", "burst")
    )
    share = bursts / np.maximum(events, 1)
    panel.step([*onsets, signal["time"][-1]], [*share, share[-1]], where="post", color=_BURST)
    panel.set(ylim=(0, 1))


@styled
def plot_firing(
    dendrite: ArrayLike,
    by_dendrite: Mapping[str, ArrayLike],
    soma: ArrayLike,
    by_soma: Mapping[str, ArrayLike],
    *,
    rest: tuple[float, float],
    ax: NDArray | None = None,
) -> NDArray:
    """Draw the rate of events and the burst probability of a cell against the currents into its two compartments.

    Parameters
    ----------
    dendrite, soma : (levels,)
        Currents in pA; the other one is at rest.
    by_dendrite, by_soma
        "event_rate" (levels,) in Hz and "burst_probability" (levels,) at each.
    rest
        Currents into soma and dendrite at which a circuit's cells rest, in pA.
    ax : (2, 2)
        Axes; new ones unless given.

    Returns
    -------
    axes : (2, 2)
    """
    axes = axes_of(ax, 2, 2, "rate and probability, dendrite and soma", figsize=(6.2, 4.4), sharex="col", sharey="row")
    for column, (current, found, at, name) in enumerate(
        ((dendrite, by_dendrite, rest[1], "dendritic"), (soma, by_soma, rest[0], "somatic"))
    ):
        for row, (quantity, colour) in enumerate((("event_rate", "black"), ("burst_probability", _BURST))):
            panel = axes[row, column]
            panel.plot(np.asarray(current), np.asarray(found[quantity]), "o-", color=colour, markersize=3)
            panel.axvline(at, color="0.7", linewidth=0.8, linestyle="--")
        axes[1, column].set_xlabel(f"{name} current (pA)")
    axes[0, 0].set(ylabel="rate of events (Hz)", ylim=(0, None))
    axes[1, 0].set(ylabel="burst probability", ylim=(0, 1))
    return axes

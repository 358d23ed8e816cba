"""Plateau potentials and the signals they are made of, as traces, and below the spikes that an
electrode would see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import (
    BEHIND,
    COLUMN,
    GUIDE,
    PAGE,
    Axes,
    axes_of,
    colour,
    explain,
    mark_cuts,
    percent,
    styled,
)
from biorrr.analysis.plateau import Agreement

TRACES = {  # name -> label, quantity whose colour it has
    "plateau": ("plateau", "plateau"),
    "a": ("distal\ncurrent $a$", "distal"),
    "inhibition": ("inhibition\n$Qn$", "Q"),
    "z": ("output $z$", "proximal"),
}
_LANE = 2.1  # height of a lane, in units of the largest value that it has room for
_LARGEST = 3.0  # how much larger than at the end a signal may be before it is cut off
_LANES_HIGH = 0.36  # inches
DEVIATION = (
    "Deviation: r.m.s. difference between plateau and theory, relative to the r.m.s. of theory."
)


@styled
def plot_plateau(
    stages: Mapping[str, Mapping[str, ArrayLike]],
    theory: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    *,
    at: Mapping[str, ArrayLike] | None = None,
    unit: str = "sample",
    onsets: Mapping[str, ArrayLike] | None = None,
    neurons: Sequence[str] | None = None,
    deviations: Mapping[str, ArrayLike] | None = None,
    note: str = "",
    ax: NDArray | None = None,
) -> NDArray:
    """Draw the traces of each neuron, one above the other, with one column per stage of learning.

    All stages share the scales of a neuron: one for the three signals of the distal dendrite, since
    plateau = a - inhibition, and one for the output. Bars on the right show both. What is more than
    about three times as large as nearly all of the last stage would flatten the rest: it is cut off
    where its lane ends, and a small triangle marks the place. Where theory is known, the deviation
    of each plateau from it stands above its panel.

    Parameters
    ----------
    stages
        By title of the column, then by name: plateau and, where known, a, inhibition and z, each
        (T, k).
    theory
        By title and name: what theory says a trace should be, (T, k), drawn behind it in grey.
    at
        By title: the number of each sample, or the time of each tick, (T,); 0, 1, 2, ... unless
        given.
    unit
        Label of the horizontal axis. Samples are drawn as steps, or as single lines where they do
        not follow one another; anything else, such as "time (ms)", is drawn as a curve.
    onsets
        By title: when samples come on, in the units of ``at``, each marked by a faint line.
    neurons
        Their names; "neuron 0", "neuron 1", ... unless given.
    deviations
        By title: relative r.m.s. deviation of each plateau from theory, (k,); that of the traces
        that are drawn unless given.
    note
        Further words below the figure.
    ax : (k, number of stages)
        Axes, one row for each neuron; new ones unless given.

    Returns
    -------
    axes : (k, number of stages)
    """
    expected = theory or {}
    if deviations is None:
        deviations = {
            title: Agreement.between(stages[title]["plateau"], one["plateau"]).relative_error
            for title, one in expected.items()
            if "plateau" in one
        }
    first = next(iter(stages.values()))
    names, k = [name for name in TRACES if name in first], np.shape(first["plateau"])[1]
    steps = {title: np.arange(len(one["plateau"])) for title, one in stages.items()}
    steps |= {title: np.asarray(places) for title, places in (at or {}).items()}
    axes = axes_of(
        ax,
        k,
        len(stages),
        "one row for each neuron, one column for each stage",
        width=PAGE if len(stages) > 1 else COLUMN,
        height=1.1 + (0.2 + _LANES_HIGH * len(names)) * k,
        sharex="col",
    )
    for neuron, row in enumerate(axes):
        shown = [_of_neuron(stages[title], names, neuron) for title in stages]
        scales = _scales(shown)
        for panel, title, traces in zip(row, stages, shown, strict=True):
            behind = _of_neuron(expected.get(title, {}), names, neuron)
            _draw_lanes(panel, steps[title], traces, behind, scales, unit)
            for onset in np.asarray((onsets or {}).get(title, ())):
                panel.axvline(onset, label="a new sample", **GUIDE)
            above = [title] if neuron == 0 else []
            if title in deviations:
                above.append(f"deviation {percent(np.asarray(deviations[title])[neuron])}")
            panel.set_title("\n".join(above))
        row[0].set_yticklabels([TRACES[name][0] for name in names])
        for tick, name in zip(row[0].get_yticklabels(), names, strict=True):
            tick.set_color(colour(TRACES[name][1]))
        row[0].set_ylabel(neurons[neuron] if neurons else f"neuron {neuron}")
        _draw_scale(row[-1], (len(names) - ("z" in names)) // 2, scales["plateau"])
        if "z" in names:
            _draw_scale(row[-1], len(names) - 1, scales["z"])
    for panel, title in zip(axes[-1], stages, strict=True):
        _label_time(panel, steps[title], unit)
    if ax is None:
        explain(axes, f"{note} {DEVIATION if deviations else ''}".strip())
    return axes


def _of_neuron(
    signals: Mapping[str, ArrayLike], names: list[str], neuron: int
) -> dict[str, NDArray]:
    """Return the signals of one neuron, each (T,), in the order of their lanes."""
    return {name: np.asarray(signals[name])[:, neuron] for name in names if name in signals}


def _draw_lanes(
    panel: Axes,
    steps: NDArray,
    traces: Mapping[str, NDArray],
    theory: Mapping[str, NDArray],
    scales: Mapping[str, float],
    unit: str,
) -> None:
    """Draw the traces of one neuron at one stage, each in a lane of its own, theory behind them."""
    for level, (name, trace) in enumerate(traces.items()):
        panel.axhline(-level, **GUIDE)
        lane, tint = _LANE * scales[name], colour(TRACES[name][1])
        if name in theory:
            _draw(panel, steps, theory[name] / lane, level, unit, label="theory", **BEHIND)
        _draw(panel, steps, trace / lane, level, unit, color=tint, linewidth=1)
        for end in (0.5, -0.5):
            mark_cuts(panel, steps, trace / lane, end, "cut off", level, color=tint)
    lanes = len(traces)
    panel.set(ylim=(0.4 - lanes, 0.6), yticks=-np.arange(lanes), yticklabels=[])
    panel.tick_params(left=False)
    panel.spines["left"].set_visible(False)


def _draw(
    panel: Axes, steps: NDArray, heights: NDArray, level: int, unit: str, **look: Any
) -> None:
    """Draw what fits of a trace into the lane at ``level``: samples as steps, or as single lines
    where nothing is known of those in between, and all else as a curve.
    """
    heights = np.clip(heights, -0.5, 0.5) - level
    if not unit.startswith("sample"):
        panel.plot(steps, heights, **look)
    elif (np.diff(steps) > 1).any():
        panel.vlines(steps, -level, heights, **look)
    else:
        panel.plot(steps, heights, drawstyle="steps-mid", **look)


def _scales(stages: list[dict[str, NDArray]]) -> dict[str, float]:
    """Return the value that fills a lane, by name: one for all stages and all signals of the distal
    dendrite.
    """
    peaks = {name: np.array([_usual_peak(one[name]) for one in stages]) for name in stages[0]}
    distal = np.max([peak for name, peak in peaks.items() if name != "z"], axis=0)
    needed = {name: peak if name == "z" else distal for name, peak in peaks.items()}
    return {
        name: min(peak.max(), _LARGEST * peak[-1]) or peak.max() or 1.0
        for name, peak in needed.items()
    }


def _usual_peak(signal: NDArray) -> float:
    """Return the largest size; if that is an outlier, twice the 95th percentile."""
    size = np.abs(signal[np.isfinite(signal)])
    if not len(size):
        return 0.0
    usual = np.percentile(size, 95)
    return float(2 * usual if 0 < 4 * usual < size.max() else size.max())


def _draw_scale(panel: Axes, level: int, scale: float) -> None:
    """Draw a bar of a round length on the right of the lane at ``level``."""
    power = 10 ** np.floor(np.log10(scale))
    length = max(step * power for step in (1, 2, 5) if step * power <= scale)
    ends = np.array([-0.5, 0.5]) * length / (_LANE * scale) - level
    look = {"transform": panel.get_yaxis_transform(), "clip_on": False}
    words, tint = "scale, in units of the data", colour("plateau")
    panel.plot([1.03, 1.03], ends, color=tint, linewidth=1.2, label=words, **look)
    panel.text(1.05, -level, f"{length:g}", va="center", **look)


def _label_time(panel: Axes, steps: NDArray, unit: str) -> None:
    """Label the horizontal axis; large numbers of samples are counted from the first."""
    counts = unit.startswith("sample")
    panel.locator_params(axis="x", nbins=3, integer=counts)
    panel.set_xlabel(unit)
    apart, start = np.diff(steps), int(steps[0])
    if counts and (apart > 1).any():
        panel.set_xlabel(f"{unit}\n(one in {np.median(apart):g})")
    elif counts:
        counted = max(len(steps) // 2, 1) * np.arange(3)
        first = start if start < 1000 else 0
        panel.set_xticks(start + counted, [f"{first + count}" for count in counted])
        panel.set_xlabel(unit if start < 1000 else f"{unit} after\n{start:,}")


@styled
def plot_raster(
    time: ArrayLike,
    traces: Mapping[str, ArrayLike],
    *,
    onsets: ArrayLike,
    unit: str = "sample",
    spikes: tuple[ArrayLike, ArrayLike, int] | None = None,
    neurons: Sequence[str] | None = None,
    ax: NDArray | None = None,
) -> NDArray:
    """Draw the traces of a few neurons as :func:`plot_plateau` does, and where they spike a raster
    above.

    Faint lines show when a new sample comes on.

    Parameters
    ----------
    time
        At which each tick ends, or the number of each sample, shape (T,).
    traces
        By name: plateau and, where known, a, inhibition and z, each (T, neurons).
    onsets
        When samples come on, in the units of ``time``.
    unit
        Label of the horizontal axis.
    spikes
        Time and cell of each spike, both (spikes,), and how many cells stand for one neuron; cells
        are counted through all neurons.
    neurons
        Names of the neurons.
    ax : (1 + neurons,) with spikes, else (neurons,)
        Axes, the raster's first; new ones unless given.

    Returns
    -------
    axes : (1 + neurons,) with spikes, else (neurons,)
    """
    count = np.shape(traces["plateau"])[1]
    names = neurons or [f"neuron {number}" for number in range(count)]
    heights = [0.15 + _LANES_HIGH * len(traces)] * count
    if spikes is not None:
        heights.insert(0, 0.35 + 0.5 * count)
    axes = axes_of(
        ax,
        len(heights),
        1,
        "the raster first where there are spikes, then one for each neuron",
        width=PAGE,
        height=0.8 + sum(heights),
        height_ratios=heights,
        sharex=True,
    )
    plot_plateau(
        {"": traces},
        at={"": time},
        unit=unit,
        onsets={"": onsets},
        neurons=names,
        ax=axes[-count:],
    )
    if spikes is not None:
        _draw_spikes(axes[0, 0], *spikes, np.asarray(onsets), names)
    axes[0, 0].figure.align_ylabels(axes)
    if ax is None:
        explain(axes[-count:])
    return axes[:, 0]


def _draw_spikes(
    raster: Axes,
    fired: ArrayLike,
    cells: ArrayLike,
    each: int,
    onsets: NDArray,
    names: Sequence[str],
) -> None:
    """Draw a tick for every spike, the cells of each neuron between lines."""
    tint = colour("proximal")
    raster.plot(fired, cells, "|", color=tint, markersize=2.5, markeredgewidth=0.6)
    for onset in onsets:
        raster.axvline(onset, **GUIDE)
    for border in range(1, len(names)):
        raster.axhline(each * border - 0.5, color=colour("theory"), linewidth=0.6)
    middles = each * (np.arange(len(names)) + 0.5) - 0.5
    raster.set(ylim=(each * len(names) - 0.5, -0.5), ylabel="spikes of")
    raster.set_yticks(middles, [f"{name},\n{each} cells" for name in names])
    raster.tick_params(left=False, labelbottom=False)

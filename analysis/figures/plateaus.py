"""Plateau potentials and the signals they are made of, as traces, and below the spikes that an
electrode would see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    draw_scale_bar,
    legend_below,
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
    shown, expected = _arrays(stages), _arrays(theory or {})
    steps = _steps(shown, at)
    if deviations is None:
        deviations = _deviations(shown, expected)
    first = next(iter(shown.values()))
    names, k = [*first], first["plateau"].shape[1]
    neurons = neurons or [f"neuron {number}" for number in range(k)]
    axes = axes_of(
        ax,
        k,
        len(shown),
        "one row for each neuron, one column for each stage",
        width=PAGE if len(shown) > 1 else COLUMN,
        height=1.1 + (0.2 + _LANES_HIGH * len(names)) * k,
        sharex="col",
    )
    for neuron, row in enumerate(axes):
        one, behind = (_of_neuron(signals, neuron) for signals in (shown, expected))
        _draw_neuron(row, one, behind, steps, unit)
        _name_lanes(row[0], names, neurons[neuron])
    for column, title in zip(axes.T, shown, strict=True):
        _label_column(column, title, deviations.get(title), (onsets or {}).get(title, ()))
        _label_time(column[-1], steps[title], unit)
    if ax is None:
        legend_below(axes, f"{note} {DEVIATION if deviations else ''}".strip())
    return axes


def _deviations(
    shown: Mapping[str, Mapping[str, NDArray]], expected: Mapping[str, Mapping[str, NDArray]]
) -> dict[str, NDArray]:
    """Return by title how far each plateau deviates from theory, where it is known."""
    return {
        title: Agreement.between(shown[title]["plateau"], one["plateau"]).relative_error
        for title, one in expected.items()
        if "plateau" in one
    }


def _label_column(
    column: NDArray, title: str, deviations: ArrayLike | None, onsets: ArrayLike
) -> None:
    """Write the title of a stage and the deviations of its neurons, and mark when samples come."""
    for neuron, panel in enumerate(column):
        above = [title] if neuron == 0 else []
        if deviations is not None:
            above.append(f"deviation {percent(np.asarray(deviations)[neuron])}")
        panel.set_title("\n".join(above))
        for onset in np.asarray(onsets):
            panel.axvline(onset, label="a new sample", **GUIDE)


def _arrays(stages: Mapping[str, Mapping[str, ArrayLike]]) -> dict[str, dict[str, NDArray]]:
    """Return signals by title and name as arrays, in the order of their lanes."""
    return {
        title: {name: np.asarray(one[name]) for name in TRACES if name in one}
        for title, one in stages.items()
    }


def _steps(
    shown: Mapping[str, Mapping[str, NDArray]], at: Mapping[str, ArrayLike] | None
) -> dict[str, NDArray]:
    """Return by title the places of ticks, (T,): 0, 1, 2, ... where none are given."""
    given = at or {}
    return {
        title: np.asarray(given.get(title, range(len(one["plateau"]))))
        for title, one in shown.items()
    }


def _of_neuron(
    stages: Mapping[str, Mapping[str, NDArray]], neuron: int
) -> dict[str, dict[str, NDArray]]:
    """Return the signals of one neuron, each (T,), by title and name."""
    return {
        title: {name: signal[:, neuron] for name, signal in one.items()}
        for title, one in stages.items()
    }


def _draw_neuron(
    row: NDArray,
    shown: Mapping[str, Mapping[str, NDArray]],
    expected: Mapping[str, Mapping[str, NDArray]],
    steps: Mapping[str, NDArray],
    unit: str,
) -> None:
    """Draw the traces of one neuron, a panel for each stage, and the bars of their scales."""
    scales = _scales([*shown.values()])
    for panel, (title, traces) in zip(row, shown.items(), strict=True):
        _draw_lanes(panel, steps[title], traces, expected.get(title, {}), scales, unit)
    _draw_scales(row[-1], [*traces], scales)


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
            heights = np.clip(theory[name] / lane, -0.5, 0.5) - level
            _draw(panel, steps, heights, unit, level, label="theory", **BEHIND)
        heights = np.clip(trace / lane, -0.5, 0.5) - level
        _draw(panel, steps, heights, unit, level, color=tint, linewidth=1)
        for end in (0.5, -0.5):
            mark_cuts(panel, steps, trace / lane, end, tint, "cut off", level)
    lanes = len(traces)
    panel.set(ylim=(0.4 - lanes, 0.6), yticks=-np.arange(lanes), yticklabels=[])
    panel.tick_params(left=False)
    panel.spines["left"].set_visible(False)


def _draw(
    panel: Axes, steps: NDArray, heights: NDArray, unit: str, level: int, **look: Any
) -> None:
    if not unit.startswith("sample"):
        panel.plot(steps, heights, **look)
    elif (
        len(steps) > 1 and (np.diff(steps) > 1).any()
    ):  # nothing is known of the samples in between
        panel.vlines(steps, -level, heights, **look)
    else:
        panel.plot(steps, heights, drawstyle="steps-mid", **look)


def _scales(stages: list[Mapping[str, NDArray]]) -> dict[str, float]:
    """Return the value that fills a lane, by name: one for all stages and all signals of the distal
    dendrite.
    """

    def needed(names: Iterable[str]) -> float:
        usual = [max(_usual_peak(traces[name]) for name in names) for traces in stages]
        return min(max(usual), _LARGEST * usual[-1]) or max(usual) or 1.0

    distal = [name for name in stages[0] if name != "z"]
    output = {"z": needed(["z"])} if "z" in stages[0] else {}
    return dict.fromkeys(distal, needed(distal)) | output


def _usual_peak(signal: NDArray) -> float:
    """Return the largest size; if that is an outlier, twice the 95th percentile."""
    size = np.abs(signal[np.isfinite(signal)])
    if not len(size):
        return 0.0
    usual = np.percentile(size, 95)
    return float(2 * usual if 0 < 4 * usual < size.max() else size.max())


def _name_lanes(panel: Axes, names: list[str], neuron: str) -> None:
    panel.set_yticklabels([TRACES[name][0] for name in names])
    for tick, name in zip(panel.get_yticklabels(), names, strict=True):
        tick.set_color(colour(TRACES[name][1]))
    panel.set_ylabel(neuron)


def _draw_scales(panel: Axes, names: list[str], scales: Mapping[str, float]) -> None:
    """Draw the bars on the right: one for the distal dendrite, one for the output."""
    distal = len(names) - ("z" in names)
    draw_scale_bar(panel, distal // 2, scales[names[0]], _LANE)
    if "z" in names:
        draw_scale_bar(panel, len(names) - 1, scales["z"], _LANE)


def _label_time(panel: Axes, steps: NDArray, unit: str) -> None:
    """Label the horizontal axis; large numbers of samples are counted from the first."""
    panel.locator_params(axis="x", nbins=3, integer=unit.startswith("sample"))
    apart = np.diff(steps)
    if not unit.startswith("sample"):
        panel.set_xlabel(unit)
    elif (apart > 1).any():
        panel.set_xlabel(f"{unit}\n(one in {np.median(apart):g})")
    else:
        start, half = int(steps[0]), max(len(steps) // 2, 1)
        counted = np.arange(0, 3 * half, half)
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
    recorded = {name: np.asarray(trace) for name, trace in traces.items()}
    count = recorded["plateau"].shape[1]
    names = [*neurons] if neurons else [f"neuron {number}" for number in range(count)]
    lanes = 0.15 + 0.36 * len(recorded)
    heights = [*([0.35 + 0.5 * count] if spikes is not None else []), *[lanes] * count]
    what = "the raster first where there are spikes, then one for each neuron"
    size = {"width": PAGE, "height": 0.8 + sum(heights), "height_ratios": heights}
    axes = axes_of(ax, len(heights), 1, what, **size, sharex=True)[:, 0]
    panels, known = axes[-count:].reshape(count, 1), {"": recorded}
    plot_plateau(known, at={"": time}, unit=unit, onsets={"": onsets}, neurons=names, ax=panels)
    if spikes is not None:
        _draw_spikes(axes[0], *spikes, np.asarray(onsets), names)
    axes[0].figure.align_ylabels(axes)
    if ax is None:
        legend_below(panels)
    return axes


def _draw_spikes(
    raster: Axes, fired: ArrayLike, cells: ArrayLike, each: int, onsets: NDArray, names: list[str]
) -> None:
    """Draw a tick for every spike, the cells of each neuron between lines."""
    look: dict[str, Any] = {"color": colour("proximal"), "markersize": 2.5, "markeredgewidth": 0.6}
    raster.plot(fired, cells, "|", **look)
    for onset in onsets:
        raster.axvline(onset, **GUIDE)
    for border in range(1, len(names)):
        raster.axhline(each * border - 0.5, color=colour("theory"), linewidth=0.6)
    middles = each * (np.arange(len(names)) + 0.5) - 0.5
    raster.set(ylim=(each * len(names) - 0.5, -0.5), ylabel="spikes of")
    raster.set_yticks(middles, [f"{name},\n{each} cells" for name in names])
    raster.tick_params(left=False, labelbottom=False)

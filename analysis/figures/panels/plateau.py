"""Plateau potentials and the signals they are made of, as traces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    percent,
    styled,
)

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
    columns = [
        _Stage.of(title, traces, (theory or {}).get(title, {}), (at or {}).get(title))
        for title, traces in stages.items()
    ]
    if deviations is None:
        deviations = {one.title: one.deviations for one in columns if "plateau" in one.theory}
    names = list(columns[0].traces)
    axes = _panels(ax, columns[0].traces["plateau"].shape[1], len(columns), len(names))
    for neuron, row in enumerate(axes):
        _draw_neuron(row, columns, neuron, onsets or {}, unit)
        _name_lanes(row[0], names, neurons[neuron] if neurons else f"neuron {neuron}")
        for panel, stage in zip(row, columns, strict=True):
            above = [stage.title] if neuron == 0 else []
            panel.set_title("\n".join(above + _words(deviations, stage.title, neuron)))
    for panel, stage in zip(axes[-1], columns, strict=True):
        _label_time(panel, stage.steps, unit)
    if ax is None:
        explain_traces(axes, f"{note} {DEVIATION if deviations else ''}".strip())
    return axes


@dataclass(frozen=True)
class _Stage:
    """What is drawn in one column.

    Attributes
    ----------
    title
        Title of the column.
    steps : (T,)
        Number of each sample, or time of each tick.
    traces, theory
        By name, each (T, k).
    """

    title: str
    steps: NDArray
    traces: dict[str, NDArray]
    theory: dict[str, NDArray]

    @classmethod
    def of(
        cls,
        title: str,
        traces: Mapping[str, ArrayLike],
        theory: Mapping[str, ArrayLike],
        at: ArrayLike | None,
    ) -> _Stage:
        """Return a stage of arrays; samples are numbered from 0 unless ``at`` says otherwise."""
        recorded = {name: np.asarray(traces[name]) for name in TRACES if name in traces}
        expected = {name: np.asarray(trace) for name, trace in theory.items()}
        steps = np.arange(len(recorded["plateau"])) if at is None else np.asarray(at)
        return cls(title, steps, recorded, expected)

    def traces_of(self, neuron: int) -> dict[str, NDArray]:
        """Return the traces of one neuron, each (T,), by name."""
        return {name: trace[:, neuron] for name, trace in self.traces.items()}

    @property
    def deviations(self) -> NDArray:
        """Relative r.m.s. deviation of each plateau from theory, (k,)."""
        expected = self.theory["plateau"]
        wrong = self.traces["plateau"] - expected
        with np.errstate(invalid="ignore", divide="ignore"):  # of theory that says nothing
            return np.sqrt((wrong**2).mean(axis=0) / (expected**2).mean(axis=0))


def explain_traces(axes: NDArray, note: str = "") -> None:
    """Say below the figure what grey lines, triangles and bars are."""
    legend_below(axes, note)


def _panels(ax: Any, neurons: int, stages: int, lanes: int) -> NDArray:
    """Return axes, (neurons, stages), with room for that many lanes each."""
    return axes_of(
        ax,
        neurons,
        stages,
        "one row for each neuron, one column for each stage",
        width=PAGE if stages > 1 else COLUMN,
        height=1.1 + (0.2 + _LANES_HIGH * lanes) * neurons,
        sharex="col",
    )


def _words(deviations: Mapping[str, ArrayLike], title: str, neuron: int) -> list[str]:
    """Return the line above a panel that says how near its plateau is to theory."""
    if title not in deviations:
        return []
    return [f"deviation {percent(np.asarray(deviations[title])[neuron])}"]


def _draw_neuron(
    row: NDArray,
    columns: list[_Stage],
    neuron: int,
    onsets: Mapping[str, ArrayLike],
    unit: str,
) -> None:
    """Draw all stages of a neuron on shared scales."""
    scales = _scales([stage.traces_of(neuron) for stage in columns])
    for panel, stage in zip(row, columns, strict=True):
        _mark_onsets(panel, onsets.get(stage.title, ()))
        _draw_lanes(panel, stage, neuron, scales, unit)
    _draw_scales(row[-1], list(columns[0].traces), scales)


def _mark_onsets(panel: Axes, onsets: ArrayLike) -> None:
    """Draw a faint line wherever a sample comes on."""
    for onset in np.asarray(onsets):
        panel.axvline(onset, label="a new sample", **GUIDE)


def _draw_lanes(
    panel: Axes, stage: _Stage, neuron: int, scales: Mapping[str, float], unit: str
) -> None:
    """Draw the traces of one neuron at one stage, each in a lane of its own, theory behind them."""
    for level, (name, trace) in enumerate(stage.traces_of(neuron).items()):
        panel.axhline(-level, **GUIDE)
        lane, tint = _LANE * scales[name], colour(TRACES[name][1])
        if name in stage.theory:
            heights = np.clip(stage.theory[name][:, neuron] / lane, -0.5, 0.5) - level
            _draw(panel, stage.steps, heights, unit, level, label="theory", **BEHIND)
        heights = np.clip(trace / lane, -0.5, 0.5) - level
        _draw(panel, stage.steps, heights, unit, level, color=tint, linewidth=1)
        _mark_cuts(panel, stage.steps, trace / lane, level, tint)
    lanes = len(stage.traces)
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


def _mark_cuts(panel: Axes, steps: NDArray, heights: NDArray, level: int, tint: str) -> None:
    """Put a triangle where a trace leaves its lane."""
    for sign, marker in ((1, "^"), (-1, "v")):
        beyond = np.flatnonzero(sign * heights > 0.5)
        if len(beyond):
            look = {"color": tint, "markersize": 3, "clip_on": False, "linestyle": "none"}
            places = np.full(len(beyond), 0.5 * sign - level)
            panel.plot(steps[beyond], places, marker, label="cut off", **look)


def _scales(stages: list[dict[str, NDArray]]) -> dict[str, float]:
    """Return the value that fills a lane, by name: one for all stages and all signals of the distal
    dendrite.
    """

    def needed(names: Iterable[str]) -> float:
        usual = [max(_usual_peak(traces[name]) for name in names) for traces in stages]
        return min(max(usual), _LARGEST * usual[-1]) or max(usual) or 1.0

    distal = _distal(stages[0])
    return dict.fromkeys(distal, needed(distal)) | (
        {"z": needed(["z"])} if "z" in stages[0] else {}
    )


def _distal(names: Iterable[str]) -> list[str]:
    """Return the names of the signals of the distal dendrite."""
    return [name for name in names if name != "z"]


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
    distal = _distal(names)
    draw_scale_bar(panel, len(distal) // 2, scales[distal[0]], _LANE)
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
    elif steps[0] < 1000:
        panel.set_xlabel(unit)
    else:
        start, half = int(steps[0]), max(len(steps) // 2, 1)
        panel.set_xticks([start, start + half, start + 2 * half], ["0", f"{half}", f"{2 * half}"])
        panel.set_xlabel(f"{unit} after\n{start:,}")

"""Plateau potentials and the signals they are made of, as traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, Axes, axes_of, draw_scale_bar, styled

TRACES = {  # name -> label, colour
    "plateau": ("plateau", COLOURS["plateau"]),
    "a": ("distal current $a$", COLOURS["distal"]),
    "inhibition": ("inhibition $Qn$", COLOURS["Q"]),
    "z": ("output $z$", COLOURS["proximal"]),
}
_BEHIND: dict[str, Any] = {
    "color": COLOURS["theory"],
    "alpha": 0.55,
    "linewidth": 2.6,
    "solid_joinstyle": "round",
}
_LANE = 2.1  # height of a lane, in units of the largest value that it has room for
_LARGEST = 3.0  # how much larger than at the end a signal may be before it is cut off
_LANES_HIGH = 0.42  # inches


@styled
def plot_plateau(
    stages: Mapping[str, Mapping[str, ArrayLike]],
    theory: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    *,
    at: Mapping[str, ArrayLike] | None = None,
    unit: str = "sample",
    onsets: Mapping[str, ArrayLike] | None = None,
    neurons: Sequence[str] | None = None,
    notes: Mapping[str, Sequence[str]] | None = None,
    ax: NDArray | None = None,
) -> NDArray:
    """Draw the traces of each neuron, one above the other, with one column per stage of learning.

    All stages share the scales of a neuron: one for the three signals of the distal dendrite, since
    plateau = a - inhibition, and one for the output. Bars on the right show both. What is more than
    about three times as large as nearly all of the last stage would flatten the rest: it is cut off
    where its lane ends, and a small triangle marks the place.

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
        Their names; "neuron 1", "neuron 2", ... unless given.
    notes
        By title: a few words for each neuron, to stand above its panel.
    ax : (k, number of stages)
        Axes, one row for each neuron; new ones unless given.

    Returns
    -------
    axes : (k, number of stages)
    """
    recorded = {
        title: {name: np.asarray(traces[name]) for name in TRACES if name in traces}
        for title, traces in stages.items()
    }
    names = list(next(iter(recorded.values())))
    k, levels = recorded[next(iter(recorded))]["plateau"].shape[1], len(names)
    size = (7.2, 0.75 + (0.15 + _LANES_HIGH * levels) * k)
    axes = axes_of(
        ax,
        k,
        len(recorded),
        "one row for each neuron, one column for each stage",
        figsize=size,
        sharex="col",
    )
    cut = False
    for neuron, row in enumerate(axes):
        signals = {
            title: {name: traces[name][:, neuron] for name in names}
            for title, traces in recorded.items()
        }
        scales = _scales(list(signals.values()))
        for panel, (title, traces) in zip(row, signals.items(), strict=True):
            steps = np.arange(len(traces["plateau"])) if at is None else np.asarray(at[title])
            for onset in () if onsets is None else np.asarray(onsets[title]):
                panel.axvline(onset, color="0.9", linewidth=0.6, zorder=0)
            for level, name in enumerate(names):
                panel.axhline(-level, color="0.85", linewidth=0.6, zorder=0)
                lane = _LANE * scales[name]
                if theory and name in theory.get(title, {}):
                    expected = np.asarray(theory[title][name])[:, neuron]
                    _draw(
                        panel,
                        steps,
                        np.clip(expected / lane, -0.5, 0.5) - level,
                        unit,
                        level,
                        **_BEHIND,
                    )
                heights = traces[name] / lane
                _draw(
                    panel,
                    steps,
                    np.clip(heights, -0.5, 0.5) - level,
                    unit,
                    level,
                    color=TRACES[name][1],
                    linewidth=1,
                )
                cut |= _mark_cuts(panel, steps, heights, level, TRACES[name][1])
            panel.set(ylim=(0.4 - levels, 0.6), yticks=-np.arange(levels), yticklabels=[])
            panel.tick_params(left=False)
            panel.spines["left"].set_visible(False)
            panel.locator_params(axis="x", nbins=3, integer=unit.startswith("sample"))
            panel.ticklabel_format(axis="x", style="plain", useOffset=False)
            if notes:
                panel.text(
                    0, 1.0, notes[title][neuron], fontsize=7, va="bottom", transform=panel.transAxes
                )
            if neuron == 0:
                panel.set_title(title, pad=14 if notes else None)
            if neuron == k - 1:
                together = (
                    len(steps) < 2 or not unit.startswith("sample") or (np.diff(steps) == 1).all()
                )
                panel.set_xlabel(
                    unit if together else f"{unit} (one in {np.median(np.diff(steps)):g})"
                )
        _name_lanes(row[0], names, neurons[neuron] if neurons else f"neuron {neuron + 1}")
        distal = [name for name in names if name != "z"]
        draw_scale_bar(row[-1], len(distal) // 2, scales[distal[0]], _LANE)
        if "z" in names:
            draw_scale_bar(row[-1], levels - 1, scales["z"], _LANE)
    _explain(axes[-1, -1], bool(theory), cut)
    return axes


def _draw(
    panel: Axes, steps: NDArray, heights: NDArray, unit: str, level: int, **look: Any
) -> None:
    if not unit.startswith("sample"):
        panel.plot(steps, heights, **look)
    elif (
        len(steps) > 1 and (np.diff(steps) > 1).any()
    ):  # nothing is known of the samples in between
        look.pop("solid_joinstyle", None)
        panel.vlines(steps, -level, heights, **look)
    else:
        panel.plot(steps, heights, drawstyle="steps-mid", **look)


def _mark_cuts(panel: Axes, steps: NDArray, heights: NDArray, level: int, colour: str) -> bool:
    """Put a triangle where a trace leaves its lane; returns whether there is one."""
    cut = False
    for sign, marker in ((1, "^"), (-1, "v")):
        beyond = np.flatnonzero(sign * heights > 0.5)
        if len(beyond):
            cut = True
            places = np.full(len(beyond), 0.5 * sign - level)
            panel.plot(
                steps[beyond],
                places,
                marker,
                color=colour,
                markersize=3,
                clip_on=False,
                linestyle="none",
            )
    return cut


def _scales(stages: list[dict[str, NDArray]]) -> dict[str, float]:
    """Return the value that fills a lane, by name: one for all stages and all signals of the distal
    dendrite.
    """

    def needed(names: list[str]) -> float:
        usual = [max(_usual_peak(traces[name]) for name in names) for traces in stages]
        return min(max(usual), _LARGEST * usual[-1]) or max(usual) or 1.0

    distal = [name for name in stages[0] if name != "z"]
    return dict.fromkeys(distal, needed(distal)) | (
        {"z": needed(["z"])} if "z" in stages[0] else {}
    )


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
        tick.set_color(TRACES[name][1])
    panel.set_ylabel(neuron)


def _explain(panel: Axes, theory: bool, cut: bool) -> None:
    """Say below the last column what grey lines and triangles are."""
    from matplotlib.transforms import ScaledTranslation

    if theory:
        panel.plot([], [], label="theory", **_BEHIND)
    if cut:
        panel.plot([], [], "^", color="0.3", markersize=3, linestyle="none", label="cut off")
    if theory or cut:
        below = panel.transAxes + ScaledTranslation(
            0, -30 / 72, panel.figure.dpi_scale_trans
        )  # the axis has its label
        panel.legend(
            loc="upper right",
            bbox_to_anchor=(1.0, 0.0),
            bbox_transform=below,
            borderpad=0,
            ncols=2,
            handlelength=1.2,
            columnspacing=1,
        )

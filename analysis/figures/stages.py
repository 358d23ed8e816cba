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
    traces: Mapping[str, Mapping[str, ArrayLike]],
    theory: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    shown: int = 60,
) -> np.ndarray:
    """Draw traces of each neuron, one above the other, at each stage of learning, on the same samples.

    A neuron's scales are the same at all stages: one for the signals of its distal dendrite, since plateau = a -
    inhibition, and one for its output. Labelled bars on the right show both. Above each panel stands the r.m.s. of the
    plateau over all samples, and what that is of the distal current's.

    Parameters
    ----------
    traces
        By stage, in the order of the columns, then by name: plateau, a, inhibition and z, each (T, k).
    theory
        By stage and name: what theory says a trace should be, (T, k), drawn behind it in grey.
    shown
        Samples drawn, from the first on.

    Returns
    -------
    axes : (k, number of stages)
    """
    import matplotlib.pyplot as plt

    recorded = {stage: {name: np.asarray(one[name]) for name in TRACES} for stage, one in traces.items()}
    k = next(iter(recorded.values()))["plateau"].shape[1]
    axes = plt.subplots(k, len(recorded), figsize=(7.4, 0.5 + 2.0 * k), squeeze=False, sharex=True)[1]

    def scale(neuron: int, *names: str) -> float:
        """What a lane has room for: the largest value that is drawn, at any stage."""
        return max(np.abs(one[name][:shown, neuron]).max() for one in recorded.values() for name in names) or 1.0

    for neuron, row in enumerate(axes):
        distal, output = scale(neuron, "plateau", "a", "inhibition"), scale(neuron, "z")
        for panel, (stage, signals) in zip(row, recorded.items(), strict=True):
            for level, name in enumerate(TRACES):
                room = 2.1 * (output if name == "z" else distal)
                panel.axhline(-level, color="0.85", linewidth=0.6, zorder=0)
                if theory and name in theory[stage]:
                    panel.plot(np.asarray(theory[stage][name])[:shown, neuron] / room - level, **_BEHIND)
                panel.plot(signals[name][:shown, neuron] / room - level, color=COLOURS[TRACES[name]], linewidth=0.9)
            plateau, a = (np.sqrt(np.mean(np.square(signals[name][:, neuron]))) for name in ("plateau", "a"))
            panel.text(
                0, 0.62, f"r.m.s. {plateau:.2g} ({plateau / a if a else np.nan:.2f} of distal)", fontsize=7,
                color=COLOURS["plateau"], va="bottom",
            )  # fmt: skip
            panel.set(ylim=(-3.6, 0.6), yticks=-np.arange(len(TRACES)), yticklabels=[])
            panel.tick_params(left=False)
            panel.spines["left"].set_visible(False)
        draw_scale_bar(row[-1], 1, distal)
        draw_scale_bar(row[-1], 3, output)
        row[0].set_ylabel(f"neuron {neuron + 1}")
        row[0].set_yticklabels(LABELS.values())
        for tick, colour in zip(row[0].get_yticklabels(), TRACES.values(), strict=True):
            tick.set_color(COLOURS[colour])
    for panel, stage in zip(axes[0], recorded, strict=True):
        panel.set_title(stage, pad=16)
    for panel in axes[-1]:
        panel.set_xlabel("sample, learning off")
    if theory:
        axes[0, -1].plot([], [], label="theory", **_BEHIND)
        axes[0, -1].legend(loc="lower right", bbox_to_anchor=(1.02, 0.985), borderpad=0, fontsize=7)
    return axes


@styled
def plot_agreement(
    pairs: Mapping[str, tuple[str, str, ArrayLike, ArrayLike]],
    samples: ArrayLike,
    courses: Mapping[str, tuple[NDArray, NDArray]],
    rivals: Mapping[str, NDArray],
    tolerated: float,
) -> np.ndarray:
    """Scatter what the circuit does against what theory says, and follow their agreement through learning.

    Parameters
    ----------
    pairs
        By name: labels of what is measured and of what is expected, and both signals after learning, (T, k).
    samples : (S,)
        Samples seen at each snapshot.
    courses
        By name: correlation and relative error, each (seeds, S, k). The median over seeds and neurons is drawn, in a
        band from the lowest to the highest.
    rivals
        By what is done to the inhibition: the plateau's relative error after learning, (seeds * k,).
    tolerated
        Relative error up to which the two count as equal.

    Returns
    -------
    axes : (len(pairs) + 3,)
    """
    import matplotlib.pyplot as plt

    colours = {"inhibition": COLOURS["Q"], "plateau": COLOURS["plateau"], "network": COLOURS["distal"]}
    across = 6 // len(pairs)
    layout: Any = [[name for name in pairs for _ in range(across)], [one for one in ("c", "e", "r") for _ in range(2)]]
    panels = plt.subplot_mosaic(layout, figsize=(7.4, 5.0))[1]
    for name, (measured, expected, signal, theory) in pairs.items():
        panel = panels[name]
        panel.plot(
            np.ravel(theory), np.ravel(signal), ".", markersize=2, alpha=0.3, color=colours[name], rasterized=True
        )
        limit = 1.05 * max(np.abs(theory).max(), np.abs(signal).max())
        panel.plot([-limit, limit], [-limit, limit], **THEORY)
        panel.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", xlabel=expected, ylabel=measured)
        panel.locator_params(nbins=5)
        panel.set_title("after learning")
    seen = for_log_axis(samples)
    for name, (correlation, error) in courses.items():
        for panel, values in ((panels["c"], correlation), (panels["e"], error)):
            low, median, high = np.nanpercentile(values, (0, 50, 100), axis=(0, 2))
            panel.plot(seen, median, color=colours[name], label=pairs[name][1])
            panel.fill_between(seen, low, high, color=colours[name], alpha=0.2, linewidth=0)
    panels["c"].axhline(1, zorder=0, **THEORY)
    panels["c"].axhline(0, color="0.85", linewidth=0.6, zorder=0)
    panels["c"].set(xscale="log", xlabel="samples", ylabel="correlation with theory")
    panels["c"].legend(loc="lower right", fontsize=7, frameon=True, framealpha=0.8, edgecolor="none")
    panels["e"].axhline(tolerated, zorder=0, label=f"{tolerated:.0%}", **THEORY)
    panels["e"].set(xscale="log", yscale="log", xlabel="samples", ylabel="relative r.m.s. error")
    panels["e"].legend(handles=panels["e"].get_lines()[-1:], loc="lower left", fontsize=7)
    places = np.arange(len(rivals))
    for place, errors in zip(places, rivals.values(), strict=True):
        panels["r"].plot(np.full(len(errors), place), errors, "o", color=COLOURS["plateau"], markersize=3, alpha=0.5)
    panels["r"].axhline(tolerated, zorder=0, **THEORY)
    panels["r"].set_xticks(places, list(rivals), fontsize=7)
    panels["r"].set(yscale="log", xlim=(-0.5, len(rivals) - 0.5), ylabel="relative r.m.s. error")
    for name, title in (("c", "through learning"), ("e", "through learning"), ("r", "plateau, after learning")):
        panels[name].set_title(title)
    return np.array(list(panels.values()), dtype=object)

"""Plasticity and time in figures: pairings at a lag, late instruction, place fields on a circular track."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#767676", COLOURS["proximal"], COLOURS["distal"])


@styled
def plot_lags(
    lags: ArrayLike, change: Mapping[str, ArrayLike], predicted: ArrayLike, taus: tuple[float, float], *, ax=None
) -> np.ndarray:
    """Change of a weight against the lag between input and plateau; two axes.

    Parameters
    ----------
    lags : (L,)
        Seconds by which the plateau comes after the input.
    change
        By rule: "plain" and "traces", each shown relative to its own largest change beside the prediction; "weak" and
        "strong", the weight-dependent rule from a weight of 0 and of 0.8, in units of the largest weight; each (L,).
    predicted : (L,)
        Change by the theory of the traces.
    taus
        Time constants of the traces of input and plateau, for the title.
    """
    lags = np.asarray(lags)
    axes = axes_of(ax, 1, 2, figsize=(7, 2.7))[0]
    traces, theory = np.asarray(change["traces"]), np.asarray(predicted)
    axes[0].plot(lags, theory / theory.max(), label="theory", zorder=3, **THEORY)
    axes[0].plot(lags, traces / theory.max(), "o", color=COLOURS["proximal"], markersize=4, label="eligibility traces")
    plain = np.asarray(change["plain"])
    axes[0].plot(lags, plain / (plain.max() or 1.0), color="0.6", linewidth=1.2, label="the paper's rule")
    axes[0].set(ylabel="change of the weight, relative")
    axes[0].set_title(f"traces of {taus[0]:g} s (input) and {taus[1]:g} s (plateau)")
    axes[1].axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axes[1].plot(lags, change["weak"], "o-", color=COLOURS["Q"], markersize=3, label="from a weight of 0")
    axes[1].plot(lags, change["strong"], "s-", color=COLOURS["distal"], markersize=3, label="from 0.8")
    axes[1].set(ylabel="change / largest weight")
    axes[1].set_title("weight-dependent plasticity")
    for panel in axes:
        panel.axvline(0, color="0.85", linewidth=0.8, zorder=0)
        panel.set_xlabel("plateau after input (s)")
        panel.legend(loc="upper left", fontsize=7)
    return axes


@styled
def plot_delays(
    delays: Sequence[int], angles: Mapping[str, ArrayLike], found: float, *, ax: Axes | None = None
) -> Axes:
    """Angle between learned filters and the fixed point against the delay of instruction; one axes.

    Parameters
    ----------
    delays : (D,)
        In samples.
    angles
        By rule, shape (D, seeds), in degrees; every seed is a dot, lines join means.
    found
        Angle up to which the fixed point counts as found.
    """
    ax = axes_of(ax)
    ax.axhspan(0, found, color="0.93", zorder=0)
    ax.axhline(90, color="0.85", linewidth=0.8, zorder=0)
    for colour, (rule, values) in zip(_COLOURS, angles.items(), strict=False):
        values = np.asarray(values)
        ax.plot(delays, values.mean(axis=1), color=colour, label=rule)
        ax.plot(np.repeat(delays, values.shape[1]), values.reshape(-1), "o", color=colour, markersize=3)
    ax.set(xlabel="delay of instruction (samples)", ylabel="angle to the fixed point (degrees)", ylim=(0, 95))
    ax.set_xticks(list(delays))
    ax.legend()
    return ax


@styled
def plot_fields(
    positions: ArrayLike,
    fields: Mapping[str, NDArray],
    predicted: ArrayLike,
    places: Sequence[float],
    stretch: float,
    *,
    ax=None,
) -> np.ndarray:
    """Place fields after plateaus at one place and, faint, after later plateaus at another; one axes per rule.

    Parameters
    ----------
    positions : (P,)
        Along the track, in cm.
    fields
        By rule, shape (places, P): drive of the cell after the plateaus at each place. Each rule has its own scale.
    predicted : (P,)
        The field that the traces predict, shown beside the second rule.
    places, stretch
        Where plateaus began, in cm, and over what distance they lasted.
    """
    positions = np.asarray(positions)
    axes = axes_of(ax, 1, len(fields), figsize=(2.6 * len(fields), 2.6), sharex=True, sharey=True)[0]
    for number, (panel, colour, (rule, made)) in enumerate(zip(axes, _COLOURS, fields.items(), strict=False)):
        scale = made[0].max() or 1.0
        panel.axvspan(places[0], places[0] + stretch, color="0.85", zorder=0, linewidth=0)
        panel.plot(positions, made[0] / scale, color=colour, label=f"plateaus at {places[0]:g} cm")
        panel.plot(positions, made[1] / scale, color=colour, alpha=0.35, label=f"then at {places[1]:g} cm")
        if number == 1:
            panel.plot(positions, np.asarray(predicted) / scale, label="theory, first", **THEORY)
        panel.set(xlabel="position (cm)", title=rule)
    axes[0].set_ylabel("drive of the cell, relative")
    axes[0].set_ylim(-0.05, 2.0)
    axes[1].legend(fontsize=7, loc="upper right")
    return axes

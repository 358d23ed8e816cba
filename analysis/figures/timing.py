"""Plasticity and time in figures: pairings at a lag, late instruction, place fields on a circular track."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

_COLOURS = ("#767676", COLOURS["proximal"], COLOURS["distal"])


@styled
def plot_lags(results: xr.Dataset, *, ax: Any = None) -> np.ndarray:
    """Draw the change of a weight against the lag between input and plateau; two axes.

    Parameters
    ----------
    results
        ``change`` (rule, lag): "plain" and "traces", each shown relative to its own largest change beside the
        prediction; "weak" and "strong", the weight-dependent rule from a weight of 0 and of 0.8, in units of the
        largest weight. ``predicted_change`` (lag,) by the theory of the traces, with their time constants ``tau_x`` and
        ``tau_plateau`` as attributes. ``between_middles`` (lag,), seconds from the middle of the input to that of the
        plateau.
    """
    lags, change = results["between_middles"].values, results["change"]
    traces, plain, weak, strong = (change.sel(rule=rule).values for rule in ("traces", "plain", "weak", "strong"))
    theory, taus = results["predicted_change"].values, results["predicted_change"].attrs
    axes = axes_of(ax, 1, 2, figsize=(7, 2.7))[0]
    axes[0].plot(lags, theory / theory.max(), label="theory", zorder=3, **THEORY)
    axes[0].plot(lags, traces / theory.max(), "o", color=COLOURS["proximal"], markersize=4, label="eligibility traces")
    axes[0].plot(lags, plain / (plain.max() or 1.0), color="0.6", linewidth=1.2, label="the paper's rule")
    title = f"traces of {taus['tau_x']:g} s (input) and {taus['tau_plateau']:g} s (plateau)"
    axes[0].set(ylabel="change of the weight, relative", title=title)
    axes[1].axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axes[1].plot(lags, weak, "o-", color=COLOURS["Q"], markersize=3, label="from a weight of 0")
    axes[1].plot(lags, strong, "s-", color=COLOURS["distal"], markersize=3, label="from 0.8")
    axes[1].set(ylabel="change / largest weight", title="weight-dependent plasticity")
    for panel in axes:
        panel.axvline(0, color="0.85", linewidth=0.8, zorder=0)
        panel.set_xlabel("plateau after input (s)")
        panel.legend(loc="upper left", fontsize=7)
    return axes


@styled
def plot_delays(results: xr.Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw the angle between learned filters and the fixed point against the delay of instruction; one axes.

    Parameters
    ----------
    results
        ``angle`` (learner, delay, seed) in degrees: every seed is a dot, lines join medians. The attribute ``found`` is
        the angle up to which the fixed point counts as found. ``learner_words`` (learner,) name the learners.
    """
    angles, delays = results["angle"], results["delay"].values
    ax = axes_of(ax)
    ax.axhspan(0, angles.attrs["found"], color="0.93", zorder=0)
    ax.axhline(90, color="0.85", linewidth=0.8, zorder=0)
    spread = 0.06 * (np.arange(angles.shape[2]) - (angles.shape[2] - 1) / 2)  # so that equal seeds stay visible
    for colour, words, values in zip(_COLOURS, results["learner_words"].values, angles.values, strict=False):
        ax.plot(delays, np.median(values, axis=1), color=colour, linewidth=0.9)
        ax.plot(delays[:, None] + spread, values, "o", color=colour, markersize=3)[0].set_label(words)
    ax.set(xlabel="delay of instruction (samples)", ylabel="angle to the fixed point (degrees)")
    ax.set(ylim=(0, 95), xticks=list(delays))
    ax.legend(title="dots: seeds; lines: medians", title_fontsize=7)
    return ax


@styled
def plot_fields(results: xr.Dataset, *, ax: Any = None) -> np.ndarray:
    """Draw place fields after plateaus at one place and, faint, after later plateaus at another; one axes per rule.

    Parameters
    ----------
    results
        ``field`` (field_rule, induction, position): drive of the cell after the plateaus at each place, each rule on
        its own scale. The attribute ``plateau_length`` is the distance over which a plateau lasted, in cm.
        ``predicted_field`` (position,), which the traces predict, is shown beside the second rule.
        ``field_rule_words`` (field_rule,) name the rules; ``induction`` and ``position`` are in cm.
    """
    fields, positions = results["field"], results["position"].values
    first, second = results["induction"].values
    rules = results["field_rule_words"].values
    axes = axes_of(ax, 1, len(rules), figsize=(2.6 * len(rules), 2.6), sharex=True, sharey=True)[0]
    for number, (panel, colour, rule, made) in enumerate(zip(axes, _COLOURS, rules, fields.values, strict=False)):
        scale = made[0].max() or 1.0
        panel.axvspan(first, first + fields.attrs["plateau_length"], color="0.85", zorder=0, linewidth=0)
        panel.plot(positions, made[0] / scale, color=colour, label=f"plateaus at {first:g} cm")
        panel.plot(positions, made[1] / scale, color=colour, alpha=0.35, label=f"then at {second:g} cm")
        if number == 1:
            panel.plot(positions, results["predicted_field"].values / scale, label="theory, first", **THEORY)
        panel.set(xlabel="position (cm)", title=rule)
    axes[0].set(ylabel="drive of the cell, relative", ylim=(-0.05, 2.0))
    axes[1].legend(fontsize=7, loc="upper right")
    return axes

"""Plasticity and time in figures: pairings at a lag, late instruction, place fields on a circular
track.
"""

from __future__ import annotations

import numpy as np

from biorrr.analysis.figures.style import COLOURS, THEORY, Axes, Dataset, axes_of, styled

_COLOURS = ("#767676", COLOURS["proximal"])  # of the two rules


@styled
def plot_lags(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw the change of a weight against the lag between input and plateau; one axes.

    Parameters
    ----------
    results
        ``change`` (rule, lag) of "plain" and "traces", the first relative to its own largest
        change. ``predicted_change`` (lag,) by the theory of the traces, with their time constants
        ``tau_x`` and ``tau_plateau`` as attributes. ``between_middles`` (lag,), seconds from the
        middle of the input to that of the plateau.
    """
    lags, change = results["between_middles"].values, results["change"]
    traces, plain = (change.sel(rule=rule).values for rule in ("traces", "plain"))
    theory, taus = results["predicted_change"].values, results["predicted_change"].attrs
    ax = axes_of(ax, figsize=(3.8, 2.7))
    ax.plot(lags, theory / theory.max(), label="theory", zorder=3, **THEORY)
    ax.plot(
        lags,
        traces / theory.max(),
        "o",
        color=COLOURS["proximal"],
        markersize=4,
        label="eligibility traces",
    )
    ax.plot(
        lags, plain / (plain.max() or 1.0), color="0.6", linewidth=1.2, label="the paper's rule"
    )
    ax.axvline(0, color="0.85", linewidth=0.8, zorder=0)
    title = f"traces of {taus['tau_x']:g} s (input) and {taus['tau_plateau']:g} s (plateau)"
    ax.set(xlabel="plateau after input (s)", ylabel="change of the weight, relative", title=title)
    ax.legend(loc="upper left", fontsize=7)
    return ax


@styled
def plot_delays(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw the angle between learned filters and the fixed point against the delay of instruction;
    one axes.

    Parameters
    ----------
    results
        ``angle`` (learner, delay, seed) in degrees: every seed is a dot, lines join medians. The
        attribute ``found`` is the angle up to which the fixed point counts as found.
        ``learner_words`` (learner,) name the learners.
    """
    angles, delays = results["angle"], results["delay"].values
    ax = axes_of(ax)
    ax.axhspan(0, angles.attrs["found"], color="0.93", zorder=0)
    ax.axhline(90, color="0.85", linewidth=0.8, zorder=0)
    spread = 0.06 * (
        np.arange(angles.shape[2]) - (angles.shape[2] - 1) / 2
    )  # so that equal seeds stay visible
    for colour, words, values in zip(
        _COLOURS, results["learner_words"].values, angles.values, strict=True
    ):
        ax.plot(delays, np.median(values, axis=1), color=colour, linewidth=0.9)
        ax.plot(delays[:, None] + spread, values, "o", color=colour, markersize=3)[0].set_label(
            words
        )
    ax.set(xlabel="delay of instruction (samples)", ylabel="angle to the fixed point (degrees)")
    ax.set(ylim=(0, 95), xticks=list(delays))
    ax.legend(title="dots: seeds; lines: medians", title_fontsize=7)
    return ax


@styled
def plot_fields(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw the place fields that plateaus make under each rule, each relative to its own peak; one
    axes.

    Parameters
    ----------
    results
        ``field`` (field_rule, position): drive of the cell. The attribute ``plateau`` is where a
        plateau begins and ends, in cm. ``predicted_field`` (position,) is what the traces predict.
        ``field_rule_words`` (field_rule,) name the rules; ``position`` is in cm.
    """
    fields, positions = results["field"], results["position"].values
    ax = axes_of(ax)
    ax.axvspan(*fields.attrs["plateau"], color="0.85", zorder=0, linewidth=0)
    for colour, rule, field in zip(
        _COLOURS, results["field_rule_words"].values, fields.values, strict=True
    ):
        ax.plot(
            positions,
            field / (field.max() or 1.0),
            color=colour,
            linewidth=3,
            alpha=0.6,
            label=rule,
        )
    predicted = results["predicted_field"].values
    ax.plot(positions, predicted / predicted.max(), label="theory of the traces", **THEORY)
    ax.set(xlabel="position (cm)", ylabel="drive of the cell, relative")
    ax.legend(fontsize=7, loc="upper right")
    return ax

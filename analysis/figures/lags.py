"""Plasticity and time in figures: pairings at a lag, late instruction, place fields on a circular
track.
"""

from __future__ import annotations

import numpy as np

from biorrr.analysis.figures.style import (
    BAND,
    GUIDE,
    THEORY,
    Axes,
    Dataset,
    axes_of,
    colour,
    explain,
    of_seeds,
    percent,
    styled,
)


def _tints() -> tuple[str, str]:
    """Return the colours of the two rules: the paper's, and that with eligibility traces."""
    return colour("circuit"), colour("own")


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
    ax, (of_plain, of_traces), largest = axes_of(ax), _tints(), theory.max()
    ax.plot(lags, theory / largest, label="theory of the traces", zorder=3, **THEORY)
    ax.plot(lags, traces / largest, "o", color=of_traces, label="eligibility traces")
    ax.plot(lags, plain / (plain.max() or 1.0), "s-", color=of_plain, label="the paper's rule")
    ax.axvline(0, **GUIDE)
    ax.set(xlabel="plateau after input (s)", ylabel="relative weight change")
    return explain(
        ax,
        f"Traces last {taus['tau_x']:g} s (input) and {taus['tau_plateau']:g} s (plateau); they are"
        f" off their theory by at most {percent(np.abs(traces - theory).max() / largest)} of its"
        " peak.",
    )


@styled
def plot_delays(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw the angle between learned filters and the fixed point against the delay of instruction;
    one axes.

    Parameters
    ----------
    results
        ``angle`` (rule, delay, seed) in degrees: every seed is a dot, lines join medians. The
        attribute ``found`` is the angle up to which the fixed point counts as found. ``words``
        (rule,) name the rules.
    """
    angles, delays = results["angle"], results["delay"].values
    found, seeds = angles.attrs["found"], angles.shape[2]
    ax = axes_of(ax, height=2.7)
    ax.axhspan(0, found, label=f"below {found:g}°: counts as found", **BAND)
    ax.axhline(90, label="90°: nothing learned", **GUIDE)
    spread = 0.06 * (np.arange(seeds) - (seeds - 1) / 2)  # so that equal seeds stay visible
    words = results["words"].values
    for tint, marker, name, values in zip(_tints(), "so", words, angles.values, strict=True):
        ax.plot(delays, np.median(values, axis=1), color=tint, linewidth=0.9)
        places = delays[:, None] + spread
        ax.plot(places, values, marker, color=tint, markersize=3, label=str(name))
    ax.set(
        xlabel="delay of instruction (samples)",
        ylabel="angle to the fixed point (°)",
        ylim=(0, 95),
        xticks=delays,
    )
    return explain(ax, f"{of_seeds('Each dot is one of {} seeds.', seeds)} Lines: medians.", most=2)


@styled
def plot_fields(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw the place fields that plateaus make under each rule, each relative to its own peak; one
    axes.

    Parameters
    ----------
    results
        ``field`` (rule, position): drive of the cell. The attribute ``plateau`` is where a
        plateau begins and ends, in cm. ``predicted_field`` (position,) is what the traces predict.
        ``words`` (rule,) name the rules; ``position`` is in cm.
    """
    fields, positions = results["field"], results["position"].values
    ax = axes_of(ax, height=2.5)
    ax.axvspan(*fields.attrs["plateau"], label="plateau", **BAND)
    rules = results["words"].values
    for tint, dashes, rule, field in zip(_tints(), (":", "-"), rules, fields.values, strict=True):
        drive = field / (field.max() or 1.0)
        ax.plot(positions, drive, dashes, color=tint, linewidth=2.4, alpha=0.7, label=str(rule))
    predicted = results["predicted_field"].values
    ax.plot(positions, predicted / predicted.max(), label="theory of the traces", **THEORY)
    peaks = (positions[np.argmax(field)] for field in (fields.values[-1], predicted))
    note = "With traces the peak is at {:.0f} cm, by theory at {:.0f} cm.".format(*peaks)
    ax.set(xlabel="position (cm)", ylabel="drive of the cell, relative")
    return explain(ax, note, most=2)

"""Figures of how R meets Q': against the theory, where rates differ, and where inhibition excites at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, shades, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

_DIVERGED = 1e4  # power at which the third panel ends and a diverged run is marked


@styled
def plot_symmetry(
    samples: ArrayLike,
    measured: ArrayLike,
    predicted: ArrayLike | None = None,
    rounding: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw ||Q' - R|| against what theory predicts, on logarithmic axes.

    The axis ends where a number can no longer be told from rounding error: below, theory goes on to fall, and what is
    measured does not.

    Parameters
    ----------
    samples : (S,)
        Samples seen; a count of 0 has no place on a logarithmic axis and is left out.
    measured, predicted : (S,)
        ||Q' - R||, and its start times the product of (1 - eta_q); without theory unless given.
    rounding : (S,)
        Size of the rounding error; 1e-12 of the start unless given.
    """
    ax = axes_of(ax)
    top = np.nanmax(measured) if np.nanmax(measured) > 0 else 1.0
    started = np.asarray(samples) > 0
    samples, measured = np.asarray(samples)[started], np.asarray(measured)[started]
    predicted = np.full(len(samples), np.nan) if predicted is None else np.asarray(predicted)[started]
    floor = 1e-12 * top if rounding is None else max(float(np.nanmedian(np.asarray(rounding))), 1e-16 * top)
    if np.isfinite(predicted).any():
        ax.plot(samples, predicted, label="predicted, $\\prod(1-\\eta_q)$", zorder=3, **THEORY)
    ax.plot(samples, measured, "o", color=COLOURS["R"], label="measured", markersize=4)
    ax.set(xscale="log", yscale="log", xlabel="samples seen", ylabel="$\\Vert Q' - R \\Vert$")
    lowest = np.nanmin(np.concatenate([measured[measured > 0], predicted[predicted > 0], [top]]))
    if lowest < floor:
        ax.axhspan(floor * 1e-2, floor, color="0.93", zorder=0)
        small: dict[str, Any] = {"fontsize": 7, "color": "0.35", "va": "center", "transform": ax.get_yaxis_transform()}
        ax.text(0.02, 0.1 * floor, "rounding error", **small)
        ax.set_ylim(floor * 1e-2, 3 * top)
    if not (measured > 0).any():
        ax.text(0.5, 0.5, "R is Q' from the start, and stays it", ha="center", transform=ax.transAxes, fontsize=8)
    ax.legend(loc="best")
    return ax


@styled
def plot_meeting(results: xr.Dataset) -> np.ndarray:
    """Draw ||Q' - R|| over its start where Q and R learn alike and where not, and the power of the output.

    Parameters
    ----------
    results
        ``seen``, samples seen, ``ratio``, which is ||Q' - R|| over its start, and ``power``, the mean of |z|^2, each
        (condition, start, snapshot) and NaN after a divergence; ``eta_q`` and ``eta_r`` (condition,), rates eta/tau of
        Q and R. ``kind`` (condition,) is "equal", drawn from every start over the dashed (1 - eta/tau)^T; "unequal",
        drawn as the median over starts beside the theory for equal rates; or "hasty" and "hasty negative", of which
        the power is drawn, with a cross where a run diverged.

    Returns
    -------
    axes : (3,)
    """
    axes = axes_of(None, 1, 3, figsize=(7.4, 2.7))[0]
    _draw_equal(axes[0], _of_kind(results, "equal"))
    _draw_unequal(axes[1], _of_kind(results, "unequal"))
    _draw_runaway(axes[2], results)
    for ax in axes[:2]:
        ax.set(yscale="log", ylabel=r"$\Vert Q' - R \Vert$ over its start", ylim=(3e-10, 5))
    for ax in axes:
        ax.set(xscale="log", xlabel="samples")
    return axes


def _of_kind(results: xr.Dataset, kind: str) -> list[xr.Dataset]:
    """Return the conditions of one kind, one by one, the slowest first."""
    chosen = results.isel(condition=results["kind"].values == kind).sortby(["eta_q", "eta_r"])
    return [chosen.isel(condition=place) for place in range(chosen.sizes["condition"])]


def _draw_equal(ax: Axes, conditions: list[xr.Dataset]) -> None:
    """Draw every start of every rate, over the theory."""
    for shade, one in zip(shades(len(conditions)), conditions, strict=True):
        seen, eta = one["seen"].values, float(one["eta_q"])
        look: dict[str, Any] = {"color": shade, "markersize": 2.2, "markeredgewidth": 0}
        ax.plot(seen.T, one["ratio"].values.T, "o", **look)[0].set_label(f"{eta:g}")
        _draw_theory(ax, eta, np.nanmax(seen))
    ax.lines[-1].set_label("theory")
    ax.legend(title=r"$\eta/\tau$", loc="lower left", handlelength=1.2)
    ax.set_title("equal rates")


def _draw_unequal(ax: Axes, conditions: list[xr.Dataset]) -> None:
    """Draw the median over starts, a line for each rate of R."""
    for shade, one in zip(shades(len(conditions)), conditions, strict=True):
        kept = one.isel(snapshot=(one["seen"] * one["ratio"]).notnull().any("start").values)
        label = f"{float(one['eta_r'] / one['eta_q']):g}"
        ax.plot(kept["seen"].median("start"), kept["ratio"].median("start"), color=shade, label=label)
    eta = float(conditions[0]["eta_q"])
    _draw_theory(ax, eta, max(np.nanmax(one["seen"]) for one in conditions))
    ax.lines[-1].set_label("equal")
    ax.legend(title=r"$\eta_R/\eta_Q$", loc="lower left", handlelength=1.2)
    ax.set_title(rf"unequal rates, $\eta_Q/\tau$ = {eta:g}")


def _draw_runaway(ax: Axes, results: xr.Dataset) -> None:
    """Draw the power of the output from starts without and with a negative eigenvalue of QR."""
    kinds = {"hasty": ("theory", "eigenvalues of $QR > 0$"), "hasty negative": ("distal", "some $< 0$")}
    runs = {kind: _of_kind(results, kind)[0] for kind in kinds}
    longest = max(np.nanmax(run["seen"]) for run in runs.values())
    for kind, (colour, label) in kinds.items():
        seen, power = runs[kind]["seen"].values, runs[kind]["power"].values
        look: dict[str, Any] = {"color": COLOURS[colour], "linewidth": 0.8, "alpha": 0.8}
        ax.plot(seen.T[1:], power.T[1:], **look)[0].set_label(label)
        marks: dict[str, Any] = {"color": COLOURS[colour], "markersize": 5, "markeredgewidth": 1.2, "clip_on": False}
        for last in np.nanmax(seen, axis=1)[np.nanmax(seen, axis=1) < longest]:
            ax.plot(last, _DIVERGED, "x", **marks)
    ax.plot([], [], "x", color="black", markersize=5, label="diverged")
    ax.legend(loc="lower right")
    ax.set(ylabel=r"output power $\langle |z|^2 \rangle$", ylim=(1e-5, _DIVERGED), yscale="log")
    ax.set_title(rf"fast $V_x$, $\eta/\tau$ = {float(runs['hasty']['eta_q']):g}")


def _draw_theory(ax: Axes, eta: float, last: float) -> None:
    samples = np.geomspace(1, last, 200)
    ax.plot(samples, (1 - eta) ** samples, zorder=3, **THEORY)

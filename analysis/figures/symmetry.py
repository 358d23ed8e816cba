"""How R meets Q' in a figure: against the theory, where rates differ, and where inhibition excites at first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Course = tuple[NDArray, NDArray]  # samples seen and values, each (starts, S); NaN after a divergence
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
    """||Q' - R|| against what theory predicts, on logarithmic axes.

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
        ax.text(
            0.02,
            np.sqrt(floor * floor * 1e-2),
            "rounding error",
            va="center",
            fontsize=7,
            color="0.35",
            transform=ax.get_yaxis_transform(),
        )
        ax.set_ylim(floor * 1e-2, 3 * top)
    if not (measured > 0).any():
        ax.text(0.5, 0.5, "R is Q' from the start, and stays it", ha="center", transform=ax.transAxes, fontsize=8)
    ax.legend(loc="best")
    return ax


@styled
def plot_meeting(
    equal: Mapping[float, Course],
    unequal: Mapping[float, Course],
    runaway: Mapping[str, Course],
    eta_unequal: float,
    eta_runaway: float,
) -> np.ndarray:
    """Draw ||Q' - R|| over its start, and the power of the output, against samples.

    Parameters
    ----------
    equal
        By rate eta/tau: the ratio, drawn for every start over the dashed (1 - eta/tau)^T.
    unequal
        By the rate of R over that of Q: the ratio, median over starts. The theory is for equal rates, dashed.
    runaway
        By kind of start, the usual first: mean power |z|^2 of the output; a cross marks where a run diverged.
    eta_unequal, eta_runaway
        Rate eta/tau of Q in the second and of both in the third panel.

    Returns
    -------
    axes : (3,)
    """
    import matplotlib

    axes = axes_of(None, 1, 3, figsize=(7.4, 2.7))[0]
    shades = matplotlib.colormaps["viridis"]
    for shade, (eta, (seen, ratio)) in zip(
        shades(np.linspace(0.85, 0.05, len(equal))), sorted(equal.items()), strict=True
    ):
        axes[0].plot(np.transpose(seen), np.transpose(ratio), "o", color=shade, markersize=2.2, markeredgewidth=0)
        axes[0].plot([], [], "o", color=shade, markersize=4, label=f"{eta:g}")
        _draw_theory(axes[0], eta, np.nanmax(seen))
    axes[0].plot([], [], label="theory", **THEORY)
    axes[0].legend(title=r"$\eta/\tau$", loc="lower left", handlelength=1.2)
    axes[0].set_title("equal rates")

    for shade, (factor, (seen, ratio)) in zip(
        shades(np.linspace(0.85, 0.05, len(unequal))), sorted(unequal.items()), strict=True
    ):
        kept = np.isfinite(seen * ratio).any(axis=0)  # not what is behind the last run's end
        median_seen, median = (np.nanmedian(values[:, kept], axis=0) for values in (seen, ratio))
        axes[1].plot(median_seen, median, color=shade, label=f"{factor:g}")
    _draw_theory(axes[1], eta_unequal, max(np.nanmax(seen) for seen, _ in unequal.values()))
    axes[1].plot([], [], label="equal", **THEORY)
    axes[1].legend(title=r"$\eta_R/\eta_Q$", loc="lower left", handlelength=1.2)
    axes[1].set_title(rf"unequal rates, $\eta_Q/\tau$ = {eta_unequal:g}")

    for colour, (kind, (seen, power)) in zip((COLOURS["theory"], COLOURS["distal"]), runaway.items(), strict=True):
        axes[2].plot(np.transpose(seen)[1:], np.transpose(power)[1:], color=colour, linewidth=0.8, alpha=0.8)
        axes[2].plot([], [], color=colour, label=kind)
        for when, course in zip(seen, power, strict=True):
            last = np.flatnonzero(np.isfinite(course))[-1]
            if when[last] < np.nanmax([np.nanmax(seen) for seen, _ in runaway.values()]):
                axes[2].plot(when[last], _DIVERGED, "x", color=colour, markersize=5, markeredgewidth=1.2, clip_on=False)
    axes[2].plot([], [], "x", color="black", markersize=5, label="diverged")
    axes[2].legend(loc="lower right")
    axes[2].set(ylabel=r"output power $\langle |z|^2 \rangle$", ylim=(1e-5, _DIVERGED), yscale="log")
    axes[2].set_title(rf"fast $V_x$, $\eta/\tau$ = {eta_runaway:g}")
    for ax in axes[:2]:
        ax.set(yscale="log", ylabel=r"$\Vert Q' - R \Vert$ over its start", ylim=(3e-10, 5))
    for ax in axes:
        ax.set(xscale="log", xlabel="samples")
    return axes


def _draw_theory(ax, eta: float, last: float) -> None:
    samples = np.geomspace(1, last, 200)
    ax.plot(samples, (1 - eta) ** samples, zorder=3, **THEORY)

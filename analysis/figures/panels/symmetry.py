"""Figures of how R meets Q': against the theory, and where inhibition excites at first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import COLOURS, THEORY, Axes, Dataset, axes_of, shades, styled

_LARGEST = 1e4  # output power that is drawn


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

    The axis ends where a number can no longer be told from rounding error: below, theory goes on to
    fall, and what is measured does not.

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
    predicted = (
        np.full(len(samples), np.nan) if predicted is None else np.asarray(predicted)[started]
    )
    floor = (
        1e-12 * top
        if rounding is None
        else max(float(np.nanmedian(np.asarray(rounding))), 1e-16 * top)
    )
    if np.isfinite(predicted).any():
        ax.plot(samples, predicted, label="predicted, $\\prod(1-\\eta_q)$", zorder=3, **THEORY)
    ax.plot(samples, measured, "o", color=COLOURS["R"], label="measured", markersize=4)
    ax.set(xscale="log", yscale="log", xlabel="samples seen", ylabel="$\\Vert Q' - R \\Vert$")
    lowest = np.nanmin(np.concatenate([measured[measured > 0], predicted[predicted > 0], [top]]))
    if lowest < floor:
        ax.axhspan(floor * 1e-2, floor, color="0.93", zorder=0)
        small: dict[str, Any] = {
            "fontsize": 7,
            "color": "0.35",
            "va": "center",
            "transform": ax.get_yaxis_transform(),
        }
        ax.text(0.02, 0.1 * floor, "rounding error", **small)
        ax.set_ylim(floor * 1e-2, 3 * top)
    if not (measured > 0).any():
        ax.text(
            0.5,
            0.5,
            "R is Q' from the start, and stays it",
            ha="center",
            transform=ax.transAxes,
            fontsize=8,
        )
    ax.legend(loc="best")
    return ax


@styled
def plot_meeting(results: Dataset) -> np.ndarray:
    """Draw ||Q' - R|| over its start at several rates, and the power of the output at the lowest.

    Parameters
    ----------
    results
        ``seen``, samples seen, ``ratio``, which is ||Q' - R|| over its start, and ``power``, the
        mean of |z|^2, each (eigenvalues, eta, start, snapshot) and NaN after a divergence. The
        ``eigenvalues`` of QR at the start are "positive", of which the ratio is drawn over the
        dashed (1 - eta/tau)^T, or in part "negative".

    Returns
    -------
    axes : (2,)
    """
    axes = axes_of(None, 1, 2, figsize=(6.4, 2.9))[0]
    results = results.sortby("eta")
    for eta, shade in zip(results["eta"].values, shades(results.sizes["eta"]), strict=True):
        one = results.sel(eta=eta, eigenvalues="positive")
        look: dict[str, Any] = {"color": shade, "markersize": 2.2, "markeredgewidth": 0}
        axes[0].plot(one["seen"].values.T, one["ratio"].values.T, "o", **look)[0].set_label(
            f"{eta:g}"
        )
        samples = np.geomspace(1, np.nanmax(one["seen"]), 200)
        axes[0].plot(samples, (1 - eta) ** samples, zorder=3, **THEORY)
    axes[0].lines[-1].set_label("theory")
    axes[0].legend(title=r"$\eta/\tau$", loc="lower left", handlelength=1.2)
    axes[0].set(ylabel=r"$\Vert Q' - R \Vert$ over its start", ylim=(3e-10, 5))
    kinds = {"positive": ("theory", "all $> 0$"), "negative": ("distal", "some $< 0$")}
    for kind, (colour, label) in kinds.items():
        one = results.isel(eta=0).sel(eigenvalues=kind)
        look = {"color": COLOURS[colour], "linewidth": 0.8, "alpha": 0.8}
        power = one["power"].clip(max=_LARGEST).values  # a run that diverges leaves the panel
        axes[1].plot(one["seen"].values.T[1:], power.T[1:], **look)[0].set_label(label)
    axes[1].legend(title="eigenvalues of $QR$", loc="lower right")
    axes[1].set(ylabel=r"output power $\langle |z|^2 \rangle$")
    for ax in axes:
        ax.set(xscale="log", yscale="log", xlabel="samples")
    return axes

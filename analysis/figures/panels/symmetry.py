"""Figures of how R meets Q': against the theory, and in a circuit that learns meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import (
    BAND,
    PAGE,
    THEORY,
    Axes,
    Dataset,
    axes_of,
    colour,
    shades,
    styled,
)

_LARGEST = 1e4  # output power that is drawn


@styled
def plot_symmetry(
    samples: ArrayLike,
    distance: ArrayLike,
    inhibition: ArrayLike,
    predicted: ArrayLike | None = None,
    exact: ArrayLike | None = None,
    rounding: ArrayLike | None = None,
    *,
    ax: NDArray | None = None,
) -> NDArray:
    """Draw the distance of R from Q', relative to Q, and beside it the strength of inhibition.

    The distance has a logarithmic axis over linear samples: at constant rates it decays
    exponentially, which is a straight line. If R only seemed to find Q' because both fade, the
    distance would stay where it is, and the inhibition on the right would fall to zero.

    Parameters
    ----------
    samples : (S,)
        Samples seen.
    distance : (S,)
        ||R - Q'|| / ||Q||.
    inhibition : (S, k)
        Eigenvalues of QQ', largest first.
    predicted : (S,)
        The distance that theory predicts; none unless given.
    exact : (k,)
        Eigenvalues that those of QQ' equal at the optimum; not drawn unless given.
    rounding : (S,)
        Distance below which there is nothing but rounding error; 1e-12 unless given.
    ax : (2,)
        Axes; new ones unless given.

    Returns
    -------
    axes : (2,)
    """
    what = "one for the distance and one for inhibition"
    axes = axes_of(ax, 1, 2, what, width=PAGE, height=2.5).ravel()
    floor = 1e-12 if rounding is None else float(np.nanmedian(rounding))
    _draw_distance(axes[0], np.asarray(samples), np.asarray(distance), predicted, floor)
    _draw_inhibition(axes[1], np.asarray(samples), np.asarray(inhibition), exact)
    return axes


def _draw_distance(
    ax: Axes, samples: NDArray, distance: NDArray, predicted: ArrayLike | None, floor: float
) -> None:
    """Draw the relative distance of R from Q', and where rounding error begins."""
    ax.plot(samples, distance, "o", color=colour("R"), label="measured", markersize=3)
    if predicted is not None:
        ax.plot(samples, predicted, label="predicted, no free parameter", zorder=3, **THEORY)
    ax.set(xlabel="samples seen", ylabel="$\\Vert R - Q' \\Vert\\ /\\ \\Vert Q \\Vert$")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_title(f"in the end R equals $Q'$ to {distance[-1]:.1e} of $\\Vert Q \\Vert$")
    known = distance[np.isfinite(distance) & (distance > 0)]
    if not len(known):
        ax.set_title("R is $Q'$ from the start, and stays it")
    else:
        ax.set_yscale("log")
        if known.min() < floor:
            ax.axhspan(1e-3 * floor, floor, label="rounding error may show", **BAND)
            ax.set_ylim(min(known.min(), 0.1 * floor) / 3, 5 * known.max())
    ax.legend(loc="best")


def _draw_inhibition(
    ax: Axes, samples: NDArray, inhibition: NDArray, exact: ArrayLike | None
) -> None:
    """Draw the eigenvalues of QQ' and its norm on their way to those of the exact solution."""
    norm = np.linalg.norm(inhibition, axis=1)
    thin = ax.plot(samples, inhibition, color=colour("Q"), linewidth=0.8, alpha=0.7)
    thin[0].set_label("eigenvalues of $QQ'$")
    ax.plot(samples, norm, color=colour("Q"), linewidth=2, label="$\\Vert QQ' \\Vert$")
    title = f"in the end $\\Vert QQ' \\Vert$ = {norm[-1]:.3g}"
    top = [np.nanmax(norm)]
    if exact is not None:
        at_optimum = float(np.linalg.norm(exact))
        for place, value in enumerate([*np.asarray(exact), at_optimum]):
            ax.axhline(value, label=None if place else "exact solution", **THEORY)
        title += f", exact {at_optimum:.3g}"
        top.append(at_optimum)
    ax.set(xlabel="samples seen", ylabel="strength of inhibition", title=title)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_ylim(0, 1.45 * max(top))  # room for a legend
    ax.legend(loc="upper right", ncols=2)


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
    axes = axes_of(None, 1, 2, width=PAGE, height=2.6)[0]
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
    kinds = {
        "positive": ("theory", "eigenvalues of $QR$ all $> 0$ at the start"),
        "negative": ("distal", "some $< 0$"),
    }
    for kind, (tint, label) in kinds.items():
        one = results.isel(eta=0).sel(eigenvalues=kind)
        look = {"color": colour(tint), "linewidth": 0.8, "alpha": 0.8}
        power = one["power"].clip(max=_LARGEST).values  # a run that diverges leaves the panel
        axes[1].plot(one["seen"].values.T[1:], power.T[1:], **look)[0].set_label(label)
    axes[1].set(ylabel=r"output power $\langle |z|^2 \rangle$")
    for ax in axes:
        ax.set(xscale="log", yscale="log", xlabel="samples")
    return axes

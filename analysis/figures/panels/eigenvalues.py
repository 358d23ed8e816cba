"""Eigenvalues of QQ' beside those that they equal at the optimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import Axes, axes_of, colour, percent, styled


@styled
def plot_eigenvalues(
    eigenvalues_M: ArrayLike, eigenvalues_QQ: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the eigenvalues of M (r,), largest first, and those of QQ' (k,), which equal the first k
    at the optimum.

    M = Cxx^-1/2 Cxy Sigma_s Cyx Cxx^-1/2 is the matrix of the exact solution (supplement C). Its
    eigenvalues say how much of y each filter can predict, and minus the sum of the first k is the
    optimum of the objective.
    """
    ax = axes_of(ax)
    exact = np.asarray(eigenvalues_M, dtype=float)
    found = np.asarray([] if eigenvalues_QQ is None else eigenvalues_QQ, dtype=float)
    index = np.arange(1, len(exact) + 1)
    grey = {"color": "none", "edgecolor": colour("theory"), "linewidth": 0.8}
    ax.bar(index, exact, label="exact solution, $M$", **grey)
    if len(found):
        look = {"color": colour("Q"), "markersize": 4.5, "zorder": 4, "clip_on": False}
        ax.plot(index[: len(found)], found, "D", label="circuit, $QQ'$", **look)
        furthest = np.abs(found / exact[: len(found)] - 1).max()
        ax.set_title(f"largest relative deviation of $QQ'$: {percent(furthest)}")
    ax.set(
        xlabel="component", ylabel="eigenvalue", ylim=(0, 1.3 * max(*exact, *found) or 1.0)
    )  # room for a legend
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(loc="upper right")
    return ax

"""Eigenvalues of QQ' beside those that they equal at the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import COLOURS, axes_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEAR = 0.1  # how far off is fine: Q follows its rule with a finite rate, and so goes on to fluctuate by a few percent


@styled
def plot_eigenvalues(
    eigenvalues_M: ArrayLike, eigenvalues_QQ: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Eigenvalues of M (r,), largest first, and those of QQ' (k,), which equal the first k at the optimum.

    M = Cxx^-1/2 Cxy Sigma_s Cyx Cxx^-1/2 is what the exact solution is made of (supplement C): its eigenvalues say how
    much of y each filter can predict, and minus the sum of the first k is the optimum of the objective. Whiskers show
    10 % to either side, within which a learned value is as good as its learning rate allows.
    """
    ax = axes_of(ax)
    exact = np.asarray(eigenvalues_M, dtype=float)
    found = np.asarray([] if eigenvalues_QQ is None else eigenvalues_QQ, dtype=float)
    index, k = np.arange(1, len(exact) + 1), len(found)
    name = "exact: $M = C_{xx}^{-1/2} C_{xy} \\Sigma_s C_{yx} C_{xx}^{-1/2}$"
    grey = COLOURS["theory"]
    ax.bar(index, exact, color="0.88", edgecolor=grey, linewidth=0.8, label=name)
    if k:
        compared = index[:k], exact[:k], NEAR * exact[:k]
        ax.errorbar(*compared, color=grey, linestyle="none", elinewidth=0.8, capsize=3, label=f"± {NEAR:.0%}")
        ax.plot(index[:k], found, "D", color=COLOURS["Q"], markersize=4.5, zorder=4, label="circuit: $QQ'$")
    ax.set(xlabel="component", ylabel="eigenvalue")
    ax.set_ylim(0, 1.4 * max(*exact, *found) or 1.0)  # the legend needs room
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(loc="upper right")
    return ax

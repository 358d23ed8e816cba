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
    eigenvalues_M = np.asarray(eigenvalues_M)
    index = np.arange(1, len(eigenvalues_M) + 1)
    k = np.size(eigenvalues_QQ) if eigenvalues_QQ is not None else 0
    ax.bar(
        index,
        eigenvalues_M,
        color="0.88",
        edgecolor=COLOURS["theory"],
        linewidth=0.8,
        yerr=[NEAR * value if place < k else np.nan for place, value in enumerate(eigenvalues_M)] if k else None,
        error_kw={"ecolor": COLOURS["theory"], "capsize": 3, "elinewidth": 0.8},
        label="exact: $M = C_{xx}^{-1/2} C_{xy} \\Sigma_s C_{yx} C_{xx}^{-1/2}$" + (", ± 10 %" if k else ""),
    )
    if eigenvalues_QQ is not None:
        ax.plot(
            index[:k], eigenvalues_QQ, "D", color=COLOURS["Q"], markersize=4.5, label="circuit: $QQ'$",
        )  # fmt: skip
    ax.set(xlabel="component", ylabel="eigenvalue")
    ax.set_ylim(0, 1.35 * max(np.max(eigenvalues_M), np.max(eigenvalues_QQ) if k else 0.0) or 1.0)  # the legend's room
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(loc="upper right")
    return ax

"""Eigenvalues of QQ' beside those that they equal at the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import COLOURS, axes_of, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@styled
def plot_eigenvalues(
    eigenvalues_M: ArrayLike, eigenvalues_QQ: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Eigenvalues of M (r,), largest first, and those of QQ' (k,), which equal the first k at the optimum."""
    ax = axes_of(ax)
    eigenvalues_M = np.asarray(eigenvalues_M)
    index = np.arange(1, len(eigenvalues_M) + 1)
    ax.bar(index, eigenvalues_M, color="0.85", edgecolor=COLOURS["theory"], linewidth=0.8, label="$M$")
    if eigenvalues_QQ is not None:
        ax.plot(index[: np.size(eigenvalues_QQ)], eigenvalues_QQ, "D", color=COLOURS["Q"], markersize=5, label="$QQ'$")
    ax.set(xlabel="component", ylabel="eigenvalue")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    return ax

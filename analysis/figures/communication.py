"""How well a target is predicted through few filters, in a figure after Semedo et al. (2019), Neuron 102, 249-259."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from biorrr.analysis.figures.style import COLOURS, styled


@styled
def plot_prediction(targets: Mapping[str, tuple[ArrayLike, Sequence[int], ArrayLike, int]]) -> np.ndarray:
    """Draw held-out R2 against rank, one panel a target: circuits beside the exact solution.

    Parameters
    ----------
    targets
        By the panel's title: R2 of the exact solution at ranks 1 to n, (n,); the ranks of the circuits, (r,); their
        R2, (r, seeds), drawn as mean with a bar of one standard deviation; and the rank that cross-validation chooses.

    Returns
    -------
    axes : (number of targets,)
    """
    import matplotlib.pyplot as plt

    axes = plt.subplots(1, len(targets), figsize=(3.1 * len(targets), 2.6), sharey=True, squeeze=False)[1][0]
    for ax, (title, (exact, ranks, circuits, chosen)) in zip(axes, targets.items(), strict=True):
        exact, circuits = np.asarray(exact), np.asarray(circuits)
        ax.plot(np.arange(1, len(exact) + 1), exact, color=COLOURS["theory"], marker=".", label="exact")
        ax.axhline(exact[-1], color=COLOURS["theory"], linestyle=":", linewidth=1, label="exact, full rank")
        ax.errorbar(
            ranks, circuits.mean(axis=1), circuits.std(axis=1), color=COLOURS["proximal"], marker="o", markersize=5,
            linestyle="none", capsize=2, label="circuit", zorder=4,
        )  # fmt: skip
        above = ax.get_xaxis_transform()
        ax.plot(
            chosen,
            0.98,
            "v",
            color=COLOURS["distal"],
            markersize=6,
            label="rank chosen",
            transform=above,
            clip_on=False,
        )
        last = max(*ranks, chosen) + 2
        ax.set(title=title, xlabel="rank $k$", xlim=(0.5, last + 0.5), xticks=range(1, last + 1, 1 if last < 13 else 2))
    axes[0].set_ylabel("held-out $R^2$")
    axes[0].set_ylim(0, 1.15 * max(np.max(exact) for exact, *_ in targets.values()))
    axes[-1].legend(loc="lower right")
    return axes

"""Excess of filters that were not learned: baselines for the excess of filters that were."""

from __future__ import annotations

from typing import NamedTuple

from biorrr.analysis.regression.exact_solution import ExactSolution


class Baselines(NamedTuple):
    """Excess of three sets of k filters that no circuit has learned.

    Attributes
    ----------
    random_plane
        Mean over random k-dimensional subspaces of the outputs of the first k + 1 exact filters.
    principal_components
        First k principal components of x, which know nothing of y.
    exchange
        Exact filters with the k-th exchanged for the next.
    """

    random_plane: float
    principal_components: float
    exchange: float


def baselines(exact: ExactSolution, k: int) -> Baselines:
    """Return the excess that ``k`` filters have without having learned to tell the best ones.

    An excess says little where its baselines are small: if the eigenvalues of M hardly differ,
    every plane inside the first few filters is nearly as good as the best. A random k-plane in k +
    1 white dimensions leaves out a random direction, so its mean objective is minus k / (k + 1)
    times the sum of the first k + 1 eigenvalues of M.

    Examples
    --------
    >>> X = [[2.0, 0], [-2, 0], [0, 1], [0, -1]]
    >>> exact = ExactSolution(X, Y=X)
    >>> [f"{excess:.3f}" for excess in baselines(exact, k=1)]
    ['0.375', '0.000', '0.750']
    """
    best = -exact.optimum(k)
    if (
        not best or k == exact.m
    ):  # nothing to predict, or nothing to choose: every set of filters is optimal
        return Baselines(0.0, 0.0, 0.0)
    last, following = (
        exact.eigenvalues[i] if i < len(exact.eigenvalues) else 0.0 for i in (k - 1, k)
    )
    return Baselines(
        random_plane=1 - k / (k + 1) * (best + float(following)) / best,
        principal_components=float(exact.excess(exact.principal_components(k))),
        exchange=float(last - following) / best,
    )

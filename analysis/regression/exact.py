"""Reduced-rank regression solved exactly, for every member of the family between RRMSE and CCA
(Sec. 3).
"""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import Ridge
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.regression.predictor import FilterPredictor
from biorrr.analysis.regression.ridge import fitted_ridge


class ReducedRankRegression(FilterPredictor):
    """The best prediction of Y from X through k filters (Eqs. 1 to 3, solved as in supplement C).

    Parameters
    ----------
    k
        Rank: how many filters, from 1 to min(m, n).
    s
        Which errors count: Sigma_s^-1 = s Cyy + (1-s) I. 0 is RRMSE, classical reduced-rank
        regression; 1 is CCA.
    ridge
        Added to Cxx and Cyy; a pair sets them separately. With 0, inverses are pseudo-inverses.
        "cv" chooses the one that predicts held-out samples best
        (:func:`~biorrr.analysis.choose_ridge`).

    Attributes
    ----------
    Vx_ : (m, k)
        Filters, white: Vx'(Cxx + ridge I)Vx = I, in the order of M's eigenvalues.
    Vy_ : (n, k)
        Distal weights at the optimum, Sigma_s Cyx Vx.
    readout_ : (n, k)
        Cyx Vx: predictions are ``readout_ @ z``.
    eigenvalues_ : (min(m, n),)
        Eigenvalues of M, largest first; for s = 1 and no ridge the squared canonical correlations.
    objective_
        Value of the objective, minus the sum of the k largest eigenvalues.
    ridge_
        Ridge that was used.
    x_mean_, y_mean_ : (m,), (n,)
        Means of the training data, removed before anything else.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + rng.standard_normal((500, 4))
    >>> rrr = ReducedRankRegression(k=2).fit(X, Y)
    >>> rrr.transform(X).shape, rrr.predict(X).shape
    ((500, 2), (500, 4))
    """

    def __init__(self, k: int = 1, *, s: float = 0.0, ridge: Ridge | str = 0.0):
        self.k = k
        self.s = s
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Solve for ``X`` (n_samples, m) and ``y`` (n_samples, n) or (n_samples,)."""
        X, Y = self._check_training(X, y, ensure_min_samples=2)
        return self._solve(X, Y, self.k)

    def _solve(self, X: NDArray, Y: NDArray, k: int) -> Self:
        self.x_mean_, self.y_mean_ = X.mean(axis=0), Y.mean(axis=0)
        X, Y = X - self.x_mean_, Y - self.y_mean_
        self.ridge_ = fitted_ridge(self.ridge, X, Y, k, self.s)
        solution = ExactSolution(X, Y, self.s, self.ridge_)
        self.Vx_, self.Vy_, self.readout_ = solution.Vx(k), solution.Vy(k), solution.readout(k)
        self.eigenvalues_, self.objective_ = solution.eigenvalues, solution.optimum(k)
        return self

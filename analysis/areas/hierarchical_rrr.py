"""Areas with apical feedback, stacked between x and y, as an estimator: the exact solution of :mod:`.hierarchy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from biorrr.analysis.areas.hierarchy import HierarchyYardstick, check_gains
from biorrr.analysis.checks import as_floats, check_pair, ridge_pair
from biorrr.analysis.regression.predictor import FilterPredictor


class HierarchicalRRR(FilterPredictor):
    """Reduced-rank regression through a hierarchy of areas with apical feedback, solved exactly.

    Parameters
    ----------
    areas
        Cells of each area, from that nearest to x up to that nearest to y.
    gains
        One for each link, from x to the first area up to y; all 1 unless given.
    rho
        Variance of every output.
    s
        Which regression the last area solves: 0 is RRMSE, 1 is CCA.
    ridge
        Added to Cxx and Cyy; a pair sets them separately.
    starts, random_state
        How many random starts the search for a joint optimum makes, and their seed; one area needs none.

    Attributes
    ----------
    filters_ : list of (m + n, k_i)
        Outputs, z_i = filters_[i]' (x; y), when both x and y are there; with covariance rho I, or zero for directions
        below the threshold.
    weights_ : list of dict
        The weights W, A and Q of each area at the optimum.
    objective_
        The joint objective: 0 for areas that have learned nothing of y.
    starts_ : (starts,)
        The objective that each start reached: that they agree is what speaks for a global optimum.
    above_threshold_ : list of int
        How many directions each area uses.
    Vx_ : (m, k_L), readout_ : (n, k_L)
        Output of the last area while y is silent, z = Vx_' x, and the best prediction of y from it.
    x_mean_, y_mean_ : (m,), (n,)
        Means of the training data, removed before anything else.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + rng.standard_normal((500, 4))
    >>> hierarchy = HierarchicalRRR(areas=(3, 2)).fit(X, Y)
    >>> [z.shape for z in hierarchy.infer(X, Y)], hierarchy.predict(X).shape
    ([(500, 3), (500, 2)], (500, 4))
    """

    def __init__(
        self,
        areas: Sequence[int] = (1, 1),
        *,
        gains: Sequence[float] | None = None,
        rho: float = 1.0,
        s: float = 0.0,
        ridge: float | tuple[float, float] = 0.0,
        starts: int = 5,
        random_state=0,
    ):
        self.areas = areas
        self.gains = gains
        self.rho = rho
        self.s = s
        self.ridge = ridge
        self.starts = starts
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Solve for ``X`` (n_samples, m) and ``y`` (n_samples, n) or (n_samples,), both centred first."""
        X, Y = self._check_training(X, y, ensure_min_samples=2)
        self.x_mean_, self.y_mean_ = X.mean(axis=0), Y.mean(axis=0)
        X, Y = X - self.x_mean_, Y - self.y_mean_
        self.gains_ = check_gains([1.0] * (len(self.areas) + 1) if self.gains is None else self.gains)
        yardstick = HierarchyYardstick(X, Y, self.gains_, self.rho, self.s, self.ridge)
        best = yardstick.solve(self.areas, self.starts, self.random_state)
        self.filters_, self.objective_, self.starts_ = best.filters, best.objective, best.starts
        self.above_threshold_ = best.above_threshold
        self.weights_ = yardstick.weights(best.filters)
        self.Vx_ = self._settled(np.eye(X.shape[1]), np.zeros((X.shape[1], Y.shape[1])))[-1]
        Z = X @ self.Vx_
        Czz = Z.T @ Z / len(Z) + ridge_pair(self.ridge)[0] * self.Vx_.T @ self.Vx_
        self.readout_ = (linalg.pinvh(Czz) @ (Z.T @ Y / len(Z))).T
        return self

    def infer(self, X: ArrayLike, Y: ArrayLike | None = None) -> list[NDArray]:
        """Return the settled outputs of every area, list of (n_samples, k_i); without ``Y``, those for y = 0."""
        check_is_fitted(self)
        X = as_floats("X", X) - self.x_mean_
        Y = np.zeros((len(X), len(self.y_mean_))) if Y is None else as_floats("Y", Y) - self.y_mean_
        return self._settled(*check_pair(X, Y))

    def _settled(self, X: NDArray, Y: NDArray) -> list[NDArray]:
        """Return the equilibrium of all areas for ``X`` (n_samples, m) and ``Y`` (n_samples, n)."""
        sizes = [weights["W"].shape[1] for weights in self.weights_]
        ends = np.cumsum([0, *sizes])
        system, drive = np.eye(ends[-1]), np.zeros((len(X), ends[-1]))
        for i, weights in enumerate(self.weights_):
            own, c = slice(ends[i], ends[i + 1]), self.gains_[i + 1] / self.gains_[i]
            system[own, own] += c * weights["Q"] @ weights["Q"].T
            if i == 0:
                drive[:, own] += X @ weights["W"]
            else:
                system[own, ends[i - 1] : ends[i]] -= weights["W"].T
            if i == len(sizes) - 1:
                drive[:, own] += c * Y @ weights["A"]
            else:
                system[own, ends[i + 1] : ends[i + 2]] -= c * weights["A"].T
        return np.split(linalg.solve(system, drive.T).T, ends[1:-1], axis=1)

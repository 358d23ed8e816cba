"""Iterative quadratic minimum distance, the algorithm for RRMSE that the paper compares with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from biorrr.analysis.algorithms.estimator import OnlineFilterLearner
from biorrr.analysis.checks import ridge_pair
from biorrr.analysis.covariance import covariances


class IQMD(OnlineFilterLearner):
    """Iterative quadratic minimum distance: the squared error, minimised in turn over each factor of Vy Vx'.

    Each minimisation is a least-squares problem with a closed solution (for s = 0)::

        Vx <- Cxx^-1 Cxy Vy (Vy'Vy)^-1
        Vy <- Cyx Vx (Vx'Cxx Vx)^-1

    Y. Hua and M. Nikpour, "Computing the reduced rank Wiener filter by IQMD", IEEE Signal Processing Letters 6(9),
    240-242, 1999. It treats all k components at once. Here Vy is kept orthonormal: that changes neither the span of
    the filters nor the prediction, and without it the factors may grow and shrink against each other without bound.

    Offline, the covariances are those of all data. Online, they are running sums: each sample updates Cxy and the
    inverse of Cxx, in O(m^2) by the Sherman-Morrison formula, and one iteration follows. The ridge then arrives one
    input after another, m ridge e_i e_i' with the sample t = i (mod m), since adding ridge I to each sample's xx'
    (supplement E) would cost an inversion a sample; after every m samples the sums are the same.

    Parameters
    ----------
    k
        Rank: how many filters, from 1 to min(m, n).
    ridge
        Added to Cxx; of a pair the first.
    online
        One sample after another, or all data in each iteration.
    steps
        How many samples, in shuffled passes through the data, or iterations. By default one pass, or 1000 iterations.
    tol
        Offline, learning ends when the norm of an iteration's change of Vx is this share of Vx's.
    snapshots
        How many times `fit` keeps the filters in ``path_``, evenly in log time, or the t at which it does.
    random_state
        Seed of initial weights and of the order of samples.

    Attributes
    ----------
    Vx_, Vy_ : (m, k), (n, k)
        Filters, and orthonormal weights from their output to the prediction Vy Vx'x.
    t_
        Samples presented so far, or iterations done.

    Others as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.
    """

    s = 0.0

    def __init__(
        self,
        k: int = 1,
        *,
        ridge: float | tuple[float, float] = 0.0,
        online: bool = True,
        steps: int | None = None,
        tol: float = 1e-8,
        snapshots: int | Sequence[int] = 1,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.k = k
        self.ridge = ridge
        self.online = online
        self.steps = steps
        self.tol = tol
        self.snapshots = snapshots
        self.random_state = random_state

    def _total_steps(self, n_samples):
        if self.steps is None:
            return n_samples if self.online else 1000
        return super()._total_steps(n_samples)

    def _begin(self, X, Y, rng):
        m, n = X.shape[1], Y.shape[1]
        self.Vx_ = np.zeros((m, self.k))
        self.Vy_ = linalg.qr(rng.standard_normal((n, self.k)), mode="economic")[0]
        # Before the first m samples the sum of xx' has no inverse. A sample's worth in each direction gives it one, and
        # is soon outweighed.
        worth = np.square(X).mean() + ridge_pair(self.ridge)[0] or 1.0
        self._inverse = np.eye(m) / worth  # of the sum of xx' + ridge I
        self._cross = np.zeros((m, n))  # the sum of xy'
        self.t_ = 0

    def _present(self, X, Y, order):
        m = X.shape[1]
        ridge_x = ridge_pair(self.ridge)[0]
        for row in order:
            _add_to_inverse(self._inverse, X[row])
            if ridge_x > 0:
                unit = np.zeros(m)
                unit[self.t_ % m] = np.sqrt(m * ridge_x)
                _add_to_inverse(self._inverse, unit)
            self._cross += np.outer(X[row], Y[row])
            self.Vx_ = self._inverse @ (self._cross @ self.Vy_)
            self.Vy_ = linalg.qr(self._cross.T @ self.Vx_, mode="economic", check_finite=False)[0]
            self.t_ += 1

    def _learn(self, X, Y, stops, rng):
        if self.online:
            yield from super()._learn(X, Y, stops, rng)
            return
        self._begin(X, Y, rng)
        yield 0
        Cxx, Cxy, _ = covariances(X, Y, self.ridge)
        full_rank = linalg.lstsq(Cxx, Cxy, check_finite=False)[0]  # Cxx^-1 Cxy
        Vy = self.Vy_
        for t in range(1, stops[-1] + 1):
            Vx = full_rank @ Vy
            Vy = linalg.qr(Cxy.T @ Vx, mode="economic", check_finite=False)[0]
            converged = np.linalg.norm(full_rank @ Vy - Vx) <= self.tol * np.linalg.norm(Vx)
            if converged or t in stops:
                self.Vx_, self.Vy_, self.t_ = Vx, Vy, t
                yield t
            if converged:
                return


def _add_to_inverse(inverse, v):
    """Turn S^-1 (m, m) into (S + vv')^-1, in place (Sherman and Morrison, 1950)."""
    moved = inverse @ v
    inverse -= np.outer(moved, moved / (1 + v @ moved))

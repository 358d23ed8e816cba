"""Iterative quadratic minimum distance, the algorithm for RRMSE that the paper compares with."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import linalg

from biorrr.analysis.algorithms.estimator import OnlineFilterLearner, learner
from biorrr.analysis.algorithms.kernel import add_outer, add_product, kernel, set_product
from biorrr.analysis.checks import ridge_pair
from biorrr.analysis.regression.covariance import covariances


@learner
class IQMD(OnlineFilterLearner):
    """Iterative quadratic minimum distance: the squared error, minimised in turn over each factor
    of Vy Vx'.

    Each minimisation is a least-squares problem with a closed solution (for s = 0)::

        Vx <- Cxx^-1 Cxy Vy (Vy'Vy)^-1
        Vy <- Cyx Vx (Vx'Cxx Vx)^-1

    Y. Hua and M. Nikpour, "Computing the reduced rank Wiener filter by IQMD", IEEE Signal
    Processing Letters 6(9), 240-242, 1999. It treats all k components at once. Here Vy is kept
    orthonormal: that changes neither the span of the filters nor the prediction, and without it the
    factors may grow and shrink against each other without bound.

    Offline, the covariances are those of all data. Online, they are running sums: each sample
    updates Cxy and the inverse of Cxx, in O(m^2) by the Sherman-Morrison formula, and one iteration
    follows. The ridge then arrives one input after another, m ridge e_i e_i' with the sample t = i
    (mod m), since adding ridge I to each sample's xx' (supplement E) would cost an inversion a
    sample; after every m samples the sums are the same.

    Parameters
    ----------
    ridge
        Added to Cxx; of a pair the first.
    online
        One sample after another, or all data in each iteration.
    steps
        How many samples, in shuffled passes through the data, or iterations. By default one pass,
        or 1000 iterations.
    tol
        Offline, learning ends when the norm of an iteration's change of Vx is this share of Vx's.
    random_state
        Seed of initial weights and of the order of samples.

    Attributes
    ----------
    Vx_, Vy_ : (m, k), (n, k)
        Filters, and orthonormal weights from their output to the prediction Vy Vx'x.
    t_
        Samples presented so far, or iterations done.

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.
    """

    s: ClassVar = 0.0
    online: bool = True
    steps: int | None = None
    tol: float = 1e-8

    def _total_steps(self, n_samples):
        if self.steps is None:
            return n_samples if self.online else 1000
        return super()._total_steps(n_samples)

    def _begin(self, X, Y, rng):
        m, n = X.shape[1], Y.shape[1]
        self.Vx_ = np.zeros((m, self.k))
        self.Vy_ = linalg.qr(rng.standard_normal((n, self.k)), mode="economic")[0]
        # Before the first m samples the sum of xx' has no inverse. A sample's worth in each
        # direction gives it one, and is soon outweighed.
        worth = np.square(X).mean() + ridge_pair(self.ridge_)[0] or 1.0
        self._inverse = np.eye(m) / worth  # of the sum of xx' + ridge I
        self._cross = np.zeros((m, n))  # the sum of xy'
        self.t_ = 0

    def _present(self, X, Y, order):
        Vx, Vy = self.Vx_.T.copy(), self.Vy_.T.copy()
        _present(
            X, Y, order, self.t_, ridge_pair(self.ridge_)[0], self._inverse, self._cross, Vx, Vy
        )
        self.Vx_, self.Vy_ = Vx.T, Vy.T
        self.t_ += len(order)

    def _learn(self, X, Y, stops, rng):
        if self.online:
            yield from super()._learn(X, Y, stops, rng)
            return
        self._begin(X, Y, rng)
        Vx, Vy, t, converged = self.Vx_, self.Vy_.copy(), 0, False
        _iterate(np.eye(len(Vx), len(Vy)), np.eye(len(Vx), len(Vy)), Vy, 0, 0, 0.0)  # compiles
        yield 0
        Cxx, Cxy, _ = covariances(X, Y, self.ridge_)
        # Cxx^-1 Cxy
        full_rank = np.ascontiguousarray(linalg.lstsq(Cxx, Cxy, check_finite=False)[0])
        for stop in stops:
            Vx, Vy, t, converged = _iterate(full_rank, Cxy, Vy, t, stop, self.tol)
            self.Vx_, self.Vy_, self.t_ = Vx, Vy, t
            yield t
            if converged:
                return


@kernel
def _iterate(full_rank, Cxy, Vy, t, stop, tol):
    """Iterate from step t to ``stop`` or convergence; returns Vx (m, k), Vy (n, k), the step, and
    whether converged.

    full_rank (m, n) is Cxx^-1 Cxy.
    """
    Vx, converged = full_rank @ Vy, False
    while t < stop and not converged:
        Vy = np.ascontiguousarray(np.linalg.qr(Cxy.T @ Vx)[0])
        ahead = full_rank @ Vy
        converged = np.linalg.norm(ahead - Vx) <= tol * np.linalg.norm(Vx)
        t += 1
        if t < stop and not converged:
            Vx = ahead
    return Vx, Vy, t, converged


@kernel
def _present(X, Y, order, t, ridge_x, inverse, cross, Vx, Vy):
    """Online iterations for the samples ``order`` of X (n_samples, m) and Y (n_samples, n), from
    sample count t on.

    Changes in place inverse (m, m), that of the sum of xx' + ridge I, by the formula of Sherman and
    Morrison (1950), cross (m, n), the sum of xy', and Vx (k, m) and Vy (k, n), transposed.
    """
    k, m = Vx.shape
    moved, target = np.empty(m), np.empty((k, m))
    for row in order:
        x, y = X[row], Y[row]
        # (S + vv')^-1 = S^-1 - S^-1 v v' S^-1 / (1 + v' S^-1 v), for the sample and for the ridge
        # of one input
        set_product(moved, inverse, x)
        size = 1.0
        for i in range(m):
            size += x[i] * moved[i]
        add_outer(inverse, -1 / size, moved, moved)
        if ridge_x > 0:
            moved[:] = inverse[:, t % m]
            add_outer(inverse, -1 / (1 / (m * ridge_x) + moved[t % m]), moved, moved)
        add_outer(cross, 1.0, x, y)

        for j in range(k):
            set_product(target[j], cross, Vy[j])
            set_product(Vx[j], inverse, target[j])
        Vy[:] = 0.0
        add_product(Vy, 1.0, Vx, cross)
        Vy[:] = np.linalg.qr(Vy.T)[0].T
        t += 1

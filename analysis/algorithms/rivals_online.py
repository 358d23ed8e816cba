"""Online algorithms that the paper compares with: IQMD for RRMSE, and MSG for CCA."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils.extmath import svd_flip

from biorrr.analysis.algorithms.estimator import FilterLearner, learner
from biorrr.analysis.algorithms.kernel import add_outer, add_product, kernel, set_product
from biorrr.analysis.checks import ridge_pair
from biorrr.analysis.regression.exact_solution import covariances, pad, symmetric_power
from biorrr.errors import InputError


@learner
class IQMD(FilterLearner):
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
        self.Vy_ = np.ascontiguousarray(
            linalg.qr(rng.standard_normal((n, self.k)), mode="economic")[0]
        )
        # Before the first m samples the sum of xx' has no inverse. A sample's worth in each
        # direction gives it one, and is soon outweighed.
        worth = np.square(X).mean() + ridge_pair(self.ridge_)[0] or 1.0
        self._inverse = np.eye(m) / worth  # of the sum of xx' + ridge I
        self._cross = np.zeros((m, n))  # the sum of xy'

    def _present(self, X, Y, order):
        Vx, Vy, ridge_x = self.Vx_.T.copy(), self.Vy_.T.copy(), ridge_pair(self.ridge_)[0]
        _present(X, Y, order, self.t_, ridge_x, self._inverse, self._cross, Vx, Vy)
        self.Vx_, self.Vy_ = Vx.T, Vy.T

    def _iterations(self, X, Y, rng):
        Cxx, Cxy, _ = covariances(X, Y, self.ridge_)
        full_rank = np.ascontiguousarray(linalg.lstsq(Cxx, Cxy, check_finite=False)[0])
        return partial(_iterate, full_rank, Cxy, self.Vx_, self.Vy_, self.tol)


@kernel
def _iterate(full_rank, Cxy, Vx, Vy, tol, t, stop):
    """Iterate from step t to ``stop`` or convergence; returns the step, and whether converged.

    Changes in place Vx (m, k) and Vy (n, k). full_rank (m, n) is Cxx^-1 Cxy.
    """
    ahead, converged = full_rank @ Vy, False
    while t < stop and not converged:
        Vx[:] = ahead
        Vy[:] = np.linalg.qr(Cxy.T @ Vx)[0]
        ahead = full_rank @ Vy
        converged = np.linalg.norm(ahead - Vx) <= tol * np.linalg.norm(Vx)
        t += 1
    return t, converged


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


_REFRESH = 0.01  # the whitening is computed anew when the number of samples has grown by this share
_NEGLIGIBLE = 1e-12  # singular values that the projection has brought to zero


@learner
class MSGCCA(FilterLearner):
    """MSG-CCA: stochastic gradient ascent in M = Ux Uy', the relaxed product of whitened directions
    (s = 1).

    After a warm-up that only estimates covariances, each sample moves M (m, n) along the product of
    its whitened x and y, and projects it back to where the singular values are at most 1 and sum to
    at most k::

        M <- P(M + eta_t Cxx^-1/2 x y' Cyy^-1/2),  eta_t = 0.1 / sqrt(t - 100 + 1)

    R. Arora, T. V. Marinov, P. Mianjy and N. Srebro, "Stochastic approximation for canonical
    correlation analysis", NIPS 2017. It treats all k components at once. M is held by its singular
    vectors, which a sample changes by a decomposition of the size of M's rank; the filters are the
    k leading left ones of the last M, unwhitened. Cxx and Cyy are running means, and their inverse
    roots are computed anew whenever the number of samples has grown by 1 %: they change little in
    between, and would cost O(m^3 + n^3) a sample.

    Parameters
    ----------
    eta0
        Rate of the first step after the warm-up.
    warmup
        Samples, at the beginning, that only estimate covariances.

    Attributes
    ----------
    Vx_, Wy_ : (m, k), (n, k)
        Directions of x and of y, white in the running Cxx and Cyy; zero as long as M has no such
        rank.

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.
    """

    s: ClassVar = 1.0
    eta0: float = 0.1
    warmup: int = 100
    steps: int = 20_000

    def _begin(self, X, Y, rng):
        m, n = X.shape[1], Y.shape[1]
        self.Vx_, self.Wy_ = np.zeros((m, self.k)), np.zeros((n, self.k))
        self._sums = np.zeros((m, m)), np.zeros((n, n))  # of xx' and of yy'
        self._roots = tuple(map(np.eye, (m, n)))  # Cxx^-1/2, Cyy^-1/2
        self._fresh_until = 0
        # M = U diag(sigma) V'
        self._U, self._sigma, self._V = np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0))
        self._follow(X[:0], Y[:0], np.zeros(0))  # compiles

    def _max_rank(self) -> int:
        return min(len(self.Vx_), len(self.Wy_))

    def _follow(self, x, y, eta):
        M = self._U, self._sigma, self._V
        self._U, self._sigma, self._V = _follow(x, y, eta, self.k, self._max_rank(), *M)

    def _present(self, X, Y, order):
        t = self.t_
        while len(order):
            if t == self._fresh_until and t >= self.warmup:
                self._roots = tuple(
                    symmetric_power(S / t + ridge * np.eye(len(S)), -0.5)
                    for S, ridge in zip(self._sums, ridge_pair(self.ridge_), strict=True)
                )
            if t == self._fresh_until:
                self._fresh_until = max(self.warmup, t + 1 + int(_REFRESH * t))
            stretch, order = np.split(order, [self._fresh_until - t])
            x, y = X[stretch], Y[stretch]
            if t >= self.warmup:
                eta = self.eta0 / np.sqrt(np.arange(t, t + len(x)) - self.warmup + 1)
                self._follow(x @ self._roots[0], y @ self._roots[1], eta)
            for S, rows in zip(self._sums, (x, y), strict=True):
                S += rows.T @ rows
            t += len(x)
        # Rounding decides the signs of singular vectors: filters have those of their largest entry.
        U, V = svd_flip(self._U, self._V.T)
        self.Vx_ = pad(self._roots[0] @ U, self.k)
        self.Wy_ = pad(self._roots[1] @ V.T, self.k)


@learner
class CappedMSG(MSGCCA):
    """Capped MSG-CCA: :class:`MSGCCA` with M's rank capped, so that a sample costs O((m + n) cap^2
    + cap^3).

    The projection first drops all but the ``cap`` largest singular values (Arora et al. 2017, the
    practical variant they and the paper compare with).

    Parameters
    ----------
    cap
        Largest rank of M; by default 6k, as in the paper's supplement E.
    k, ridge, eta0, warmup, steps, snapshots, random_state
        As in :class:`MSGCCA`.
    """

    cap: int | None = None

    def _max_rank(self) -> int:
        cap = 6 * self.k if self.cap is None else self.cap
        if cap < self.k:
            raise InputError(
                f"cap: must be at least k = {self.k} (got {cap}); by default it is 6 k"
            )
        return min(super()._max_rank(), cap)


@kernel
def _follow(X, Y, eta, k, max_rank, U, sigma, V):
    """Move M = U diag(sigma) V' along x y' for each row of the whitened X (t, m) and Y (t, n), at
    rates eta (t,).

    Returned are the new U (m, r), sigma (r,), descending, and V (n, r).
    """
    for t in range(len(eta)):
        x, y, r = X[t], Y[t], len(sigma)
        # x and y within the spans of U and V, and the one direction beyond
        px, py = U.T @ x, V.T @ y
        bx, by = x - U @ px, y - V @ py
        nx, ny = np.sqrt(np.sum(bx * bx)), np.sqrt(np.sum(by * by))
        core = eta[t] * np.outer(np.append(px, nx), np.append(py, ny))
        for j in range(r):
            core[j, j] += sigma[j]
        P, sigma, Qt = np.linalg.svd(core)
        sigma = sigma[:max_rank]
        # The projection: sigma <- min(max(sigma - shrink, 0), 1), with the least shrink that makes
        # their sum <= k
        shrink, above = 0.0, 0.0
        if np.sum(np.minimum(sigma, 1.0)) > k:
            above = sigma[0]
            for _ in range(60):
                middle = (shrink + above) / 2
                if np.sum(np.minimum(np.maximum(sigma - middle, 0.0), 1.0)) > k:
                    shrink = middle
                else:
                    above = middle
        sigma = np.minimum(np.maximum(sigma - above, 0.0), 1.0)
        sigma = sigma[sigma > _NEGLIGIBLE]
        wider = np.empty((len(x), r + 1))
        wider[:, :r], wider[:, r] = U, bx / max(nx, 1e-300)
        U = wider @ np.ascontiguousarray(P[:, : len(sigma)])
        wider = np.empty((len(y), r + 1))
        wider[:, :r], wider[:, r] = V, by / max(ny, 1e-300)
        V = wider @ np.ascontiguousarray(Qt[: len(sigma)].T)
    return U, sigma, V

"""Matrix stochastic gradient for CCA, plain and capped, the online algorithm for CCA that the paper
compares with.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from biorrr.analysis.algorithms.estimator import OnlineFilterLearner, learner
from biorrr.analysis.algorithms.kernel import kernel
from biorrr.analysis.checks import ridge_pair
from biorrr.analysis.regression.covariance import symmetric_power
from biorrr.errors import InputError

_REFRESH = 0.01  # the whitening is computed anew when the number of samples has grown by this share
_NEGLIGIBLE = 1e-12  # singular values that the projection has brought to zero


@learner
class MSGCCA(OnlineFilterLearner):
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

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.OnlineFilterLearner`.
    """

    s: ClassVar = 1.0
    eta0: float = 0.1
    warmup: int = 100
    steps: int = 20_000

    def _begin(self, X, Y, rng):
        sizes = X.shape[1], Y.shape[1]
        self.Vx_, self.Wy_ = (np.zeros((size, self.k)) for size in sizes)
        self._sums = tuple(np.zeros((size, size)) for size in sizes)  # of xx' and of yy'
        self._roots = tuple(np.eye(size) for size in sizes)  # Cxx^-1/2, Cyy^-1/2
        self._U, self._V = (np.zeros((size, 0)) for size in sizes)  # M = U diag(sigma) V'
        self._sigma = np.zeros(0)
        self._fresh_until = self.t_ = 0
        _follow(
            X[:0], Y[:0], np.zeros(0), self.k, self._max_rank(), self._U, self._sigma, self._V
        )  # compiles

    def _max_rank(self) -> int:
        return min(len(self.Vx_), len(self.Wy_))

    def _present(self, X, Y, order):
        while len(order):
            if self.t_ == self._fresh_until and self.t_ >= self.warmup:
                self._roots = tuple(
                    symmetric_power(S / self.t_ + ridge * np.eye(len(S)), -0.5)
                    for S, ridge in zip(self._sums, ridge_pair(self.ridge_), strict=True)
                )
            if self.t_ == self._fresh_until:
                self._fresh_until = max(self.warmup, self.t_ + 1 + int(_REFRESH * self.t_))
            stretch, order = np.split(order, [self._fresh_until - self.t_])
            x, y = X[stretch], Y[stretch]
            if self.t_ >= self.warmup:
                eta = self.eta0 / np.sqrt(np.arange(self.t_, self.t_ + len(x)) - self.warmup + 1)
                state = self._U, self._sigma, self._V
                whitened = x @ self._roots[0], y @ self._roots[1]
                self._U, self._sigma, self._V = _follow(
                    *whitened, eta, self.k, self._max_rank(), *state
                )
            for S, rows in zip(self._sums, (x, y), strict=True):
                S += rows.T @ rows
            self.t_ += len(x)
        rank = min(self.k, len(self._sigma))
        self.Vx_, self.Wy_ = np.zeros_like(self.Vx_), np.zeros_like(self.Wy_)
        self.Vx_[:, :rank] = self._roots[0] @ self._U[:, :rank]
        self.Wy_[:, :rank] = self._roots[1] @ self._V[:, :rank]


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

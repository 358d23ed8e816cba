"""Streaming algorithms for CCA that are younger than those of the paper: Gen-Oja, and Bio-CCA that
finds its rank.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.algorithms.estimator import OnlineFilterLearner, learner
from biorrr.analysis.algorithms.kernel import kernel
from biorrr.analysis.checks import ridge_pair
from biorrr.errors import InputError


@learner
class _ScaledViews(OnlineFilterLearner):
    """Base of learners to which both views, with their ridge, are presented with a mean square
    length of 1 (s = 1).

    A subclass has `_start` and `_advance`.
    """

    s: ClassVar = 1.0
    steps: int = 100_000

    def _begin(self, X, Y, rng):
        powers = (
            np.square(view).sum(axis=1).mean() + view.shape[1] * ridge
            for view, ridge in zip((X, Y), ridge_pair(self.ridge_), strict=True)
        )
        self._gains = [1 / math.sqrt(power) if power else 1.0 for power in powers]
        self._start(X.shape[1], Y.shape[1], rng)
        self.t_ = 0

    def _present(self, X, Y, order):
        gx, gy = self._gains
        Vx, Wy = self._advance(
            gx * X, gy * Y, order, np.square(self._gains) * ridge_pair(self.ridge_)
        )
        self.Vx_, self.Wy_ = gx * Vx, gy * Wy
        self.t_ += len(order)

    def _start(self, m: int, n: int, rng: np.random.RandomState) -> None:
        """Set the weights of ``m`` and ``n`` inputs before the first sample."""
        raise NotImplementedError

    def _advance(
        self, X: NDArray, Y: NDArray, order: NDArray, ridges: NDArray
    ) -> tuple[NDArray, NDArray]:
        """Learn from the samples ``order`` of scaled views; return their directions, (m, k) and (n,
        k).
        """
        raise NotImplementedError


@learner
class GenOja(_ScaledViews):
    """Gen-Oja: Oja's rule on a running estimate of the product of covariances that CCA needs (s =
    1).

    With both views in one vector, canonical directions are the leading eigenvectors V of B^-1 A,
    where B holds Cxx and Cyy and A holds Cxy and Cyx. W follows B^-1 A V by least mean squares, and
    V follows W::

        dWx = -alpha ((xx' + ridge_x I) Wx - xy' Vy),  dWy = -alpha ((yy' + ridge_y I) Wy - yx' Vx)
        V <- orthonormal columns of V + beta_t W,      beta_t = beta0 / (1 + t/N)

    K. Bhatia, A. Pacchiano, N. Flammarion, P. L. Bartlett and M. I. Jordan, "Gen-Oja: a simple and
    efficient algorithm for streaming generalized eigenvector computation", NeurIPS 2018, for one
    component; several are kept apart here by a QR decomposition. A sample costs O((m + n) k^2).
    Both views, with their ridge, are scaled to a mean square length of 1.

    W follows slowly where a covariance is ill-conditioned. With the default rates, 8 and 6 inputs
    and correlations of 0.9 and 0.7 (four shapes of spectrum, ten seeds each), the excess is at most
    0.1 % up to a condition number of 30, 1.1 % at 100, and 38 % at 300 and 1000.

    Parameters
    ----------
    alpha
        Rate of W, below 2.
    beta0, N
        Rate of V, and the samples after which it has halved; with N = inf it follows data that
        change.

    Attributes
    ----------
    Vx_, Wy_ : (m, k), (n, k)
        Directions of x and of y.

    Other parameters and attributes as in
    :class:`~biorrr.analysis.algorithms.estimator.OnlineFilterLearner`.
    """

    alpha: float = 0.2
    beta0: float = 0.05
    N: float = 1000.0

    def _start(self, m, n, rng):
        self._V, _ = np.linalg.qr(rng.standard_normal((m + n, self.k)))
        self._W = np.zeros_like(self._V)

    def _advance(self, X, Y, order, ridges):
        V = np.ascontiguousarray(self._V)
        self._V = _gen_oja(X, Y, order, self.t_, self.alpha, self.beta0, self.N, ridges, self._W, V)
        m = X.shape[1]
        return self._V[:m], self._V[m:]


@learner
class AdaptiveBioCCA(_ScaledViews):
    """Bio-CCA with output whitening, which uses as many of its k outputs as there are correlations
    (s = 1).

    For each sample, with a = Wx'x, b = Wy'y::

        z = (P P' + alpha I)^-1 (a + b),  n = P'z,   alpha = 1 + threshold
        dWx = 2 eta x (z - a)',  dWy = 2 eta y (z - b)',  dP = eta_p (z n' - P)

    It ends where z is white in as many directions as canonical correlations exceed the threshold,
    and silent in the others; P P' then has the eigenvalues correlation - threshold. The ridge is
    what noise of x and y would do.

    D. Lipshutz, Y. Bahroun, S. Golkar, A. M. Sengupta and D. B. Chklovskii, "A biologically
    plausible neural network for multichannel canonical correlation analysis", Neural Computation 33
    (2021). Both views, with their ridge, are scaled to a mean square length of 1.

    Directions of little variance are learned slowly. With the default rates, 8 and 6 inputs and
    correlations of 0.9 and 0.7 (four shapes of spectrum, ten seeds each), the excess is at most 1 %
    up to a condition number of 300, and 8 % at
    1000. The power of an output after `fit` is 1, with a standard deviation of 0.09 over seeds.

    Parameters
    ----------
    threshold
        Canonical correlation above which a direction is used, from 0 to 1.
    eta0, lateral, N
        Rates of Wx and Wy and of P, and the samples after which they have halved; with N = inf they
        follow data that change.

    Attributes
    ----------
    Vx_, Wy_ : (m, k), (n, k)
        Directions of x and of y: z = Vx_'x + Wy_'y.
    rank_
        Number of directions in use, at most k.

    Other parameters and attributes as in
    :class:`~biorrr.analysis.algorithms.estimator.OnlineFilterLearner`.
    """

    threshold: float = 0.0
    eta0: float = 0.3
    lateral: float = 0.1
    N: float = 5000.0

    def _start(self, m, n, rng):
        if not 0 <= self.threshold < 1:
            raise InputError(f"threshold: must be at least 0 and below 1 (got {self.threshold})")
        self._Wx, self._Wy = (rng.standard_normal((size, self.k)) for size in (m, n))
        self._P = np.eye(self.k)

    def _advance(self, X, Y, order, ridges):
        alpha, rates = 1 + self.threshold, (self.eta0, self.lateral, self.N)
        _adaptive(X, Y, order, self.t_, alpha, rates, ridges, self._Wx, self._Wy, self._P)
        square = self._P @ self._P.T
        self.rank_ = int((np.linalg.eigvalsh(square) > _SILENT).sum())
        lateral = np.linalg.inv(square + alpha * np.eye(self.k))
        return self._Wx @ lateral, self._Wy @ lateral


_SILENT = 0.01  # eigenvalue of PP' below which a direction is not used


@kernel
def _gen_oja(X, Y, order, t, alpha, beta0, N, ridges, W, V):
    """Run Gen-Oja for the samples ``order``; change W (m + n, k) in place and return the new V (m +
    n, k).
    """
    m = X.shape[1]
    for row in order:
        x, y = X[row], Y[row]
        missed_x, missed_y = W[:m].T @ x - V[m:].T @ y, W[m:].T @ y - V[:m].T @ x
        W[:m] -= alpha * (np.outer(x, missed_x) + ridges[0] * W[:m])
        W[m:] -= alpha * (np.outer(y, missed_y) + ridges[1] * W[m:])
        V = np.ascontiguousarray(np.linalg.qr(V + beta0 / (1 + t / N) * W)[0])
        t += 1
    return V


@kernel
def _adaptive(X, Y, order, t, alpha, rates, ridges, Wx, Wy, P):
    """Run adaptive Bio-CCA for the samples ``order``; change Wx (m, k), Wy (n, k) and P (k, k) in
    place.
    """
    for row in order:
        x, y, falling = X[row], Y[row], 1 / (1 + t / rates[2])
        inverse = np.linalg.inv(P @ P.T + alpha * np.eye(len(P)))
        a, b = Wx.T @ x, Wy.T @ y
        z = inverse @ (a + b)
        Vx, Vy = Wx @ inverse, Wy @ inverse
        power = np.outer(z, z) + ridges[0] * (Vx.T @ Vx) + ridges[1] * (Vy.T @ Vy)
        eta = 2 * falling * rates[0]
        Wx += eta * (np.outer(x, z - a) + ridges[0] * (Vx - Wx))
        Wy += eta * (np.outer(y, z - b) + ridges[1] * (Vy - Wy))
        P += falling * rates[1] * (power @ P - P)
        t += 1

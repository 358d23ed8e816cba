"""CCALin, one of the offline algorithms for CCA that the paper compares with."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import linalg

from biorrr.analysis.algorithms.estimator import FilterLearner, learner
from biorrr.analysis.algorithms.kernel import kernel
from biorrr.analysis.regression.covariance import covariances, symmetric_power

_MIN_CONDITION = (
    1e-8  # of a covariance: directions with less than this share of the variance are left alone
)


@learner
class CCALin(FilterLearner):
    """CCALin: inexact power iterations on CCA's generalized eigenproblem (supplement A; s = 1).

    With A = [0 Cxy; Cyx 0] and B = diag(Cxx, Cyy), an iteration takes W = [Wx; Wy] of 2k columns to
    an approximate minimum of Tr(1/2 W'BW - W'A W_t), found by accelerated gradient descent from W_t
    (W_t'BW_t)^-1 (W_t'A W_t), and makes it orthonormal in B. A's eigenvalues come in pairs +-rho,
    and so 2k columns find the k leading canonical directions of x and of y; a random projection
    then takes the 2k to k.

    R. Ge, C. Jin, S. Kakade, P. Netrapalli and A. Sidford, "Efficient algorithms for large-scale
    generalized eigenvector computation and canonical correlation analysis", ICML 2016 (GenELinK and
    CCALin). All k components are found at once. The accelerated method is Nesterov's for strongly
    convex functions, with the extreme eigenvalues of the covariances for its constants.

    Parameters
    ----------
    gradient_steps
        Steps of gradient descent in each iteration.
    steps
        How many iterations at most.
    tol
        Learning ends when the norm of A W - B W Gamma, zero for eigenvectors, is this share of that
        of A W.
    random_state
        Seed of initial weights and of the projection.

    Attributes
    ----------
    Vx_, Wy_ : (m, k), (n, k)
        Directions of x and of y, white in Cxx and in Cyy.

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.
    """

    s: ClassVar = 1.0
    gradient_steps: int = 20
    steps: int = 1000
    tol: float = 1e-6

    def _learn(self, X, Y, stops, rng):
        m, n, k = X.shape[1], Y.shape[1], self.k
        Wx, Wy = rng.standard_normal((m, 2 * k)), rng.standard_normal((n, 2 * k))
        projection = rng.standard_normal((2 * k, k))
        self.Vx_, self.Wy_ = Wx @ projection, Wy @ projection
        _iterate(
            np.eye(m), np.zeros((m, n)), np.eye(n), Wx, Wy, np.ones((2, 2)), 1, 0.0
        )  # compiles
        yield 0
        Cxx, Cxy, Cyy = covariances(X, Y, self.ridge_)
        spectra = np.array([linalg.eigvalsh(C)[[0, -1]] for C in (Cxx, Cyy)])
        t, converged = 0, False
        for stop in stops:
            while t < stop and not converged:
                Wx, Wy, converged = _iterate(
                    Cxx, Cxy, Cyy, Wx, Wy, spectra, self.gradient_steps, self.tol
                )
                t += 1
            Vx, Vy = Wx @ projection, Wy @ projection
            self.Vx_ = Vx @ symmetric_power(Vx.T @ Cxx @ Vx, -0.5)
            self.Wy_ = Vy @ symmetric_power(Vy.T @ Cyy @ Vy, -0.5)
            yield t
            if converged:
                return

    def _passes(self, t, n_samples):
        # The products with A and B, from which the first gradient follows, and the other gradients.
        return float(t * self.gradient_steps)


@kernel
def _iterate(Cxx, Cxy, Cyy, Wx, Wy, spectra, gradient_steps, tol):
    """One iteration from Wx (m, 2k) and Wy (n, 2k); returns both, and whether the start was a
    solution up to ``tol``.

    spectra (2, 2) are the smallest and the largest eigenvalue of Cxx (m, m) and of Cyy (n, n).
    """
    size = Wx.shape[1]
    eigenvalues, U = np.linalg.eigh(Wx.T @ (Cxx @ Wx) + Wy.T @ (Cyy @ Wy))
    norm = np.zeros((size, size))  # (W'BW)^-1/2, without the directions that W does not have
    for j in range(size):
        if eigenvalues[j] > eigenvalues[-1] * size * 2.3e-16:
            norm += np.outer(U[:, j], U[:, j]) / np.sqrt(eigenvalues[j])
    Wx, Wy = Wx @ norm, Wy @ norm
    AWx, AWy = Cxy @ Wy, Cxy.T @ Wx
    Gamma = Wx.T @ AWx + Wy.T @ AWy
    residual_x, residual_y = AWx - (Cxx @ Wx) @ Gamma, AWy - (Cyy @ Wy) @ Gamma
    residual = np.sum(residual_x * residual_x) + np.sum(residual_y * residual_y)
    if residual <= tol**2 * (np.sum(AWx * AWx) + np.sum(AWy * AWy)):
        return Wx, Wy, True
    Wx = _descend(Cxx, AWx, Wx @ Gamma, spectra[0, 0], spectra[0, 1], gradient_steps)
    Wy = _descend(Cyy, AWy, Wy @ Gamma, spectra[1, 0], spectra[1, 1], gradient_steps)
    return Wx, Wy, False


@kernel
def _descend(C, B, W, smallest, largest, steps):
    """Approach the minimum C^-1 B of Tr(1/2 W'CW - W'B) from ``W``, all (m, 2k), by Nesterov's
    accelerated descent.

    ``smallest`` and ``largest`` are the extreme eigenvalues of ``C`` (m, m).
    """
    root = np.sqrt(max(smallest, _MIN_CONDITION * largest) / largest)
    momentum = (1 - root) / (1 + root)
    ahead = W
    for _ in range(steps):
        W, previous = ahead - (C @ ahead - B) / largest, W
        ahead = W + momentum * (W - previous)
    return W

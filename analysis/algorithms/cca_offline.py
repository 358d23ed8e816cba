"""Offline algorithms for CCA that the paper compares with: CCALin and the sample average
approximation.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from biorrr.analysis.algorithms.estimator import FilterLearner, learner
from biorrr.analysis.algorithms.kernel import kernel
from biorrr.analysis.checks import ridge_pair
from biorrr.analysis.regression.exact_solution import covariances, symmetric_power

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

    online = False

    def _begin(self, X, Y, rng):
        m, n, k = X.shape[1], Y.shape[1], self.k
        self._Wx, self._Wy = rng.standard_normal((m, 2 * k)), rng.standard_normal((n, 2 * k))
        self._projection = rng.standard_normal((2 * k, k))
        self.Vx_, self.Wy_ = self._Wx @ self._projection, self._Wy @ self._projection

    def _iterations(self, X, Y, rng):
        Cxx, Cxy, Cyy = covariances(X, Y, self.ridge_)
        spectra = np.array([linalg.eigvalsh(C)[[0, -1]] for C in (Cxx, Cyy)])
        known = Cxx, Cxy, Cyy, self._Wx, self._Wy, spectra, self.gradient_steps, self.tol

        def iterate(t: int, stop: int) -> tuple[int, bool]:
            t, converged = _iterate(*known, t, stop)
            self.Vx_ = white(self._Wx @ self._projection, Cxx)
            self.Wy_ = white(self._Wy @ self._projection, Cyy)
            return t, converged

        return iterate

    def _passes(self, n_samples):
        # The products with A and B, from which the first gradient follows, and the other gradients.
        return float(self.t_ * self.gradient_steps)


def white(V: NDArray, C: NDArray) -> NDArray:
    """Return directions ``V`` (m, k) that are orthonormal in the metric ``C`` (m, m)."""
    return V @ symmetric_power(V.T @ C @ V, -0.5)


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


@kernel
def _iterate(Cxx, Cxy, Cyy, Wx, Wy, spectra, gradient_steps, tol, t, stop):
    """Iterate from step t to ``stop`` or until a step starts from a solution up to ``tol``; returns
    the step, and whether it did.

    Changes in place Wx (m, 2k) and Wy (n, 2k). spectra (2, 2) are the smallest and the largest
    eigenvalue of Cxx (m, m) and of Cyy (n, n).
    """
    size, converged = Wx.shape[1], False
    while t < stop and not converged:
        eigenvalues, U = np.linalg.eigh(Wx.T @ (Cxx @ Wx) + Wy.T @ (Cyy @ Wy))
        norm = np.zeros((size, size))  # (W'BW)^-1/2, without the directions that W does not have
        for j in range(size):
            if eigenvalues[j] > eigenvalues[-1] * size * 2.3e-16:
                norm += np.outer(U[:, j], U[:, j]) / np.sqrt(eigenvalues[j])
        Wx[:], Wy[:] = Wx @ norm, Wy @ norm
        AWx, AWy = Cxy @ Wy, Cxy.T @ Wx
        Gamma = Wx.T @ AWx + Wy.T @ AWy
        residual_x, residual_y = AWx - (Cxx @ Wx) @ Gamma, AWy - (Cyy @ Wy) @ Gamma
        residual = np.sum(residual_x * residual_x) + np.sum(residual_y * residual_y)
        converged = residual <= tol**2 * (np.sum(AWx * AWx) + np.sum(AWy * AWy))
        if not converged:
            Wx[:] = _descend(Cxx, AWx, Wx @ Gamma, spectra[0, 0], spectra[0, 1], gradient_steps)
            Wy[:] = _descend(Cyy, AWy, Wy @ Gamma, spectra[1, 0], spectra[1, 1], gradient_steps)
        t += 1
    return t, converged


# of a stochastic gradient, as a share of what the largest sample would allow; halved where it is
# too much
_STEP = 0.3
_ROUND = 5  # iterations between changes of the shift
_ACCURACY = 0.1  # by which each system's gradient is to shrink
_MAX_PASSES = 20  # through the data, for one system


@learner
class SAA(FilterLearner):
    """Sample average approximation of CCA: shift-and-invert power iterations on all data (s = 1).

    With A = [0 Cxy; Cyx 0] and B = diag(Cxx, Cyy) (supplement A), an iteration takes W = [Wx; Wy]
    to an approximate solution of (shift B - A) W_new = B W, found by stochastic gradients with
    variance reduction (SVRG). The shift starts at 1 + ``gap``, above every canonical correlation
    rho, and moves down by half the distance that the iterations say it has to rho_1, until that
    distance is about ``gap``: the nearer the shift, the faster the power iterations and the harder
    the systems.

    C. Gao, D. Garber, N. Srebro, J. Wang and W. Wang, "Stochastic canonical correlation analysis",
    Journal of Machine Learning Research 20(167), 1-46, 2019. It treats the first component; here k
    > 1 is a block of k columns, kept orthonormal in B. The eigenvalues 1/(shift - rho) of the k
    leading correlations are the largest, those of their mirror images -rho the smallest, so k
    columns suffice.

    Parameters
    ----------
    gap
        Distance to rho_1 at which the shift stays; of the order of the gap between rho_k and
        rho_k+1.
    steps
        How many iterations at most; each takes one or more passes through the data.
    tol
        Learning ends when the norm of A W - B W Gamma, zero for eigenvectors, is this share of that
        of A W.
    random_state
        Seed of initial weights and of the order of samples.

    Attributes
    ----------
    Vx_, Wy_ : (m, k), (n, k)
        Directions of x and of y, white in Cxx and in Cyy.
    shift_
        Where the shift stayed.

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.
    """

    s: ClassVar = 1.0
    gap: float = 0.05
    steps: int = 300
    tol: float = 1e-4

    online = False

    def _begin(self, X, Y, rng):
        m, n = X.shape[1], Y.shape[1]
        self._W = rng.standard_normal((m + n, self.k))
        self.Vx_, self.Wy_ = np.split(self._W, [m])
        self.shift_, self._step, self._settled = 1 + self.gap, _STEP, False
        self._gone_through = 1  # products with the first W; those of others follow from gradients
        _sweep(X, Y, np.arange(0), self.shift_, 0.0, 0.0, np.ones(2), self._W.T.copy())  # compiles

    def _iterations(self, X, Y, rng):
        m, ridges = X.shape[1], ridge_pair(self.ridge_)
        Cxx, Cxy, Cyy = covariances(X, Y, self.ridge_)
        A = np.block([[np.zeros_like(Cxx), Cxy], [Cxy.T, np.zeros_like(Cyy)]])
        B = linalg.block_diag(Cxx, Cyy)
        largest = np.array([np.square(view).sum(axis=1).max() for view in (X, Y)]) + ridges
        largest[largest == 0] = 1.0
        self._W = white(self._W, B)

        def iterate(t: int, stop: int) -> tuple[int, bool]:
            converged = False
            while t < stop and not converged:
                W, system = self._W, self.shift_ * B - A
                BW = B @ W
                # Warm start: the solution within the span of W
                solution = W @ linalg.pinvh(W.T @ system @ W)
                gradient = system @ solution - BW
                target = _ACCURACY * linalg.norm(gradient)
                for _ in range(_MAX_PASSES):
                    order, steps = rng.permutation(len(X)), self._step / (self.shift_ * largest)
                    way = _sweep(X, Y, order, self.shift_, *ridges, steps, gradient.T.copy()).T
                    moved = system @ (solution + way) - BW
                    self._gone_through += 2  # sample by sample, and for the gradient at the end
                    if linalg.norm(moved) < linalg.norm(gradient):
                        solution, gradient = solution + way, moved
                    else:
                        self._step /= 2
                    if linalg.norm(gradient) <= target:
                        break
                t += 1
                if not self._settled and t % _ROUND == 0:
                    distance = 0.5 / linalg.eigvalsh(BW.T @ solution)[-1]
                    self.shift_ -= distance / 2
                    self._settled = distance <= self.gap
                W = self._W = white(solution, B)
                AW = A @ W
                converged = linalg.norm(AW - B @ W @ (W.T @ AW)) <= self.tol * linalg.norm(AW)
            self.Vx_, self.Wy_ = white(self._W[:m], Cxx), white(self._W[m:], Cyy)
            return t, converged

        return iterate

    def _passes(self, n_samples):
        return float(self._gone_through)


@kernel
def _sweep(X, Y, order, shift, ridge_x, ridge_y, steps, gradient):
    """One pass of SVRG through the samples ``order`` of X (n_samples, m) and Y (n_samples, n).

    gradient (k, m + n) is the mean gradient where the pass starts; returned is how far the pass
    goes from there, of the same shape. steps are those of the x and of the y part.
    """
    k, m, n = gradient.shape[0], X.shape[1], Y.shape[1]
    moved = np.zeros((k, m + n))
    for row in order:
        x, y = X[row], Y[row]
        for j in range(k):
            zx = zy = 0.0
            for i in range(m):
                zx += x[i] * moved[j, i]
            for i in range(n):
                zy += y[i] * moved[j, m + i]
            drive_x, drive_y = shift * zx - zy, shift * zy - zx
            for i in range(m):
                moved[j, i] -= steps[0] * (
                    drive_x * x[i] + shift * ridge_x * moved[j, i] + gradient[j, i]
                )
            for i in range(n):
                moved[j, m + i] -= steps[1] * (
                    drive_y * y[i] + shift * ridge_y * moved[j, m + i] + gradient[j, m + i]
                )
    return moved

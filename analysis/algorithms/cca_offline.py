"""Offline algorithms for CCA that the paper compares with: CCALin and the sample average
approximation.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
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

    def _passes(self, t, n_samples):
        return float(self._gone_through)

    def _learn(self, X, Y, stops, rng):
        m, k = X.shape[1], self.k
        ridges = ridge_pair(self.ridge_)
        W = rng.standard_normal((m + Y.shape[1], k))
        self.Vx_, self.Wy_, self.shift_ = W[:m], W[m:], 1 + self.gap
        self._gone_through = 1  # products with the first W; those of others follow from gradients
        _sweep(X, Y, np.arange(0), self.shift_, *ridges, (1.0, 1.0), W.T.copy())  # compiles
        yield 0
        Cxx, Cxy, Cyy = covariances(X, Y, self.ridge_)
        A = np.block([[np.zeros_like(Cxx), Cxy], [Cxy.T, np.zeros_like(Cyy)]])
        B = linalg.block_diag(Cxx, Cyy)
        largest = [
            np.square(Z).sum(axis=1).max() + ridge or 1.0
            for Z, ridge in zip((X, Y), ridges, strict=True)
        ]
        W = W @ symmetric_power(W.T @ B @ W, -0.5)
        step, settled = _STEP, False
        for t in range(1, stops[-1] + 1):
            Gamma, BW = W.T @ A @ W, B @ W
            # Warm start: the solution within the span of W
            solution = W @ linalg.pinvh(self.shift_ * np.eye(k) - Gamma)
            gradient = self.shift_ * (B @ solution) - A @ solution - BW
            target = _ACCURACY * np.linalg.norm(gradient)
            for _ in range(_MAX_PASSES):
                steps = step / (self.shift_ * largest[0]), step / (self.shift_ * largest[1])
                moved = (
                    solution
                    + _sweep(
                        X,
                        Y,
                        rng.permutation(len(X)),
                        self.shift_,
                        *ridges,
                        steps,
                        gradient.T.copy(),
                    ).T
                )
                moved_gradient = self.shift_ * (B @ moved) - A @ moved - BW
                self._gone_through += 2  # sample by sample, and for the gradient at the end
                if np.linalg.norm(moved_gradient) < np.linalg.norm(gradient):
                    solution, gradient = moved, moved_gradient
                else:
                    step /= 2
                if np.linalg.norm(gradient) <= target:
                    break
            if not settled and t % _ROUND == 0:
                distance = 0.5 / linalg.eigvalsh(BW.T @ solution)[-1]
                self.shift_ -= distance / 2
                settled = distance <= self.gap
            W = solution @ symmetric_power(solution.T @ B @ solution, -0.5)
            AW = A @ W
            converged = np.linalg.norm(AW - B @ W @ (W.T @ AW)) <= self.tol * np.linalg.norm(AW)
            if converged or t in stops:
                Vx, Wy = W[:m], W[m:]
                self.Vx_ = Vx @ symmetric_power(Vx.T @ Cxx @ Vx, -0.5)
                self.Wy_ = Wy @ symmetric_power(Wy.T @ Cyy @ Wy, -0.5)
                yield t
            if converged:
                return


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

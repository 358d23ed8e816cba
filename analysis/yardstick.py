"""The exact solution of reduced-rank regression, as a yardstick that scores any other (Sec. 3, supplement C and E)."""

from __future__ import annotations

import numpy as np
from biorrr.analysis.checks import check_k, check_pair, check_s, ridge_pair
from numpy.typing import ArrayLike, NDArray
from scipy import linalg


class Yardstick:
    """Everything about paired data that scoring filters needs, decomposed once.

    M = Cxx^-1/2 Cxy Sigma_s Cyx Cxx^-1/2 (supplement C) is never formed: its eigenvectors are left singular vectors of
    F = Cxx^-1/2 Cxy Sigma_s^1/2, and F is built from the singular vectors of X and Y themselves. Nothing is squared
    and nothing inverted, so the answer holds to rounding where the condition number of Cxx is that of X squared.

    Parameters
    ----------
    X : (n_samples, m)
    Y : (n_samples, n)
        Taken as given: centre them first if they should be centred.
    s
        0 is RRMSE, 1 is CCA.
    ridge
        Added to Cxx and Cyy; a pair sets them separately. With 0, inverses are pseudo-inverses.

    Attributes
    ----------
    eigenvalues : (min(m, n),)
        Eigenvalues of M, largest first.

    Examples
    --------
    >>> yardstick = Yardstick(X=[[1.0, 0], [-1, 0], [0, 1], [0, -1]], Y=[[2.0], [-2], [0], [0]])
    >>> print(f"{yardstick.optimum(k=1):.3f}")
    -2.000
    >>> print(f"{yardstick.excess([[3.0], [3.0]]):.3f}")
    0.500
    """

    def __init__(self, X: ArrayLike, Y: ArrayLike, s: float = 0.0, ridge: float | tuple[float, float] = 0.0):
        X, Y = check_pair(X, Y)
        ridge_x, ridge_y = ridge_pair(ridge)
        check_s(s)
        self.m, self.n, self.s, self.ridge = X.shape[1], Y.shape[1], s, (ridge_x, ridge_y)
        tolerance = len(X) * np.finfo(float).eps
        data = np.hstack([X, Y]) / np.sqrt(len(X))
        if len(data) > data.shape[1]:
            # The triangular factor has the same covariances as the data, and no more rows than there are channels.
            data = linalg.qr(data, mode="r", check_finite=False)[0][: data.shape[1]]
        Ux, dx, Wx = _axes(data[:, : self.m], tolerance, all_directions=ridge_x > 0)
        Uy, dy, Wy = _axes(data[:, self.m :], tolerance)
        root_x = np.sqrt(dx**2 + ridge_x)  # Cxx^1/2 and Sigma_s^-1/2, each along the axes of its own data
        root_y = np.sqrt(s * (dy**2 + ridge_y) + (1 - s))
        F = (dx / root_x)[:, None] * (Ux.T @ Uy) * (dy / root_y)
        # Padded to n columns, so that filters beyond the rank of Cyy are white too, though they predict nothing.
        A, singular_values, Bt = linalg.svd(_pad(F, self.n), full_matrices=False)
        B = Bt[:, : len(dy)].T
        self._root = root_x[:, None] * Wx.T  # root' root = Cxx + ridge I
        self._F = A * singular_values  # F up to a rotation from the right, which no score sees
        k_max = min(self.m, self.n)
        self.eigenvalues = _pad(singular_values**2, k_max)
        self._Vx = _pad((Wx / root_x) @ A, k_max)
        self._Vy = _pad((Wy / root_y) @ B * singular_values, k_max)
        self._readout = _pad((Wy * root_y) @ B * singular_values, k_max)

    def optimum(self, k: int) -> float:
        """Lowest objective of any k filters: minus the sum of M's k largest eigenvalues."""
        return -float(self.eigenvalues[: check_k(k, self.m, self.n)].sum())

    def Vx(self, k: int) -> NDArray:
        """Return the k best filters, (m, k), white in Cxx, in the order of M's eigenvalues; zero beyond Cxx's rank."""
        return self._Vx[:, : check_k(k, self.m, self.n)]

    def Vy(self, k: int) -> NDArray:
        """Return Sigma_s Cyx Vx, the distal weights at the optimum (supplement C), (n, k)."""
        return self._Vy[:, : check_k(k, self.m, self.n)]

    def readout(self, k: int) -> NDArray:
        """Return Cyx Vx, (n, k): the best prediction of y is ``readout @ Vx' x`` (Sec. 3.2, P = Sigma_s^-1 Vy Vx')."""
        return self._readout[:, : check_k(k, self.m, self.n)]

    def objective(self, Vx: ArrayLike) -> float | NDArray:
        """Return what the paper plots: -Tr Vx~' Cxy Sigma_s Cyx Vx~ with Vx~ = Vx (Vx' Cxx Vx)^-1/2 (supplement E).

        ``Vx`` is (..., m, k): one set of filters gives a number, snapshots (S, m, k) give (S,). It depends on the
        span of the filters alone. Filters that are not finite, as after a divergence, score NaN.
        """
        whitened, finite = self._whitened(Vx)
        U, size, _ = np.linalg.svd(whitened, full_matrices=False)
        spanned = size > size[..., :1] * self.m * np.finfo(float).eps
        value = -np.square(self._F.T @ (U * spanned[..., None, :])).sum(axis=(-2, -1))
        return np.where(finite, value, np.nan)[()]

    def excess(self, Vx: ArrayLike) -> float | NDArray:
        """(objective - optimum) / |optimum| of ``Vx`` (..., m, k): 0 at the optimum, 1 where nothing is learned."""
        optimum = self.optimum(np.shape(Vx)[-1])
        distance = self.objective(Vx) - optimum
        return distance / -optimum if optimum else distance  # uncorrelated data: every Vx is at the optimum

    def whitening_error(self, Vx: ArrayLike) -> float | NDArray:
        """||Vx' (Cxx + ridge I) Vx - I||^2 / k of ``Vx`` (..., m, k) (supplement E, Fig. of deviations)."""
        gram = self.gram(Vx)
        k = gram.shape[-1]
        return (np.square(gram - np.eye(k)).sum(axis=(-2, -1)) / k)[()]

    def gram(self, Vx: ArrayLike) -> NDArray:
        """Vx' (Cxx + ridge I) Vx of ``Vx`` (..., m, k), (..., k, k): the identity if the filters are white."""
        whitened, finite = self._whitened(Vx)
        return np.where(finite[..., None, None], whitened.swapaxes(-2, -1) @ whitened, np.nan)

    def _whitened(self, Vx: ArrayLike) -> tuple[NDArray, NDArray]:
        """Cxx^1/2 Vx in the axes of X, and which of the leading entries are finite (the others are zeroed)."""
        Vx = np.asarray(Vx, dtype=float)
        if Vx.ndim < 2 or Vx.shape[-2] != self.m or not 1 <= Vx.shape[-1] <= min(self.m, self.n):
            raise ValueError(
                f"Vx: must have shape (..., {self.m}, k) with k from 1 to {min(self.m, self.n)} (got {Vx.shape})"
            )
        finite = np.isfinite(Vx).all(axis=(-2, -1))
        return self._root @ np.where(finite[..., None, None], Vx, 0.0), finite


def _axes(A: NDArray, tolerance: float, all_directions: bool = False) -> tuple[NDArray, NDArray, NDArray]:
    """Singular vectors and values U, d, W of A = U diag(d) W', without the directions in which A has no variance.

    With ``all_directions`` those are kept, with d = 0: a ridge gives them variance of its own.
    """
    U, d, Wt = linalg.svd(A, full_matrices=all_directions, check_finite=False)
    if all_directions:
        U, d = _pad(U[:, : len(d)], A.shape[1]), _pad(d, A.shape[1])
        return U, d, Wt.T
    kept = d > tolerance * d[0]
    return U[:, kept], d[kept], Wt[kept].T


def _pad(A: NDArray, size: int) -> NDArray:
    """Return ``A`` with zeros up to ``size`` along its last axis, or cut to it."""
    A = A[..., :size]
    return np.concatenate([A, np.zeros((*A.shape[:-1], size - A.shape[-1]))], axis=-1)

"""Covariances of paired data, the exact solution of reduced-rank regression, and scores of any
other filters (Sec. 3, supplement C and E).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import linalg
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import check_k, check_pair, check_s, ridge_pair
from biorrr.errors import InputError


class Covariances(NamedTuple):
    """Second moments of paired data, divided by the number of samples, ridge included (Sec. 3,
    Notation).

    Attributes
    ----------
    xx : (m, m)
        Cxx + ridge_x I.
    xy : (m, n)
        Cxy.
    yy : (n, n)
        Cyy + ridge_y I.
    """

    xx: NDArray
    xy: NDArray
    yy: NDArray


def covariances(
    X: ArrayLike, Y: ArrayLike, ridge: float | tuple[float, float] = 0.0
) -> Covariances:
    """Return covariances of ``X`` (n_samples, m) and ``Y`` (n_samples, n) as given: nothing is
    centred.

    ``ridge`` is the supplement's epsilon, added to Cxx and Cyy, or a pair that sets them
    separately.

    Examples
    --------
    >>> covariances([[1.0], [3.0]], [[0.0], [2.0]], ridge=0.1)
    Covariances(xx=array([[5.1]]), xy=array([[3.]]), yy=array([[2.1]]))
    """
    X, Y = check_pair(X, Y)
    ridge_x, ridge_y = ridge_pair(ridge)
    xx, xy, yy = (A.T @ B / len(X) for A, B in ((X, X), (X, Y), (Y, Y)))
    xx[np.diag_indices_from(xx)] += ridge_x
    yy[np.diag_indices_from(yy)] += ridge_y
    return Covariances(xx, xy, yy)


def sigma_inverse(Cyy: NDArray, s: float) -> NDArray:
    """Return Sigma_s^-1 = s Cyy + (1-s) I (Sec. 3.2), shape (n, n); the ridge, if any, is already
    in ``Cyy``.
    """
    return check_s(s) * Cyy + (1 - s) * np.eye(len(Cyy))


def symmetric_power(C: ArrayLike, power: float) -> NDArray:
    """Return a power of a symmetric positive semi-definite matrix, such as C^1/2 or C^-1/2, shape
    (m, m).

    Directions without variance, up to rounding, stay without: a negative power is that of the
    pseudo-inverse.

    Examples
    --------
    >>> symmetric_power([[4.0, 0.0], [0.0, 0.0]], -0.5)
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    eigenvalues, W = linalg.eigh(np.asarray(C))
    kept = eigenvalues > eigenvalues[-1] * len(eigenvalues) * np.finfo(float).eps
    return (W[:, kept] * eigenvalues[kept] ** power) @ W[:, kept].T


class ExactSolution:
    """Exact solution and scores of filters on paired data, which are decomposed once.

    M = Cxx^-1/2 Cxy Sigma_s Cyx Cxx^-1/2 (supplement C) is never formed: its eigenvectors are left
    singular vectors of F = Cxx^-1/2 Cxy Sigma_s^1/2. Where a ridge does not keep covariances
    well-conditioned, F is built from the singular vectors of X and Y themselves: nothing is squared
    and nothing inverted, and the answer still holds to rounding.

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
    >>> solution = ExactSolution(X=[[1.0, 0], [-1, 0], [0, 1], [0, -1]], Y=[[2.0], [-2], [0], [0]])
    >>> print(f"{solution.optimum(k=1):.3f}")
    -2.000
    >>> print(f"{solution.excess([[3.0], [3.0]]):.3f}")
    0.500
    """

    def __init__(
        self, X: ArrayLike, Y: ArrayLike, s: float = 0.0, ridge: float | tuple[float, float] = 0.0
    ):
        X, Y = check_pair(X, Y)
        self.m, self.n, self.s, self.ridge = X.shape[1], Y.shape[1], check_s(s), ridge_pair(ridge)
        factors = _factor_covariances(X, Y, s, self.ridge) or _factor_data(X, Y, s, self.ridge)
        F, self._root, unroot_x, root_y, unroot_y = factors
        A, singular_values, Bt = linalg.svd(F, full_matrices=False)
        B = Bt.T * singular_values
        self._F = A * singular_values  # F up to a rotation from the right, which no score sees
        k_max = min(self.m, self.n)
        self.eigenvalues = pad(singular_values**2, k_max)
        self._Vx, self._Vy = pad(unroot_x @ A, k_max), pad(unroot_y @ B, k_max)
        self._readout = pad(root_y.T @ B, k_max)

    def optimum(self, k: int) -> float:
        """Return the lowest objective of any k filters: minus the sum of M's k largest
        eigenvalues.
        """
        return -float(self.eigenvalues[: check_k(k, self.m, self.n)].sum())

    def Vx(self, k: int) -> NDArray:
        """Return the k best filters, (m, k), white in Cxx, in the order of M's eigenvalues; zero
        beyond Cxx's rank.
        """
        return self._Vx[:, : check_k(k, self.m, self.n)]

    def Vy(self, k: int) -> NDArray:
        """Return Sigma_s Cyx Vx, the distal weights at the optimum (supplement C), (n, k)."""
        return self._Vy[:, : check_k(k, self.m, self.n)]

    def readout(self, k: int) -> NDArray:
        """Return Cyx Vx, (n, k): the best prediction of y is ``readout @ Vx' x`` (Sec. 3.2, P =
        Sigma_s^-1 Vy Vx').
        """
        return self._readout[:, : check_k(k, self.m, self.n)]

    def regression(self, Vx: ArrayLike | None = None) -> NDArray:
        """Return W, (m, n): W'x is the best prediction of y through filters ``Vx`` (m, k), or
        without any, (Cxx + ridge I)^-1 Cxy.
        """
        if Vx is None:
            return self._Vx @ self._readout.T
        known = linalg.pinv(self._whitened(Vx)[0], self.m * np.finfo(float).eps)
        return Vx @ (known @ self._root @ self.regression())

    def principal_components(self, k: int) -> NDArray:
        """Return the first k principal components of x, (m, k), orthonormal."""
        return linalg.svd(self._root, full_matrices=False)[2][: check_k(k, self.m, self.n)].T

    def objective(self, Vx: ArrayLike) -> float | NDArray:
        """Return the objective -Tr Vx~' Cxy Sigma_s Cyx Vx~ with Vx~ = Vx (Vx' Cxx Vx)^-1/2
        (supplement E).

        ``Vx`` is (..., m, k): one set of filters gives a number, snapshots (S, m, k) give (S,). It
        depends on the span of the filters alone. Filters that are not finite, as after a
        divergence, score NaN.
        """
        whitened, finite = self._whitened(Vx)
        U, size, _ = linalg.svd(whitened, full_matrices=False)
        spanned = size > size[..., :1] * self.m * np.finfo(float).eps
        value = -np.square(_product(self._F.T, U * spanned[..., None, :])).sum(axis=(-2, -1))
        return np.where(finite, value, np.nan)[()]

    def excess(self, Vx: ArrayLike) -> float | NDArray:
        """Return (objective - optimum) / |optimum| of ``Vx`` (..., m, k): 0 at the optimum, 1 if
        nothing is learned.
        """
        optimum = self.optimum(np.shape(Vx)[-1])
        distance = self.objective(Vx) - optimum
        return (
            distance / -optimum if optimum else distance
        )  # uncorrelated data: every Vx is at the optimum

    def whitening_error(self, Vx: ArrayLike) -> float | NDArray:
        """Return ||Vx' (Cxx + ridge I) Vx - I||^2 / k of ``Vx`` (..., m, k) (supplement E, Fig.
        5).
        """
        gram = self.gram(Vx)
        k = gram.shape[-1]
        with np.errstate(over="ignore"):  # infinite for filters that are about to diverge
            return (np.square(gram - np.eye(k)).sum(axis=(-2, -1)) / k)[()]

    def gram(self, Vx: ArrayLike) -> NDArray:
        """Return Vx' (Cxx + ridge I) Vx of ``Vx`` (..., m, k), (..., k, k): the identity if the
        filters are white.
        """
        whitened, finite = self._whitened(Vx)
        return np.where(finite[..., None, None], whitened.swapaxes(-2, -1) @ whitened, np.nan)

    def aligned(self, Vx: ArrayLike) -> NDArray:
        """Return ``Vx`` (m, k) turned to lie nearest to the exact filters: Procrustes in the Cxx
        metric.

        Filters are defined up to a rotation, and are to be turned before they are shown beside the
        exact ones.
        """
        Vx = np.asarray(Vx, dtype=float)
        target, moving = self._whitened(self.Vx(Vx.shape[1]))[0], self._whitened(Vx)[0]
        U, _, Wt = linalg.svd(moving.T @ target)
        return Vx @ (U @ Wt)

    def _whitened(self, Vx: ArrayLike) -> tuple[NDArray, NDArray]:
        """Return Cxx^1/2 Vx in the axes of X, and which of the leading entries are finite (the
        others are zeroed).
        """
        Vx = np.asarray(Vx, dtype=float)
        if Vx.ndim < 2 or Vx.shape[-2] != self.m or not 1 <= Vx.shape[-1] <= min(self.m, self.n):
            raise InputError(
                f"Vx: must have shape (..., {self.m}, k) with k from 1 to {min(self.m, self.n)}"
                f" (got {Vx.shape})"
            )
        finite = np.isfinite(Vx).all(axis=(-2, -1))
        return _product(self._root, np.where(finite[..., None, None], Vx, 0.0)), finite


def _factor_covariances(
    X: NDArray, Y: NDArray, s: float, ridge: tuple[float, float]
) -> tuple[NDArray, ...] | None:
    """Return what :func:`_factor_data` does by Cholesky: ten times faster, but only where a ridge
    keeps covariances well-conditioned.
    """
    floors = ridge[0], s * ridge[1] + 1 - s  # no eigenvalue of either matrix is below
    if not min(floors):
        return None
    C = covariances(X, Y, ridge)
    both = C.xx, sigma_inverse(C.yy, s)
    # Rounding, 1e-16 of the largest eigenvalue, must stay below 1e-10 of the smallest.
    if any(linalg.norm(A) > 1e6 * floor for A, floor in zip(both, floors, strict=True)):
        return None
    root_x, root_y = (linalg.cholesky(A).T for A in both)
    unroot_x, unroot_y = linalg.inv(root_x), linalg.inv(root_y)
    return unroot_x.T @ C.xy @ unroot_y, root_x, unroot_x, root_y, unroot_y


def _factor_data(
    X: NDArray, Y: NDArray, s: float, ridge: tuple[float, float]
) -> tuple[NDArray, ...]:
    """Factor the data themselves, by singular vectors: nothing is squared, nothing need be
    invertible.

    Returns F = root_x^-T Cxy root_y^-1, (r, n); root_x, (r, m), of Cxx + ridge I = root_x' root_x,
    and its pseudo-inverse; and root_y, (n, n), of Sigma_s^-1, and its pseudo-inverse.
    """
    m, n = X.shape[1], Y.shape[1]
    tolerance = len(X) * np.finfo(float).eps
    data = condensed(X, Y)
    Ux, dx, Wx = _axes(data[:, :m], tolerance, all_directions=ridge[0] > 0)
    Uy, dy, Wy = _axes(data[:, m:], tolerance)
    root_x = np.sqrt(dx**2 + ridge[0])  # each along the axes of its own data
    root_y = np.sqrt(s * (dy**2 + ridge[1]) + (1 - s))
    # Padded to n, so that filters beyond the rank of Cyy are white too, though they predict
    # nothing.
    F = pad((dx / root_x)[:, None] * (Ux.T @ Uy) * (dy / root_y), n)
    return F, root_x[:, None] * Wx.T, Wx / root_x, pad(Wy * root_y, n).T, pad(Wy / root_y, n)


def condensed(X: NDArray, Y: NDArray, ridge: float = 0.0) -> NDArray:
    """Return rows (n_rows, m + n) that have the covariances of ``X`` and ``Y`` as sums, as few as
    there are channels; ``ridge`` adds rows to X, with zeros in Y.
    """
    rows = np.hstack([X, Y]) / np.sqrt(len(X))
    m, channels = X.shape[1], rows.shape[1]
    if ridge:
        rows = np.vstack([rows, np.sqrt(ridge) * np.eye(m, channels)])
    if len(rows) <= channels:
        return rows
    return np.asarray(linalg.qr(rows, mode="r"))


def _axes(
    A: NDArray, tolerance: float, all_directions: bool = False
) -> tuple[NDArray, NDArray, NDArray]:
    """Return U, d, W of A = U diag(d) W', without the directions in which A has no variance.

    With ``all_directions`` those are kept, with d = 0: a ridge gives them variance of its own.
    """
    U, d, Wt = linalg.svd(A, full_matrices=all_directions)
    if all_directions:
        U, d = pad(U[:, : len(d)], A.shape[1]), pad(d, A.shape[1])
        return U, d, Wt.T
    kept = d > tolerance * d[0]
    return U[:, kept], d[kept], Wt[kept].T


def _product(A: NDArray, stack: NDArray) -> NDArray:
    """Return ``A @ stack`` for matrices stacked along leading axes, as one product, which is
    several times faster.
    """
    return np.moveaxis(np.tensordot(A, stack, axes=(1, -2)), 0, -2)


def pad(A: NDArray, size: int) -> NDArray:
    """Return ``A`` with zeros up to ``size`` along its last axis, or cut to it."""
    A = A[..., :size]
    return np.concatenate([A, np.zeros((*A.shape[:-1], size - A.shape[-1]))], axis=-1)


class Baselines(NamedTuple):
    """Excess of three sets of k filters that no circuit has learned.

    Attributes
    ----------
    random_plane
        Mean over random k-dimensional subspaces of the outputs of the first k + 1 exact filters.
    principal_components
        First k principal components of x, which know nothing of y.
    exchange
        Exact filters with the k-th exchanged for the next.
    """

    random_plane: float
    principal_components: float
    exchange: float


def baselines(exact: ExactSolution, k: int) -> Baselines:
    """Return the excess that ``k`` filters have without having learned to tell the best ones.

    An excess says little where its baselines are small: if the eigenvalues of M hardly differ,
    every plane inside the first few filters is nearly as good as the best. A random k-plane in k +
    1 white dimensions leaves out a random direction, so its mean objective is minus k / (k + 1)
    times the sum of the first k + 1 eigenvalues of M.

    Examples
    --------
    >>> X = [[2.0, 0], [-2, 0], [0, 1], [0, -1]]
    >>> exact = ExactSolution(X, Y=X)
    >>> [f"{excess:.3f}" for excess in baselines(exact, k=1)]
    ['0.375', '0.000', '0.750']
    """
    best = -exact.optimum(k)
    if (
        not best or k == exact.m
    ):  # nothing to predict, or nothing to choose: every set of filters is optimal
        return Baselines(0.0, 0.0, 0.0)
    last, following = exact.eigenvalues[k - 1], exact.eigenvalues[k : k + 1].sum()
    return Baselines(
        random_plane=float(1 - k / (k + 1) * (best + following) / best),
        principal_components=float(exact.excess(exact.principal_components(k))),
        exchange=float(last - following) / best,
    )

"""Covariances of paired data, the normalizing matrix Sigma_s, and symmetric powers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from biorrr.analysis.checks import check_pair, check_s, ridge_pair


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
    eigenvalues, W = linalg.eigh(C)
    kept = eigenvalues > eigenvalues[-1] * len(eigenvalues) * np.finfo(float).eps
    return (W[:, kept] * eigenvalues[kept] ** power) @ W[:, kept].T

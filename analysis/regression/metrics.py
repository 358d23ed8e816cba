"""Scores of filters and predictions. Data are taken as given: centre them first if they should be
centred.

To score many snapshots of the same problem, build one
:class:`~biorrr.analysis.regression.exact_solution.ExactSolution`.
"""

from __future__ import annotations

import numpy as np
from numpy import linalg
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import Ridge, as_floats, ridge_pair
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.errors import InputError
from biorrr.hints import hints_at_keywords


@hints_at_keywords
def objective(
    Vx: ArrayLike, X: ArrayLike, Y: ArrayLike, s: float = 0.0, ridge: Ridge = 0.0
) -> float | NDArray:
    """Return the objective of filters ``Vx`` (..., m, k) on ``X`` (n_samples, m), ``Y`` (n_samples,
    n); low is good.

    Whitening is enforced and Vy stands at its optimum (supplement E); see
    :meth:`ExactSolution.objective`.
    """
    return ExactSolution(X, Y, s, ridge).objective(Vx)


@hints_at_keywords
def excess(
    Vx: ArrayLike, X: ArrayLike, Y: ArrayLike, s: float = 0.0, ridge: Ridge = 0.0
) -> float | NDArray:
    """Return (objective - optimum) / |optimum| of the filters ``Vx`` (..., m, k); see
    :meth:`ExactSolution.excess`.
    """
    return ExactSolution(X, Y, s, ridge).excess(Vx)


@hints_at_keywords
def whitening_error(Vx: ArrayLike, X: ArrayLike, ridge: Ridge = 0.0) -> float | NDArray:
    """Return ||Vx' (Cxx + ridge I) Vx - I||^2 / k of ``Vx`` (..., m, k) on ``X`` (n_samples, m)
    (supplement E).
    """
    whitened = _in_metric(Vx, X, ridge)
    k = whitened.shape[-1]
    return (np.square(whitened.swapaxes(-2, -1) @ whitened - np.eye(k)).sum(axis=(-2, -1)) / k)[()]


@hints_at_keywords
def principal_angles(
    A: ArrayLike, B: ArrayLike, X: ArrayLike | None = None, ridge: Ridge = 0.0
) -> NDArray:
    """Return principal angles between the column spans of ``A`` (m, k) and ``B`` (m, l) in degrees,
    largest first.

    With ``X`` (n_samples, m) they are angles in the metric of Cxx + ridge I: between the activities
    Vx'x rather than between the filters, so that directions in which the input hardly varies count
    little.

    Examples
    --------
    >>> principal_angles([[1.0], [0.0]], [[1.0], [1.0]])
    array([45.])
    """
    if X is not None:
        A, B = _in_metric(A, X, ridge), _in_metric(B, X, ridge)
    QA, QB = _orthonormal(as_floats("A", A)), _orthonormal(as_floats("B", B))
    overlap = QA.T @ QB
    beside = QB - QA @ overlap if QA.shape[1] >= QB.shape[1] else QA - QB @ overlap.T
    sines, cosines = (linalg.svd(one, compute_uv=False) for one in (beside, overlap))
    return np.degrees(np.arctan2(sines, cosines[::-1]))  # exact near 0 and near 90 degrees


@hints_at_keywords
def r2(Y: ArrayLike, predicted: ArrayLike, baseline: ArrayLike | None = None) -> float:
    """Return the share of the variance of ``Y`` (n_samples, n) that ``predicted`` (same shape)
    explains, pooled.

    Squared errors and squared deviations from ``baseline`` (n,) are each summed over samples and
    responses before they are divided. The baseline is Y's own mean unless given; for held-out data
    give the training mean.
    """
    Y, predicted = as_floats("Y", Y), as_floats("predicted", predicted)
    if Y.shape != predicted.shape:
        raise InputError(f"predicted: must have the shape of Y, {Y.shape} (got {predicted.shape})")
    deviations = Y - (Y.mean(axis=0) if baseline is None else baseline)
    return float(1 - np.square(Y - predicted).sum() / np.square(deviations).sum())


def _orthonormal(A: NDArray) -> NDArray:
    """Return an orthonormal basis of the column span of ``A`` (m, k), (m, rank)."""
    U, size, _ = linalg.svd(A, full_matrices=False)
    return U[:, size > size[:1] * max(A.shape) * np.finfo(float).eps]


def _in_metric(V: ArrayLike, X: ArrayLike, ridge: Ridge) -> NDArray:
    """Return a (..., n_samples + m, k) with the Gram matrix V'(Cxx + ridge I)V of ``V`` (..., m,
    k).
    """
    V, X = as_floats("V", V), as_floats("X", X)
    if V.ndim < 2 or V.shape[-2] != X.shape[1]:
        raise InputError(
            f"V: must have a row for each of the {X.shape[1]} columns of X (got shape {V.shape})"
        )
    return np.concatenate([X @ V / np.sqrt(len(X)), np.sqrt(ridge_pair(ridge)[0]) * V], axis=-2)

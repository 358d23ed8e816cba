"""The law that theories of dendritic learning with fixed feedback obey in the linear regime.

Law 1. Cells z = V'x, taught through fixed feedback B by what a readout misses, stand still where
(Cxy - (Cxx + ridge I) V U')B = 0. Their filters then span W*B with W* = (Cxx + ridge I)^-1 Cxy: a
projection that the feedback has chosen, whatever the theory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import as_floats, check_pair
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.errors import InputError


class FixedFeedbackLaw(NamedTuple):
    """Prediction of law 1.

    Attributes
    ----------
    filters : (m, k)
        W*B, whose span the filters of all such theories find.
    excess
        Excess of that span over the optimum of RRMSE.
    """

    filters: NDArray
    excess: float


def fixed_feedback_law(
    B: ArrayLike, X: ArrayLike, Y: ArrayLike, ridge: float = 0.0
) -> FixedFeedbackLaw:
    """Return where learning with fixed feedback ``B`` (n, k) ends on ``X`` (n_samples, m) and ``Y``
    (n_samples, n).

    Examples
    --------
    Feedback that carries one feature of y alone finds what predicts that feature:

    >>> X = Y = np.array([[2.0, 0], [-2, 0], [0, 1], [0, -1]])
    >>> law = fixed_feedback_law([[0.0], [1.0]], X, Y)
    >>> law.filters.ravel().round(6).tolist(), round(law.excess, 6)
    ([0.0, 1.0], 0.75)
    """
    (X, Y), B = check_pair(X, Y), as_floats("B", B)
    if B.ndim != 2 or len(B) != Y.shape[1]:
        raise InputError(
            f"B: must have a row for each of the {Y.shape[1]} columns of Y (got shape {B.shape})"
        )
    filters = full_regression(X, Y @ B, ridge)
    return FixedFeedbackLaw(filters, float(ExactSolution(X, Y, 0.0, ridge).excess(filters)))


def full_regression(X: NDArray, Y: NDArray, ridge: float = 0.0) -> NDArray:
    """Return W* = (Cxx + ridge I)^-1 Cxy, (m, n): the best prediction of y from x is W*'x."""
    Cxx = X.T @ X / len(X) + ridge * np.eye(X.shape[1])
    return np.linalg.lstsq(Cxx, X.T @ Y / len(X), rcond=None)[0]


def participation_ratio(covariance: ArrayLike) -> float:
    """Return (trace C)^2 / trace C^2 of a covariance (k, k): k where all directions vary alike, 1
    where one does.

    Examples
    --------
    >>> participation_ratio(np.eye(3)), participation_ratio(np.ones((3, 3)))
    (3.0, 1.0)
    """
    C = as_floats("covariance", covariance)
    return float(np.trace(C) ** 2 / np.square(C).sum())

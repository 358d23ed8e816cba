"""Held-out prediction of some channels from others through few filters, from moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.communication.moments import FoldMoments
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.regression.rank import Prediction


def predict_held_out(
    moments: FoldMoments,
    source: Sequence[int] | NDArray,
    target: Sequence[int] | NDArray,
    *,
    s: float = 0.0,
    ridge: float = 0.0,
) -> Prediction:
    """Predict the channels ``target`` from the channels ``source``, fold by fold, at every rank.

    The same numbers as :class:`~biorrr.analysis.RankCV` gives, to rounding.
    """
    m, k = len(source), min(len(source), len(target))
    errors, deviations = [], []
    for covariance, held_out in moments.splits([*source, *target]):
        exact = solution(covariance, m, s, ridge)
        errors.append(squared_errors(exact.Vx(k), exact.readout(k), held_out, m))
        deviations.append(np.trace(held_out[m:, m:]))
    return Prediction(np.array(errors), np.array(deviations))


def solution(covariance: NDArray, m: int, s: float, ridge: float) -> ExactSolution:
    """Return the exact solution for the covariance (m + n, m + n) of inputs and targets together.

    It is found from m + n made-up samples that have this covariance: its Cholesky factor, which is
    quick, or, where there is no ridge or no such factor, its square root, without directions in
    which nothing but rounding varies.
    """
    root = None
    if ridge:
        with suppress(np.linalg.LinAlgError):
            root = np.linalg.cholesky(covariance).T
    if root is None:
        eigenvalues, axes = np.linalg.eigh(covariance)
        rounding = len(eigenvalues) * np.finfo(float).eps * eigenvalues[-1]
        root = (axes * np.sqrt(np.where(eigenvalues > rounding, eigenvalues, 0.0))).T
    root = root * np.sqrt(len(root))
    return ExactSolution(root[:, :m], root[:, m:], s, ridge)


def squared_errors(Vx: NDArray, readout: NDArray, products: NDArray, m: int) -> NDArray:
    """Return squared errors, (k,), of predictions through the first 1, 2, ... of the k filters,
    over all samples.

    ``products`` (m + n, m + n) are sums over those samples of products of inputs and targets.
    """
    cross = np.einsum("ik,ij,jk->k", Vx, products[:m, m:], readout)
    among = (Vx.T @ products[:m, :m] @ Vx) * (readout.T @ readout)
    power = np.array([among[:k, :k].sum() for k in range(1, len(among) + 1)])
    return np.trace(products[m:, m:]) - 2 * np.cumsum(cross) + power

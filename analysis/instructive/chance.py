"""Null distributions: random signs of stretches of time, and neurons exchanged for one another.

Two signals that change slowly are correlated by chance, and shifting one against the other in time
does not show how much (Harris 2020, doi 10.1101/2020.11.29.402719). Here the products of two
signals are summed over stretches of time. Without a relation each sum is as likely negative as
positive, whatever its variance, and the sum over all stretches is compared with sums in which the
sign of each stretch is drawn at random. The test is exact if one of the two signals has stretches
that are independent of one another and symmetric in distribution. Subtracting a running mean makes
frames depend on one another up to one window apart, and the covariance of neighbouring sums is then
positive (it is a sum of products of two autocorrelations of the same sign): the false-positive rate
was 9 % with gaps of a quarter of a window. With gaps of a whole window between stretches
(`signals`) it is about 5 %.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS = 499


def sums_within(signals: NDArray, others: NDArray, group: NDArray) -> NDArray:
    """Return the inner products of signals (T, N) and others (T, J) within each group of frames,
    (groups, N, J).

    ``group`` (T,) numbers the groups from 0; frames of a negative group are left out.
    """
    order = np.argsort(group, kind="stable")[np.sum(group < 0) :]
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    pieces = zip(
        np.split(signals[order], first[1:]), np.split(others[order], first[1:]), strict=True
    )
    return np.array([one.T @ other for one, other in pieces])


def flipped_sums(products: NDArray, seed: int = 0) -> NDArray:
    """Return the sum of products (groups, N, J) as it is, then with random signs: (1 +
    PERMUTATIONS, N, J).
    """
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(1 + PERMUTATIONS, len(products)))
    signs[0] = 1
    return np.tensordot(signs, products, axes=1)


def exceeded(observed: NDArray, chance: NDArray) -> NDArray:
    """Return the p-value of an observed statistic: the share of (n, ...) draws, and itself, that
    are as large.
    """
    return (1 + np.sum(chance >= observed * (1 - 1e-12), axis=0)) / (1 + len(chance))


def own_against_others(association: NDArray) -> NDArray:
    """Return by how much each row's own entry exceeds the mean of its others, (..., N), of matrices
    (..., N, N).
    """
    N = association.shape[-1]
    own = np.diagonal(association, axis1=-2, axis2=-1)
    return own - (association.sum(axis=-1) - own) / (N - 1)


def exchanged(association: NDArray, seed: int = 0) -> float:
    """Return the p-value of a permutation test that exchanges neurons for one another.

    The test is exact if the quantities are assigned to neurons at random, as causal roles are by an
    experimenter.

    Parameters
    ----------
    association : (N, N)
        Association of the signal of neuron i with a quantity of neuron j; its trace is the
        statistic.
    """
    N = len(association)
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(N), (PERMUTATIONS, 1)), axis=1)
    return float(exceeded(np.trace(association), association[np.arange(N), orders].sum(axis=1)))

"""Backprop through a linear network of several layers, sample by sample: what a hierarchy of areas
is compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import check_pair

_RATES = (0.01, 0.03, 0.1)


def backprop_linear(
    X: ArrayLike, Y: ArrayLike, layers: Sequence[int], samples: int, seed: int = 0, batch: int = 20
) -> list[NDArray]:
    """Return the weights that backprop finds for the linear network x -> layers[0] -> ... -> y by
    squared error.

    Data are taken as given and scaled to a mean square of 1 inside. Rates are relative to what
    would undo the error of a typical sample, and fall hyperbolically, as the circuit's do; of
    several the one with the least error is kept, so that the network is not handicapped.

    Parameters
    ----------
    X : (n_samples, m), Y : (n_samples, n)
        Data, centred.
    layers
        Units of each hidden layer.
    samples
        How many are presented, in random order, ``batch`` of them between two changes.
    seed, batch
        Of the order and of the initial weights; samples whose gradients are averaged.

    Returns
    -------
    weights : list of (units below, units above), one for each link, from x up to y, in the data's
    units
    """
    X, Y = check_pair(X, Y)
    unit_x, unit_y = (np.sqrt(np.square(A).mean()) or 1.0 for A in (X, Y))
    tried = [
        _learned(X / unit_x, Y / unit_y, layers, samples, seed, batch, rate) for rate in _RATES
    ]
    _, weights = min(tried, key=lambda outcome: outcome[0])
    weights[0] /= unit_x
    weights[-1] *= unit_y
    return weights


def _learned(
    X: NDArray, Y: NDArray, layers: Sequence[int], samples: int, seed: int, batch: int, rate: float
) -> tuple[float, list[NDArray]]:
    """Return squared error and weights that backprop at this ``rate`` ends with."""
    rng = np.random.default_rng(seed)
    sizes = [X.shape[1], *layers, Y.shape[1]]
    weights = [rng.standard_normal((a, b)) / np.sqrt(a) for a, b in pairwise(sizes)]
    order = np.concatenate([rng.permutation(len(X)) for _ in range(-(-samples // len(X)))])[
        :samples
    ]
    for start in range(0, samples, batch):
        rows = order[start : start + batch]
        activities = [X[rows]]
        for w in weights:
            activities.append(activities[-1] @ w)
        error = (Y[rows] - activities[-1]) / len(rows)
        eta = rate * batch / (1 + start / (samples / 10))
        for i in range(len(weights) - 1, -1, -1):
            below = activities[i]
            change = eta / max(np.square(below).sum() / len(rows), 1.0) * below.T @ error
            error = error @ weights[i].T
            weights[i] = weights[i] + change / max(1.0, float(np.linalg.norm(change)))
    predicted = X
    for w in weights:
        predicted = predicted @ w
    return float(np.square(Y - predicted).sum()), weights

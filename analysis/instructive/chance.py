"""What chance gives: signals shifted in time against each other, and neurons exchanged for one another.

Both keep every time course as it is, with its autocorrelation, and break only the relation that is asked about.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS = 499
STRETCHES, SHORTEST = 10, 200  # stretches of time within which signals are shifted, and frames of the shortest
MARGIN = 10  # shifts by less than one in so many frames of a stretch are left out: signals resemble themselves


def shifted_products(signals: NDArray, others: NDArray, period: int = 1, seed: int = 0) -> NDArray:
    """Inner products of ``signals`` (T, N), shifted in time, with ``others`` (T, J): (1 + PERMUTATIONS, N, J).

    The first is without a shift. Signals are shifted around within stretches of time, in each by an amount drawn at
    random, so that what changes slowly, as signals do in learning, stays where it was. They are shifted by whole
    periods, of trials that come at a fixed pace: onsets of trials meet onsets.
    """
    from scipy import fft

    rng = np.random.default_rng(seed)
    periods = len(signals) // period
    whole = period * periods
    products = np.zeros((1 + PERMUTATIONS, signals.shape[1], others.shape[1])) + signals[whole:].T @ others[whole:]
    for stretch in np.array_split(np.arange(periods), max(1, min(STRETCHES, whole // SHORTEST))):
        margin, L = max(1, len(stretch) // MARGIN), period * len(stretch)
        shifts = period * np.append(0, rng.integers(margin, len(stretch) - margin + 1, PERMUTATIONS))
        stretch = slice(period * stretch[0], period * (stretch[-1] + 1))
        spectrum = fft.rfft(others[stretch], axis=0).conj()
        for i, one in enumerate(fft.rfft(signals[stretch], axis=0).T):
            products[:, i] += fft.irfft(one[:, None] * spectrum, n=L, axis=0)[shifts]
    return products


def exceeded(observed: NDArray, chance: NDArray) -> NDArray:
    """How often ``chance`` (n, ...) is as large as what was observed, which counts as one case itself."""
    return (1 + np.sum(chance >= observed, axis=0)) / (1 + len(chance))


def own_against_others(association: NDArray) -> NDArray:
    """By how much each row's own entry exceeds the mean of its others, (..., N), of matrices (..., N, N)."""
    N = association.shape[-1]
    own = np.diagonal(association, axis1=-2, axis2=-1)
    return own - (association.sum(axis=-1) - own) / (N - 1)


def exchanged(association: NDArray, seed: int = 0) -> float:
    """How often neurons that are exchanged for one another go together as well as each does with itself.

    Parameters
    ----------
    association : (N, N)
        How the signal of neuron i goes with a quantity of neuron j. Chance gives each signal the quantity of a neuron
        drawn at random, no two the same.
    """
    N = len(association)
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(N), (PERMUTATIONS, 1)), axis=1)
    return float(exceeded(np.trace(association), association[np.arange(N), orders].sum(axis=1)))


def each_neuron(strength: NDArray, together: float) -> NDArray:
    """The p-value of each neuron, (N,), by the maximum statistic over neurons, and at least that of all ``together``.

    Parameters
    ----------
    strength : (1 + n, N)
        Of each neuron: first as observed, then by chance.
    """
    return np.maximum(exceeded(strength[0], strength[1:].max(axis=1)[:, None]), together)

"""The theory of R and Q': how they meet in the course of learning (supplement D)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

_BLOCK = 1 << 16  # samples whose rates are looked at together
_FEW = 64  # samples that are summed one by one; beyond, the Euler-Maclaurin terms left out are below 1e-12
_NODES = 16  # of the quadrature: exact to 1e-16 while 1 - eta changes by less than a factor of 3 between two records


@dataclass(frozen=True)
class SymmetryDecay:
    """The distance between R and Q', measured and by theory: (1 - eta/tau)^T and its like for rates that change.

    Attributes
    ----------
    samples : (S,)
        Samples seen.
    measured : (S,)
        ||Q' - R|| (Frobenius).
    predicted : (S,)
        ||Q0' - R0|| times the product of |1 - eta_q| over the samples since.
    rounding : (S,)
        Below this, ten thousand times the spacing of floating-point numbers of Q's size, measured is rounding error.
    """

    samples: NDArray
    measured: NDArray
    predicted: NDArray
    rounding: NDArray

    @property
    def relative_error(self) -> float:
        """Largest |measured / predicted - 1| where rounding does not matter; NaN where it always does."""
        resolved = self.predicted > self.rounding
        ratio = self.measured[resolved] / self.predicted[resolved]
        return float(np.max(np.abs(ratio - 1))) if resolved.any() else np.nan


def symmetry_decay(
    Q: ArrayLike, R: ArrayLike, samples: ArrayLike, eta_q: float | ArrayLike | Callable[[NDArray], NDArray]
) -> SymmetryDecay:
    """Follow ||Q' - R|| along snapshots ``Q`` (S, k, l) and ``R`` (S, l, k), taken after ``samples`` (S,) samples.

    ``eta_q`` is the rate that Q and R share: a number, a :class:`~biorrr.models.Rate` (or any function of the sample
    count), or the rates used at each sample from the first snapshot's to the last's, (samples[-1] - samples[0],).
    """
    Q, R, samples = np.asarray(Q, dtype=float), np.asarray(R, dtype=float), np.asarray(samples, dtype=int)
    if Q.ndim != 3 or R.shape != (Q.shape[0], Q.shape[2], Q.shape[1]) or samples.shape != Q.shape[:1]:
        raise ValueError(
            "Q, R, samples: must have shapes (S, k, l), (S, l, k) and (S,) "
            f"(got {Q.shape}, {R.shape} and {samples.shape}); S counts snapshots"
        )
    if (np.diff(samples) < 0).any():
        raise ValueError(f"samples: must not decrease from snapshot to snapshot (got {samples})")
    if callable(eta_q) or np.ndim(eta_q):
        if not callable(eta_q):
            eta_q = np.broadcast_to(np.asarray(eta_q, dtype=float), (samples[-1] - samples[0],))
        logs = [_log_product(eta_q, samples[0], start, stop) for start, stop in pairwise(samples)]
        decay = np.exp(np.cumsum([0.0, *logs]))
    else:
        decay = np.abs(1 - float(np.asarray(eta_q))) ** (samples - samples[0])
    with np.errstate(over="ignore"):  # of weights that ran away, whose norm may well be infinite
        measured = np.linalg.norm(Q.swapaxes(1, 2) - R, axis=(1, 2))
        rounding = 1e4 * np.finfo(float).eps * np.linalg.norm(Q, axis=(1, 2))
    return SymmetryDecay(samples, measured, measured[0] * decay, rounding)


def decay_between(seen: ArrayLike, samples: ArrayLike, rates: ArrayLike) -> NDArray:
    """Product of |1 - eta| over the samples from ``seen[0]`` to each of ``seen`` (S,), ascending: shape (S,).

    ``rates`` (P,) are those recorded at ``samples`` (P,), whole and ascending; between two of them the rate is
    interpolated. It takes memory and time for S + P values, however many samples lie between them: where they are many,
    their sum of log(1 - eta) is the integral, by quadrature, with the terms by which Euler and Maclaurin make it a sum.

    Examples
    --------
    >>> print(decay_between([0, 10**12], [0, 10**12], [1e-12, 1e-12]).round(6))
    [1.       0.367879]
    """
    seen, samples, rates = np.asarray(seen), np.asarray(samples), np.asarray(rates, dtype=float)
    knots = np.unique(np.concatenate([seen, samples[(samples > seen[0]) & (samples < seen[-1])]]))
    eta, count = np.interp(knots, samples, rates), np.diff(knots)
    first, last = eta[:-1], eta[1:]
    slope = (last - first) / count
    few = count <= _FEW
    logs = np.zeros(len(count))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(_FEW):
            here = few & (i < count)
            logs[here] += _log_factor((first + i * slope)[here])
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        for node, weight in zip(nodes, weights, strict=True):
            middle = (first + last + node * (last - first)) / 2
            logs[~few] += (weight / 2 * count * _log_factor(middle))[~few]
        corrections = (_log_factor(first) - _log_factor(last)) / 2
        # The derivatives of log(1 - eta) are -(order - 1)! (slope / (1 - eta))^order.
        for order, coefficient in ((1, 1 / 12), (3, -2 / 720)):
            corrections -= coefficient * ((slope / (1 - last)) ** order - (slope / (1 - first)) ** order)
        logs[~few] += corrections[~few]
        decay = np.exp(np.concatenate([[0.0], np.cumsum(logs)]))
    return decay[np.searchsorted(knots, seen)]


def _log_factor(eta: NDArray) -> NDArray:
    """Logarithm of |1 - eta|, exact for small rates too."""
    with np.errstate(divide="ignore"):  # of a rate of 1, after which nothing is left
        return np.log1p(np.where(eta < 1, -eta, eta - 2))


def _log_product(eta_q: NDArray | Callable[[NDArray], NDArray], first: int, start: int, stop: int) -> float:
    """Sum of log |1 - eta_q| over the samples from ``start`` to ``stop``, one block of them at a time.

    An array of rates begins at the sample ``first``.
    """
    total = 0.0
    for low in range(start, stop, _BLOCK):
        span = np.arange(low, min(low + _BLOCK, stop))
        rates = eta_q(span) if callable(eta_q) else eta_q[span - first]
        total += float(_log_factor(np.broadcast_to(rates, span.shape)).sum())
    return total

"""The theory of R and Q': how they meet in the course of learning (supplement D)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError

_BLOCK = 1 << 16  # samples whose rates are looked at together


@dataclass(frozen=True)
class SymmetryDecay:
    """The distance between R and Q', measured and by theory: (1 - eta/tau)^T and its like for rates
    that change.

    Attributes
    ----------
    samples : (S,)
        Samples seen.
    measured : (S,)
        ||Q' - R|| (Frobenius).
    predicted : (S,)
        ||Q0' - R0|| times the product of |1 - eta_q| over the samples since.
    rounding : (S,)
        Below this, ten thousand times the spacing of floating-point numbers of Q's size, measured
        is rounding error.
    """

    samples: NDArray
    measured: NDArray
    predicted: NDArray
    rounding: NDArray

    @property
    def relative_error(self) -> float:
        """Largest |measured / predicted - 1| where rounding does not matter; NaN where it always
        does.
        """
        resolved = self.predicted > self.rounding
        ratio = self.measured[resolved] / self.predicted[resolved]
        return float(np.max(np.abs(ratio - 1))) if resolved.any() else np.nan


def symmetry_decay(
    Q: ArrayLike, R: ArrayLike, samples: ArrayLike, eta_q: float | Callable[[NDArray], NDArray]
) -> SymmetryDecay:
    """Follow ||Q' - R|| along snapshots ``Q`` (S, k, l) and ``R`` (S, l, k), taken after
    ``samples`` (S,) samples.

    ``eta_q`` is the rate that Q and R share: a number, or a :class:`~biorrr.models.Rate` or another
    function of the sample count.
    """
    Q, R, samples = (
        np.asarray(Q, dtype=float),
        np.asarray(R, dtype=float),
        np.asarray(samples, dtype=int),
    )
    if (
        Q.ndim != 3
        or R.shape != (Q.shape[0], Q.shape[2], Q.shape[1])
        or samples.shape != Q.shape[:1]
    ):
        raise InputError(
            "Q, R, samples: must have shapes (S, k, l), (S, l, k) and (S,) "
            f"(got {Q.shape}, {R.shape} and {samples.shape}); S counts snapshots"
        )
    if (np.diff(samples) < 0).any():
        raise InputError(f"samples: must not decrease from snapshot to snapshot (got {samples})")
    if callable(eta_q):
        decay = np.exp(
            np.cumsum(
                [0.0, *(_log_product(eta_q, start, stop) for start, stop in pairwise(samples))]
            )
        )
    else:
        decay = np.abs(1 - eta_q) ** (samples - samples[0])
    with np.errstate(over="ignore"):  # of weights that ran away, whose norm may well be infinite
        measured = np.linalg.norm(Q.swapaxes(1, 2) - R, axis=(1, 2))
        rounding = 1e4 * np.finfo(float).eps * np.linalg.norm(Q, axis=(1, 2))
    return SymmetryDecay(samples, measured, measured[0] * decay, rounding)


def _log_product(eta_q: Callable[[NDArray], NDArray], start: int, stop: int) -> float:
    """Return the sum of log |1 - eta_q| over the samples from ``start`` to ``stop``, one block of
    them at a time.
    """
    total = 0.0
    for low in range(start, stop, _BLOCK):
        span = np.arange(low, min(low + _BLOCK, stop))
        eta = np.broadcast_to(eta_q(span), span.shape)
        with np.errstate(divide="ignore"):  # of a rate of 1, after which nothing is left
            total += float(
                np.log1p(np.where(eta < 1, -eta, eta - 2)).sum()
            )  # exact for small rates too
    return total

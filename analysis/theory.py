"""What the theory says of the weights: at the optimum (supplement C), and of R and Q' at any time (supplement D)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.yardstick import Yardstick


@dataclass(frozen=True)
class Saturation:
    """Whether the inequality Vx'CxxVx <= I is saturated and QQ' its multiplier, as the optimum has it.

    Attributes
    ----------
    eigenvalues_QQ : (k,)
        Eigenvalues of QQ', largest first.
    eigenvalues_M : (k,)
        The k largest eigenvalues of M, which they should equal.
    variances : (k,)
        Eigenvalues of Vx'(Cxx + ridge I)Vx, which should all be 1.
    """

    eigenvalues_QQ: NDArray
    eigenvalues_M: NDArray
    variances: NDArray

    @property
    def relative_error(self) -> float:
        """Largest distance of an eigenvalue of QQ' from M's, over M's largest."""
        return float(np.abs(self.eigenvalues_QQ - self.eigenvalues_M).max() / self.eigenvalues_M[0])

    @property
    def whitening_error(self) -> float:
        """||Vx'(Cxx + ridge I)Vx - I||^2 / k."""
        return float(np.mean((self.variances - 1) ** 2))

    def __str__(self) -> str:
        rows = zip(self.eigenvalues_QQ, self.eigenvalues_M, self.variances, strict=True)
        table = "\n".join(f"{qq:10.5f} {m:10.5f} {variance:10.5f}" for qq, m, variance in rows)
        return f"{'QQ′':>10} {'M':>10} {'Vx′CxxVx':>10}\n{table}"


def saturation(
    Vx: ArrayLike,
    Q: ArrayLike,
    X: ArrayLike,
    Y: ArrayLike,
    s: float = 0.0,
    ridge: float | tuple[float, float] = 0.0,
) -> Saturation:
    """Compare ``Q`` (k, l) and ``Vx`` (m, k) with the optimum on data ``X`` (n_samples, m), ``Y`` (n_samples, n)."""
    Vx, Q = np.asarray(Vx, dtype=float), np.asarray(Q, dtype=float)
    yardstick = Yardstick(X, Y, s, ridge)
    return Saturation(
        eigenvalues_QQ=np.linalg.eigvalsh(Q @ Q.T)[::-1],
        eigenvalues_M=yardstick.eigenvalues[: Vx.shape[1]],
        variances=np.linalg.eigvalsh(yardstick.gram(Vx))[::-1],
    )


@dataclass(frozen=True)
class SymmetryDecay:
    """How R meets Q': measured against the theory, (1 - eta/tau)^T and its like for rates that change.

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

    def __str__(self) -> str:
        return (
            f"||Q' - R|| fell from {self.measured[0]:.3g} to {self.measured[-1]:.3g} in {self.samples[-1]:,} samples, "
            f"predicted {self.predicted[-1]:.3g}; largest relative deviation {self.relative_error:.2g}"
        )


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
    span = np.arange(samples[0], samples[-1])
    rates = np.broadcast_to(eta_q(span) if callable(eta_q) else np.asarray(eta_q, dtype=float), span.shape)
    decay = np.concatenate([[1.0], np.cumprod(np.abs(1 - rates))])[samples - samples[0]]
    with np.errstate(over="ignore"):  # of weights that ran away, whose norm may well be infinite
        measured = np.linalg.norm(Q.swapaxes(1, 2) - R, axis=(1, 2))
        rounding = 1e4 * np.finfo(float).eps * np.linalg.norm(Q, axis=(1, 2))
    return SymmetryDecay(samples, measured, measured[0] * decay, rounding)

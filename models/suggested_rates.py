"""Constant rates that suit some data, and the start that goes with them.

With lambda_j the k largest eigenvalues of M, which those of QQ' become, a_j and z the distal
current and the outputs of the exact solution, and g_j the k largest eigenvalues of
Cxy Sigma_s Cyx::

    eta_x = 0.4 / (high |x|^2 max(sum of lambda_j, largest <a_j^2> / lambda_j))
    eta_q = min(0.04 / high |z|^2, 0.5 eta_x (sum of g_j^2) / (sum of g_j))
    eta_y = min(0.5 eta_q / strongest, 0.3 / (s largest |y|^2))

High is the power that one sample in a thousand exceeds, and strongest the largest eigenvalue of
Sigma_s^-1. A ridge counts as input. The reasons:

- Proximal learning is a least-mean-squares rule with gain QR, stable while eta_x |x|^2 trace(QR) <
  2. Its noise is in proportion to eta_x |x|^2 and to the power of the distal current.
- Q grows by eta_q (|z|^2 - 1) in a sample: a few strong ones must not multiply it.
- While outputs are weak, Q fades at the rate eta_q, and they grow at the rates eta_x g_j. Where Q
  is faster, inhibition is gone before the outputs come.
- Distal synapses that are faster than Q draw all cells to the strongest direction.

All have the units of the data: for X times c, eta_x is smaller by c^2. The numbers are those of a
coarse grid, in steps of two, with the fewest runs that diverged or missed an excess of 10 % on 23
problems, k = 1, 2, 5, s = 0 and 1, 100,000 samples.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError
from biorrr.hints import did_you_transpose
from biorrr.models.validation import number_within, whole_number

PROXIMAL, INTERNEURON, FADING, DISTAL, SINGLE_Y = 0.4, 0.04, 0.5, 0.5, 0.3
START = 0.01, 0.12, 0.6  # sizes of Vx, Vy and Q, relative to those of data with unit variances
HIGH = 0.999  # quantile of the power of single samples

Start = tuple[float, float, float]


def suggest(
    X: ArrayLike, Y: ArrayLike, k: int, s: float, ridge: float | tuple[float, float]
) -> tuple[tuple[float, float, float], Start]:
    """Return constant rates of Vx, Vy and Q for X (n_samples, m) and Y (n_samples, n), and the
    sizes of Vx, Vy and Q at first.
    """
    X, Y = (_table(name, data) for name, data in {"X": X, "Y": Y}.items())
    s = number_within("s", s, 0, 1)
    k = whole_number("k", k, 1, "; it is at most min(m, n)", min(X.shape[1], Y.shape[1]))
    if len(X) != len(Y):
        raise InputError(
            f"X, Y: must have as many samples as each other (got {len(X)} and {len(Y)})"
            f"{did_you_transpose(X.shape, Y.shape)}"
        )
    ridge_x, ridge_y = (number_within("ridge", each, 0) for each in np.broadcast_to(ridge, 2))
    Cxx, Cxy, Cyy = _covariances(X, Y, (ridge_x, ridge_y))
    metric_y = s * Cyy + (1 - s) * np.eye(len(Cyy))
    eigenvalues, Vx, Vy = _optimum(Cxx, Cxy, metric_y, k)
    if not len(eigenvalues):
        raise InputError(
            "X, Y: must be correlated, or there is nothing to learn (got Cxy = 0); centre them,"
            " and check that samples are in the same order"
        )
    power_x = np.square(X).sum(axis=1) + X.shape[1] * ridge_x
    power_z = np.square(X @ Vx).sum(axis=1) + ridge_x * np.square(Vx).sum()
    power_a = np.einsum("nj,nj->j", Vy, Cyy @ Vy)
    gain = max(eigenvalues.sum(), (power_a / eigenvalues).max())
    growth = np.square(np.linalg.svd(Cxy @ _inverse_root(metric_y), compute_uv=False)[:k])
    strongest = np.linalg.eigvalsh(metric_y)[-1]
    eta_x = PROXIMAL / (np.quantile(power_x, HIGH) * gain)
    eta_q = min(
        INTERNEURON / np.quantile(power_z, HIGH),
        FADING * eta_x * np.square(growth).sum() / growth.sum(),
    )
    eta_y = DISTAL * eta_q / strongest
    if s:
        eta_y = min(eta_y, SINGLE_Y / (s * np.square(Y).sum(axis=1).max()))
    size_x, size_y, size_q = START
    start = (
        size_x / math.sqrt(power_x.mean()),
        size_y * math.sqrt(eigenvalues[0] / (np.trace(metric_y) / len(metric_y))),
        size_q * math.sqrt(eigenvalues[0]),
    )
    return (float(eta_x), float(eta_y), float(eta_q)), start


def _table(name: str, data: ArrayLike) -> NDArray:
    """Return ``data`` as a table of finite numbers; a vector is one column."""
    array = np.asarray(data, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not len(array) or not np.isfinite(array).all():
        raise InputError(
            f"{name}: must be a table of finite numbers, (n_samples, features) (got shape"
            f" {array.shape})"
        )
    return array


def signal_strengths(
    X: NDArray, Y: NDArray, k: int, s: float, ridge: tuple[float, float]
) -> NDArray:
    """Return the k largest eigenvalues of M: what each of k outputs finds of y, in descending
    order. Those without a signal are 0.
    """
    Cxx, Cxy, Cyy = _covariances(X, Y, ridge)
    found = _optimum(Cxx, Cxy, s * Cyy + (1 - s) * np.eye(len(Cyy)), k)[0]
    return np.pad(found, (0, k - len(found)))


def _covariances(
    X: NDArray, Y: NDArray, ridge: tuple[float, float]
) -> tuple[NDArray, NDArray, NDArray]:
    """Return Cxx and Cyy with their ridges, and Cxy."""
    Cxx, Cyy = (
        A.T @ A / len(A) + each * np.eye(A.shape[1]) for A, each in zip((X, Y), ridge, strict=True)
    )
    return Cxx, X.T @ Y / len(X), Cyy


def _optimum(
    Cxx: NDArray, Cxy: NDArray, metric_y: NDArray, k: int
) -> tuple[NDArray, NDArray, NDArray]:
    """Return the k largest eigenvalues of M, and the filters Vx (m, k) and Vy (n, k) that are
    optimal.
    """
    white_x, white_y = _inverse_root(Cxx), _inverse_root(metric_y)
    U, d, Wt = np.linalg.svd(white_x.T @ Cxy @ white_y, full_matrices=False)
    known = np.count_nonzero(d[:k] > 1e-6 * d.max(initial=0.0))
    d = d[:known]
    return d**2, white_x @ U[:, :known], white_y @ Wt[:known].T * d


def _inverse_root(C: NDArray) -> NDArray:
    """Return W with W'CW = I, without the directions in which C is zero."""
    power, axes = np.linalg.eigh(C)
    there = power > 1e-10 * power[-1]
    return axes[:, there] / np.sqrt(power[there])

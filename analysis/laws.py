"""Theory in closed form: how R and Q' meet, learning with fixed feedback, the distal rule, and
learning across time.

Law 1. Cells z = V'x, taught through fixed feedback B by what a readout misses, stand still where
(Cxy - (Cxx + ridge I) V U')B = 0. Their filters then span W*B with W* = (Cxx + ridge I)^-1 Cxy: a
projection that the feedback has chosen, whatever the theory.

A trace e of a signal x is its exponential average, de/dt = (x - e)/tau. Where the product of a
trace of the input and a trace of the plateau teaches, an input pulse and a plateau a lag u later
change a weight by K(u) = exp(-u/tau_x) / (tau_x + tau_plateau) for u > 0 and exp(u/tau_plateau) /
(tau_x + tau_plateau) for u < 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import as_floats, check_pair
from biorrr.analysis.regression.exact_solution import ExactSolution
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
    exact = ExactSolution(X, Y, 0.0, ridge)
    filters = exact.regression() @ B
    return FixedFeedbackLaw(filters, float(exact.excess(filters)))


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


def fit_distal_rule(
    y: NDArray, z: NDArray, a: NDArray, Vy: NDArray, eta: NDArray
) -> dict[str, float]:
    """Fit dVy = eta (y z' - own_current y a' - decay Vy), by least squares, to recordings of T
    successive samples.

    The paper's rule (Sec. 5.1) has own_current = s and decay = 1 - s, with a ridge 1 - s + s ridge.

    Parameters
    ----------
    y, z, a : (T, n), (T, k), (T, k)
        Distal input, somatic output and distal current.
    Vy : (T, n, k)
        Distal weights after each sample.
    eta : (T,)
        Rate of distal plasticity, in any unit.

    Returns
    -------
    ``own_current`` and ``decay``, the coefficients over that of the Hebbian term, and
    ``unexplained``, the share of the changes (of their sum of squares) that the rule does not
    explain.
    """
    change = np.diff(Vy, axis=0) / eta[1:, None, None]
    terms = [y[1:, :, None] * z[1:, None, :], -y[1:, :, None] * a[1:, None, :], -Vy[:-1]]
    (hebbian, own_current, decay), *_ = np.linalg.lstsq(
        np.stack([term.ravel() for term in terms], axis=1), change.ravel(), rcond=None
    )
    explained = hebbian * terms[0] + own_current * terms[1] + decay * terms[2]
    unexplained = np.square(change - explained).sum() / np.square(change).sum()
    found = {
        "own_current": own_current / hebbian,
        "decay": decay / hebbian,
        "unexplained": unexplained,
    }
    return {name: float(value) for name, value in found.items()}


def eligibility_trace(values: ArrayLike, tau: float, dt: float = 1.0) -> np.ndarray:
    """Return the trace of ``values`` (steps, ...) at each step of ``dt``, from rest; ``tau`` of 0
    returns the values.

    >>> eligibility_trace([1.0, 0.0], tau=1 / math.log(2))
    array([0.5 , 0.25])
    """
    from scipy.signal import lfilter

    left = math.exp(-dt / tau) if tau else 0.0
    return lfilter([1 - left], [1, -left], np.asarray(values, dtype=float), axis=0)


def pairing_curve(
    lags: ArrayLike, pulses: ArrayLike, plateau: float, tau_x: float, tau_plateau: float
) -> np.ndarray:
    """Return the change of a weight when ``pulses`` of unit area are paired with a plateau of unit
    height.

    Parameters
    ----------
    lags : (L,)
        Seconds from the first pulse to the onset of the plateau; negative where the plateau comes
        first.
    pulses : (P,)
        Seconds from the first pulse to each of them.
    plateau
        Its duration in seconds.
    tau_x, tau_plateau
        Time constants of the two traces in seconds.

    Returns
    -------
    change : (L,)
    """
    onset = np.asarray(lags, dtype=float)[:, None] - np.asarray(pulses, dtype=float)

    def area(u: np.ndarray) -> np.ndarray:  # under the kernel up to u, times tau_x + tau_plateau
        before = tau_plateau * np.exp(np.minimum(u, 0) / max(tau_plateau, 1e-300))
        return before + tau_x * -np.expm1(-np.maximum(u, 0) / max(tau_x, 1e-300))

    return (area(onset + plateau) - area(onset)).sum(axis=1) / (tau_x + tau_plateau)


def fit_time_constants(
    lags: ArrayLike, change: ArrayLike, pulses: float, plateau: float
) -> tuple[float, float]:
    """Return the time constants of the two flanks of a pairing curve, each by a least-squares fit
    of an exponential.

    Only lags at which pulses and plateau do not overlap count; a flank without any change has none,
    NaN.

    Parameters
    ----------
    lags, change : (L,)
        Seconds from the first pulse to the onset of the plateau, and the change of the weight.
    pulses, plateau
        Seconds from the first pulse to the last, and duration of the plateau.

    Returns
    -------
    forward, backward
        Of the flank where the input comes first, and of the one where the plateau does, in seconds.
    """
    lags, change = np.asarray(lags, dtype=float), np.asarray(change, dtype=float)
    return (
        _decay(lags - pulses, change),
        _decay(-lags - plateau, change),
    )


def _decay(gap: np.ndarray, change: np.ndarray) -> float:
    from scipy.optimize import curve_fit

    apart = gap > 0
    peak = float(np.abs(change).max(initial=0))
    if apart.sum() < 3 or np.abs(change[apart]).max() < 1e-6 * peak or not peak:
        return math.nan
    gap, change = gap[apart], change[apart] / peak
    start = (float(change[np.argmin(gap)]), 1.0)
    try:
        (_, tau), _ = curve_fit(lambda u, size, tau: size * np.exp(-u / tau), gap, change, p0=start)
    except RuntimeError:  # it is no exponential
        return math.nan
    return float(tau)


def learned_weights(
    inputs: ArrayLike, plateau: ArrayLike, dt: float, tau_x: float, tau_plateau: float
) -> np.ndarray:
    """Return the change of each weight in a lap that is repeated again and again, from the kernel
    alone.

    Parameters
    ----------
    inputs : (steps, m)
        Inputs along the lap.
    plateau : (steps,)
        Plateau along the lap.
    dt
        Seconds per step.
    tau_x, tau_plateau
        Time constants of the two traces in seconds.

    Returns
    -------
    change : (m,)
    """
    inputs, plateau = np.asarray(inputs, dtype=float), np.asarray(plateau, dtype=float)
    lags, lap = dt * np.arange(len(inputs)), dt * len(inputs)
    # Each lag recurs lap after lap, on both flanks of the kernel: geometric series.
    after = np.exp(-lags / tau_x) / -np.expm1(-lap / tau_x)
    before = np.exp((lags - lap) / tau_plateau) / -np.expm1(-lap / tau_plateau)
    kernel = (after + before) / (tau_x + tau_plateau)
    # Input at one step, plateau a lag later: a correlation around the lap.
    spectrum = np.fft.rfft(inputs, axis=0) * np.fft.rfft(dt * kernel)[:, None]
    return dt * plateau @ np.fft.irfft(spectrum, len(inputs), axis=0)


def field_place_and_width(field: ArrayLike, length: float) -> tuple[float, float]:
    """Return the place of the peak of a field on a circular track and its width at half height, in
    units of ``length``.

    ``field`` (bins,) stands on its lowest value; both numbers are interpolated between bins.
    """
    from scipy.signal import peak_widths

    field = np.asarray(field, dtype=float)
    bins = len(field)
    size = length / bins
    peak = int(np.argmax(field))
    # The top is a parabola through three bins.
    left, top, right = field[(peak - 1) % bins], field[peak], field[(peak + 1) % bins]
    curve = left - 2 * top + right
    place = (peak + (0.5 * (left - right) / curve if curve else 0.0)) * size
    laps = np.tile(field, 3)  # the peak in the middle lap stands on the lowest value of each side
    width = peak_widths(laps, [bins + peak], rel_height=0.5)[0].item()
    return float(place % length), width * size


def traced_fixed_point(C_ex: ArrayLike, C_ey: ArrayLike, k: int) -> np.ndarray:
    """Return the filters at which a circuit with eligibility traces stands still for s = 0: C_ey Vy
    = C_ex Vx QR.

    With Vy = C_ye Vx they span the leading eigenvectors of C_ey C_ye v = mu C_ex v.

    Parameters
    ----------
    C_ex : (m, m)
        Covariance of the trace of the input and the input.
    C_ey : (m, n)
        Covariance of the trace of the input and the instruction.
    k
        How many filters.

    Returns
    -------
    Vx : (m, k)
        A basis of their span.
    """
    from scipy.linalg import eig

    C_ey = np.asarray(C_ey, dtype=float)
    values, vectors = eig(C_ey @ C_ey.T, np.asarray(C_ex, dtype=float))
    leading = np.argsort(-values.real)[:k]
    return np.linalg.qr(vectors[:, leading].real)[0]

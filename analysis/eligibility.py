"""Closed forms of learning across time: weights that eligibility traces make, and the fixed point
of a circuit.

A trace e of a signal x is its exponential average, de/dt = (x - e)/tau. Where the product of a
trace of the input and a trace of the plateau teaches, an input pulse and a plateau a lag u later
change a weight by K(u) = exp(-u/tau_x) / (tau_x + tau_plateau) for u > 0 and exp(u/tau_plateau) /
(tau_x + tau_plateau) for u < 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


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
    steps = len(inputs)
    lag = dt * np.arange(-steps * 20, steps * 20 + 1)  # laps enough for every trace to be over
    kernel = np.where(lag >= 0, np.exp(-np.abs(lag) / tau_x), np.exp(-np.abs(lag) / tau_plateau))
    around = np.zeros(steps)
    np.add.at(
        around, np.arange(-steps * 20, steps * 20 + 1) % steps, kernel * dt / (tau_x + tau_plateau)
    )
    # Input at one step, plateau a lag later: a correlation around the lap.
    spectrum = np.fft.rfft(inputs, axis=0) * np.fft.rfft(around)[:, None]
    return dt * plateau @ np.fft.irfft(spectrum, steps, axis=0)


def field_place_and_width(field: ArrayLike, length: float) -> tuple[float, float]:
    """Return the place of the peak of a field on a circular track and its width at half height, in
    units of ``length``.

    ``field`` (bins,) stands on its lowest value; both numbers are interpolated between bins.
    """
    field = np.asarray(field, dtype=float)
    bins = len(field)
    size = length / bins
    peak = int(np.argmax(field))
    # The top is a parabola through three bins.
    left, top, right = field[(peak - 1) % bins], field[peak], field[(peak + 1) % bins]
    curve = left - 2 * top + right
    place = (peak + (0.5 * (left - right) / curve if curve else 0.0)) * size
    half = (field.max() + field.min()) / 2

    def reach(step: int) -> float:
        for away in range(1, bins):
            inner, outer = (
                field[(peak + step * (away - 1)) % bins],
                field[(peak + step * away) % bins],
            )
            if outer <= half:
                return away - 1 + (inner - half) / (inner - outer)
        return float(bins)

    return float(place % length), float((reach(1) + reach(-1)) * size)


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

"""Observation of distal plasticity: weights now and then, activity through calcium."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError


class DistalRecordings(NamedTuple):
    """Arguments of :func:`~biorrr.analysis.infer_s`, in its order and with its shapes."""

    y: NDArray
    z: NDArray
    a: NDArray
    Vy: NDArray
    dVy: NDArray


def between_observations(
    y: ArrayLike, z: ArrayLike, a: ArrayLike, Vy: ArrayLike, when: ArrayLike
) -> DistalRecordings:
    """Return recordings between successive observations of the weights.

    The mean of two observations stands for the weights between them: it is what the decay acts on,
    up to the square of the change, and noise of the observations does not make it depend on their
    difference.

    Parameters
    ----------
    y, z, a : (S, n), (S, k), (S, k)
        Activity in S successive samples.
    Vy : (O, n, k)
        Weights at O observations.
    when : (O,) int
        How many of the S samples had been before each observation, in equal steps.
    """
    Vy, when = np.asarray(Vy, dtype=float), np.asarray(when)
    steps = np.unique(np.diff(when))
    if (
        len(when) < 2
        or len(steps) != 1
        or steps[0] < 1
        or when[0] < 0
        or when[-1] > len(np.asarray(y))
    ):
        raise InputError(
            "when: must be at least two sample counts in equal steps, from 0 to"
            f" {len(np.asarray(y))} (got"
            f" {', '.join(map(str, when[:5]))}{', ...' if len(when) > 5 else ''}); choose some that"
            " are evenly spaced"
        )
    rows, shape = slice(when[0], when[-1]), (len(when) - 1, int(steps[0]), -1)
    y, z, a = (np.asarray(values)[rows].reshape(shape) for values in (y, z, a))
    return DistalRecordings(y, z, a, (Vy[1:] + Vy[:-1]) / 2, np.diff(Vy, axis=0))


def deconvolved(trace: ArrayLike, tau: float) -> NDArray:
    """Return the activity behind a calcium trace (samples, cells), its exponential average over
    ``tau`` samples.

    This is the inverse of :func:`~biorrr.analysis.eligibility_trace`.

    Noise in the trace grows by sqrt((1 + kept^2)/(1 - kept)^2), with kept = exp(-1/tau): by 6 at
    tau = 4.5 samples. The first sample assumes rest before it.
    """
    trace, kept = np.asarray(trace, dtype=float), np.exp(-1 / tau)
    before = np.concatenate([np.zeros_like(trace[:1]), trace[:-1]])
    return (trace - kept * before) / (1 - kept)

"""Random numbers that depend only on where they are drawn, so that a seed means the same on every
engine.

A draw is a hash of (seed, stream, moment, index): no generator has a state that engines would have
to share, segments to hand on or a continued run to restore. Equations call them by name, with the
broadcast variables `seed` and `moment`, which counts the ticks of all samples, and `i`, the cell;
the same functions here give the same numbers to a plain NumPy loop:

>>> gaussian_draw(seed=5, stream=Stream.PROXIMAL, moment=0, index=[0, 1]).round(4)
array([ 0.4856, -0.1469])

Engines and exports say the same few lines in their own languages. Whole numbers come as floating
point, exact up to 2**53.
"""

from __future__ import annotations

import math
import zlib
from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """One stream per place of the circuit where numbers are drawn, so that no two places share
    them.

    Parts of your own use any whole number from ``OWN`` on.
    """

    PROXIMAL = 0
    DISTAL = 1
    INHIBITORY = 2
    RECRUITMENT = 3
    PLATEAU = 4
    OUTPUT = 5
    INTERNEURON = 6
    WIRING = 7
    POLARITY = 8
    RASTER = 9
    SOMA_NOISE = 10
    INTERNEURON_NOISE = 11
    OWN = 1000


# Above this mean a Poisson number is drawn as a rounded Gaussian: the two differ by less than 1e-4
# in distribution.
LARGEST_MEAN = 1e6

# SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): its step and its mixing function.
_STEP, _FACTORS, _SHIFTS = (
    0x9E3779B97F4A7C15,
    (0xBF58476D1CE4E5B9, 0x94D049BB133111EB),
    (30, 27, 31),
)


def uniform_draw(seed, stream, moment, index) -> np.ndarray:
    """Draw uniform numbers in the open interval (0, 1), one for each place; the arguments
    broadcast.
    """
    state = np.zeros(np.broadcast(seed, stream, moment, index).shape or (1,), dtype=np.uint64)
    for word in (seed, stream, moment, index):
        state = state + np.uint64(_STEP) + np.asarray(word).astype(np.int64).astype(np.uint64)
        for factor, shift in zip(_FACTORS, _SHIFTS, strict=False):
            state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
        state = state ^ (state >> np.uint64(_SHIFTS[-1]))
    return ((state >> np.uint64(12)) + 0.5) * 2.0**-52


def gaussian_draw(seed, stream, moment, index) -> np.ndarray:
    """Draw Gaussian numbers of mean 0 and variance 1 (Box and Muller's transform), one for each
    place.
    """
    index = np.asarray(index, dtype=np.float64)
    radius = np.sqrt(-2 * np.log(uniform_draw(seed, stream, moment, 2 * index)))
    return radius * np.cos(2 * np.pi * uniform_draw(seed, stream, moment, 2 * index + 1))


def poisson_draw(mean, seed, stream, moment, index) -> np.ndarray:
    """Draw Poisson numbers of ``mean``, one for each place."""
    place = seed, stream, moment, index
    place = seed, stream, moment, index
    uniforms, gaussians = uniform_draw(*place), gaussian_draw(*place)
    with np.errstate(invalid="ignore"):  # a mean may be NaN
        return np.vectorize(_poisson, otypes=[float])(mean, uniforms, gaussians)


def _poisson(mean: float, u: float, gaussian: float) -> float:
    """Turn a uniform ``u`` into a Poisson number: take the probabilities from it, the likeliest
    number first.

    That needs about sqrt(mean) steps and no probability small enough to vanish. Large numbers are
    made of a ``gaussian`` one.
    """
    if not mean > 0:
        return mean * 0
    if mean > LARGEST_MEAN:
        return np.floor(mean + np.sqrt(mean) * gaussian + 0.5)
    low = high = mode = float(math.floor(mean))
    below = above = math.exp(mode * math.log(mean) - mean - math.lgamma(mode + 1))
    u -= above
    while u > 0 and above + below > 1e-18:
        high += 1
        above *= mean / high
        u -= above
        if u <= 0:
            return high
        if low > 0:
            below *= low / mean
            low -= 1
            u -= below
            if u <= 0:
                return low
    return mode


DRAWS = {draw.__name__: draw for draw in (uniform_draw, gaussian_draw, poisson_draw)}


def stream_of(name: str) -> int:
    """Return a stream for the place called ``name``, far from those that have a number of their
    own.
    """
    return 2**32 + zlib.crc32(name.encode())


def in_area(stream: int, area: int) -> int:
    """Return the stream of the same place in ``area``: its own in each, and ``stream`` itself in
    the first or only.
    """
    return int(stream) if area <= 1 else stream_of(f"{int(stream)} in area {area}")

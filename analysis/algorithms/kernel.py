"""Inner loops compiled by numba, the algebra that they are made of, and learning rates as they read
them.

Explicit loops: products of small matrices by BLAS take ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.checks import given_rates
from biorrr.models.rates import Rates

# Sums may be reordered and fused, which is what lets them use vector instructions. NaN and infinity
# keep their meaning: a divergence must stay visible.
_FASTMATH = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Callable) -> Callable:
    """Compile ``function``, which may call the kernels below and those of its own file.

    The machine code is kept on disk where there is a folder for it, and compiled anew in each
    process where not. The store notices no change in a kernel of another file: after a change
    below, touch the files that use it.
    """
    try:
        return numba.njit(cache=True, nogil=True, fastmath=_FASTMATH)(function)
    except (
        RuntimeError
    ):  # numba's "no locator available": neither the package nor the home folder can be written
        return numba.njit(nogil=True, fastmath=_FASTMATH)(function)


# Kernels below become part of their callers, which saves the calls between compiled functions.
_inlined = numba.njit(inline="always", fastmath=_FASTMATH)


def rates_at(samples: NDArray, rates: Rates | str, pathways: str) -> NDArray:
    """Return the rate of each pathway at each of ``samples``, (samples, pathways); without samples
    where rates follow the data.
    """
    given = given_rates(rates)
    if given is None:
        return np.empty((0, len(pathways)))
    return np.stack([getattr(given, name)(samples) for name in pathways], axis=1)


@_inlined
def vanished(gain, loss, tol):
    """Return True if a gradient, gain - loss, has shrunk to the share ``tol`` of its loss."""
    return np.linalg.norm(gain - loss) <= tol * np.linalg.norm(loss)


@_inlined
def square(A):
    """Return the sum of the squares of an array."""
    total = 0.0
    for value in A.flat:
        total += value * value
    return total


@_inlined
def set_product(out, A, x):
    """Set ``out`` (k,) to A x."""
    for j in range(A.shape[0]):
        total = 0.0
        for i in range(A.shape[1]):
            total += A[j, i] * x[i]
        out[j] = total


@_inlined
def set_gram(out, A):
    """Set ``out`` (k, k) to AA'."""
    for j in range(A.shape[0]):
        for i in range(j + 1):
            total = 0.0
            for h in range(A.shape[1]):
                total += A[j, h] * A[i, h]
            out[j, i] = out[i, j] = total


@_inlined
def add_product(out, factor, A, B):
    """Add a multiple of AB to ``out``."""
    for j in range(out.shape[0]):
        for h in range(A.shape[1]):
            for i in range(out.shape[1]):
                out[j, i] += factor * A[j, h] * B[h, i]


@_inlined
def add_outer(out, factor, u, v):
    """Add a multiple of uv' to ``out``."""
    for j in range(len(u)):
        for i in range(len(v)):
            out[j, i] += factor * u[j] * v[i]


@_inlined
def mix(out, kept, factor, A):
    """Set ``out`` to a multiple of itself plus a multiple of ``A``."""
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[j, i] = kept * out[j, i] + factor * A[j, i]

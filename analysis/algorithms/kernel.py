"""Inner loops compiled by numba, and learning rates as they read them."""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from numpy.typing import NDArray

from biorrr.models.rates import Rates

# Sums may be reordered and fused, which is what lets them use vector instructions. NaN and infinity keep their
# meaning: a divergence must stay visible.
_FASTMATH = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Callable) -> Callable:
    """Compile ``function``, which must not call kernels of other files: numba's store would miss a change in those.

    The machine code is kept on disk where there is a folder for it, and compiled anew in each process where not.
    """
    try:
        return numba.njit(cache=True, nogil=True, fastmath=_FASTMATH)(function)
    except RuntimeError:  # numba's "no locator available": neither the package nor the home folder can be written
        return numba.njit(nogil=True, fastmath=_FASTMATH)(function)


def rate_table(rates: Rates | None, pathways: str) -> NDArray:
    """Return eta0 and N of each pathway, (len(pathways), 2), or (0, 2) for rates that follow the data."""
    table = [] if rates is None else [(rate.eta0, rate.N) for rate in (getattr(rates, name) for name in pathways)]
    return np.array(table, dtype=float).reshape(-1, 2)

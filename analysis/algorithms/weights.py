"""Initial weights of Bio-RRR."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError


def initial_weights(
    shape: tuple[int, int, int],
    start: tuple[float, float, float],
    rng: np.random.RandomState,
    Vx0: ArrayLike | None,
    Vy0: ArrayLike | None,
    Q0: ArrayLike | None,
) -> tuple[NDArray, NDArray, NDArray]:
    """Vx (m, k), Vy (n, k) and Q (k, l): those given, checked and copied, and where none is given,
    drawn.

    Parameters
    ----------
    shape
        m, n and k.
    start
        Standard deviations of Vx and of Vy, and the diagonal of Q.
    rng
        Draws them, whether given or not.
    """
    (m, n, k), (size_x, size_y, size_q) = shape, start
    Vx, Vy = size_x * rng.standard_normal((m, k)), size_y * rng.standard_normal((n, k))
    return (
        Vx if Vx0 is None else check_weights("Vx0", Vx0, (m, k)),
        Vy if Vy0 is None else check_weights("Vy0", Vy0, (n, k)),
        size_q * np.eye(k) if Q0 is None else check_weights("Q0", Q0, (k, np.shape(Q0)[-1])),
    )


def check_weights(name: str, weights: ArrayLike, shape: tuple[int, int]) -> NDArray:
    """Return a copy of ``weights`` as floats, if they are finite and have that shape."""
    weights = np.array(weights, dtype=float)
    if weights.shape != shape or not np.isfinite(weights).all():
        raise InputError(f"{name}: must be finite, of shape {shape} (got shape {weights.shape})")
    return weights

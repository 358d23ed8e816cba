"""Where Bio-RRR starts: the synaptic weights before the first sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import given_rates
from biorrr.models.rates import Rates


def initial_weights(
    X: NDArray,
    Y: NDArray,
    k: int,
    s: float,
    rates: Rates | str,
    rng: np.random.RandomState,
    Vx0: ArrayLike | None,
    Vy0: ArrayLike | None,
    Q0: ArrayLike | None,
) -> tuple[NDArray, NDArray, NDArray]:
    """Vx (m, k), Vy (n, k) and Q (k, l): those given, checked and copied, and where none is given, drawn.

    Drawn are Vx ~ N(0, 1)/100, Vy ~ N(0, 1)/10 and Q = I/3, whatever the data. With rates that follow the data the
    weights do too, so that learning runs alike at any scale of ``X`` (n_samples, m) and ``Y`` (n_samples, n): Vx as
    above if |x| has unit mean square; Vy and Q in proportion to bounds on their optima.
    """
    m, n = X.shape[1], Y.shape[1]
    size_x, size_y, size_q = 0.01, 0.1, 1 / 3
    if given_rates(rates) is None:
        xx, yy = (np.square(A).sum() / len(A) or 1.0 for A in (X, Y))
        bound = yy / (1 - s + s * yy)  # on M's eigenvalues, which are those of QQ' at the optimum
        size_x, size_y, size_q = 0.01 / np.sqrt(xx), 0.03 * bound / np.sqrt(n * yy), 0.3 * np.sqrt(bound)
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
        raise ValueError(f"{name}: must be finite, of shape {shape} (got shape {weights.shape})")
    return weights

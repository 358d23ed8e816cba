"""What a circuit must know of its data beforehand, read block by block so that data on disk stay there."""

from __future__ import annotations

import numpy as np

_CHUNK = 2**22  # values looked at together
_SAMPLES_FOR_DIMENSION = 2000


def chunks(array: np.ndarray):
    """Blocks of rows of ``array``, of bounded size."""
    step = max(_CHUNK // array.shape[1], 1)
    return (array[start : start + step] for start in range(0, len(array), step))


def moments(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each column, shapes (features,)."""
    mean = sum(rows.sum(axis=0, dtype=np.float64) for rows in chunks(array)) / len(array)
    variance = sum(((rows - mean) ** 2).sum(axis=0) for rows in chunks(array)) / len(array)
    return mean, variance


def effective_dimension(array: np.ndarray, mean: np.ndarray) -> float:
    """Number of directions over which the power of ``array`` (n_samples, features) is spread, from 1 to all of them.

    The participation ratio of the covariance's eigenvalues, trace(C)^2 / trace(C^2), from evenly spaced samples.
    """
    rows = array[:: -(-len(array) // _SAMPLES_FOR_DIMENSION)] - mean
    # trace(C) and trace(C^2) are the same for the smaller of rows' rows and rows rows'.
    gram = rows.T @ rows if rows.shape[1] < len(rows) else rows @ rows.T
    power = np.trace(gram)
    return float(power**2 / (gram**2).sum()) if power > 0 else 1.0

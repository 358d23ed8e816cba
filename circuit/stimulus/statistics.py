"""What a circuit must know of its data beforehand, read block by block so that data on disk stay there."""

from __future__ import annotations

import numpy as np

_CHUNK = 2**22  # values looked at together


def chunks(array: np.ndarray):
    """Blocks of rows of ``array``, of bounded size."""
    step = max(_CHUNK // array.shape[1], 1)
    return (array[start : start + step] for start in range(0, len(array), step))


def moments(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each column, shapes (features,)."""
    mean = sum(rows.sum(axis=0, dtype=np.float64) for rows in chunks(array)) / len(array)
    variance = sum(((rows - mean) ** 2).sum(axis=0) for rows in chunks(array)) / len(array)
    return mean, variance

"""Matrices of binned activity, in memory or, where they are large, in a temporary file."""

from __future__ import annotations

import os
import tempfile
from typing import Literal

import numpy as np

from biorrr.analysis.memory_maps import forget_pages

ROWS_AT_ONCE = 8192


def empty_matrix(samples: int, columns: int, most: int, order: Literal["C", "F"] = "F") -> np.ndarray:
    """Return a matrix (samples, columns) to be filled, in a temporary file if it takes more than ``most`` bytes.

    The file has no name: its space is free as soon as the matrix is not used any more.
    """
    size = 8 * samples * columns
    if size <= most:
        return np.empty((samples, columns), order=order)
    with tempfile.NamedTemporaryFile(prefix="biorrr-", suffix=".bin") as file:
        matrix = np.memmap(file.name, float, "w+", shape=(samples, columns), order=order)
        if hasattr(os, "posix_fallocate"):  # a full disk is an error here, and would kill the process later
            os.posix_fallocate(file.fileno(), 0, size)
        return matrix


def by_sample(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix in a file row by row, as samples are read, and one in memory as it is."""
    if not isinstance(matrix, np.memmap):
        return matrix
    rows = empty_matrix(*matrix.shape, most=0, order="C")
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        rows[start : start + ROWS_AT_ONCE] = matrix[start : start + ROWS_AT_ONCE]
        forget_pages(matrix, rows)
    rows.flags.writeable = False
    return rows

"""A matrix that is written column by column, in memory or, where it is large, in a temporary file."""

from __future__ import annotations

import tempfile

import numpy as np


class Columns:
    """Columns of a matrix that come one after another, held in memory or in a temporary file."""

    def __init__(self, samples: int, large: bool) -> None:
        self._samples, self._count = samples, 0
        self._held: list[np.ndarray] = []
        # Deleted by its name as soon as it is mapped: its room is free when nobody uses it any more.
        self._file = tempfile.NamedTemporaryFile(prefix="biorrr-", suffix=".bin") if large else None  # noqa: SIM115

    def add(self, column: np.ndarray) -> None:
        """Add a column, (samples,)."""
        self._count += 1
        if self._file is None:
            self._held.append(column)
        else:
            self._file.write(np.ascontiguousarray(column, dtype=float).data)

    def joined(self) -> np.ndarray:
        """The matrix, (samples, columns), stored column by column."""
        if self._file is None:
            return np.array(self._held).T
        with self._file:
            self._file.flush()
            return np.memmap(self._file.name, float, "r", shape=(self._samples, self._count), order="F")

"""A matrix that is written column by column, in memory or, where it is large, in a temporary file."""

from __future__ import annotations

import os
import tempfile

import numpy as np

ROWS_AT_ONCE = 8192


class Columns:
    """Columns of a matrix that come one after another.

    Parameters
    ----------
    samples
        Rows of the matrix.
    large
        Whether to keep it in a file: units are read one by one, but are needed sample by sample, so that the columns
        are written first and then turned into rows.
    """

    def __init__(self, samples: int, large: bool) -> None:
        self._samples, self._count = samples, 0
        self._held: list[np.ndarray] = []
        self._file = _temporary() if large else None

    def add(self, column: np.ndarray) -> None:
        """Add a column, (samples,)."""
        self._count += 1
        if self._file is None:
            self._held.append(column)
        else:
            self._file.write(np.ascontiguousarray(column, dtype=float).data)

    def joined(self) -> np.ndarray:
        """The matrix, (samples, columns): in memory column by column, in a file row by row."""
        if self._file is None:
            return np.array(self._held).T
        # Files lose their names as soon as they are mapped: their room is free when nobody uses them any more.
        with self._file as by_column, _temporary() as by_row:
            by_column.flush()
            for start in range(0, self._samples, ROWS_AT_ONCE):
                rows = min(ROWS_AT_ONCE, self._samples - start)
                block = np.empty((rows, self._count))
                for column in range(self._count):
                    piece = os.pread(by_column.fileno(), 8 * rows, 8 * (column * self._samples + start))
                    block[:, column] = np.frombuffer(piece)
                by_row.write(block.data)
            by_row.flush()
            return np.memmap(by_row.name, float, "r", shape=(self._samples, self._count))


def _temporary():
    return tempfile.NamedTemporaryFile(prefix="biorrr-", suffix=".bin")

"""Rows of variables that are kept while a run goes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from biorrr.errors import InputError


def exactly(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return ``array``, which must have ``shape``: NumPy would stretch some others."""
    if array.shape != shape:
        raise InputError(f"array: must have shape {shape} (got {array.shape})")
    return array


class Series:
    """Rows of several variables, in arrays with room for all that are to come, which costs nothing
    until used.

    Parameters
    ----------
    room
        Number of rows.
    columns
        Numbers in a row of each variable, by its name.
    """

    def __init__(self, room: int, columns: Mapping[str, int]) -> None:
        self._samples = np.empty(room, np.int64)
        self._values = {name: np.empty((room, count)) for name, count in columns.items()}
        self._count = 0

    def add(self, samples, values: Mapping[str, np.ndarray]) -> None:
        """Append rows of every variable, (rows, columns), and the ``samples`` that they belong to,
        (rows,).
        """
        first, self._count = self._count, self._count + len(samples)
        self._samples[first : self._count] = samples
        for name, rows in self._values.items():
            rows[first : self._count] = exactly(values[name], (len(samples), rows.shape[1]))

    @property
    def samples(self) -> np.ndarray:
        """The sample that each row belongs to, shape (rows,)."""
        return self._samples[: self._count]

    @property
    def values(self) -> dict[str, np.ndarray]:
        """All rows so far by name, each (rows, columns); not copies."""
        return {name: rows[: self._count] for name, rows in self._values.items()}

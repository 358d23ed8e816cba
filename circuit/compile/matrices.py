"""Orientation of weights: engines keep them flat, source by source; the paper writes some matrices
target by source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Orientation:
    """The way round in which a pathway's matrix is written.

    Parameters
    ----------
    sources, targets
        Cells on either side of the synapses.
    target_by_source
        True where the matrix has one row per target cell, as the paper's Q and R.
    """

    sources: int
    targets: int
    target_by_source: bool = False

    def turned(self, pair: Sequence) -> tuple:
        """Return (of the source, of the target) as (of the rows, of the columns); the other way
        round alike.
        """
        return tuple(pair[::-1] if self.target_by_source else pair)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.turned((self.sources, self.targets))

    def matrix(self, flat: np.ndarray) -> np.ndarray:
        """Return flat values (..., synapses) as matrices (..., rows, columns)."""
        by_source = flat.reshape(*flat.shape[:-1], self.sources, self.targets)
        return by_source.swapaxes(-1, -2) if self.target_by_source else by_source

    def flat(self, matrix: np.ndarray) -> np.ndarray:
        """Return a matrix as flat values (synapses,); undoes :meth:`matrix`."""
        return (matrix.T if self.target_by_source else matrix).reshape(-1)

    def places(self, pairs: np.ndarray) -> np.ndarray:
        """Return (row, column) pairs, (synapses, 2), as places among the flat values."""
        source, target = self.turned((pairs[:, 0], pairs[:, 1]))
        return source * self.targets + target

    def ends(self, places):
        """Return the source and the target cell of each of ``places`` among the flat values."""
        return np.divmod(places, self.targets)

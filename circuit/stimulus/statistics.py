"""Facts about a table that a circuit needs beforehand, read block by block so that data on disk
stay there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biorrr.errors import InputError

_CHUNK = 2**22  # values looked at together
_ROWS = 1000  # samples that are kept for a closer look
# The largest absolute value of data: sums of fourth powers, and the units between, must not
# overflow.
_SMALLEST, _LARGEST = 1e-50, 1e50


def chunks(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield blocks of rows of ``array``, of bounded size."""
    step = max(_CHUNK // max(array.shape[1], 1), 1)
    return (array[start : start + step] for start in range(0, len(array), step))


@dataclass(frozen=True)
class Facts:
    """Facts about a table.

    Parameters
    ----------
    mean, variance : (features,)
        Of each column.
    power
        Mean of the squared length of a row as it is presented, centred or not; 1 where all rows are
        zero.
    some : (at most 1000, features)
        Evenly spaced rows.
    """

    mean: np.ndarray
    variance: np.ndarray
    power: float
    some: np.ndarray


def facts_of(name: str, array: np.ndarray, centre: bool = False) -> Facts:
    """Return the facts about ``array``; refuse values that floating point cannot work with.

    It is read twice: once for its means, once for deviations from them.
    """
    largest, total, at = 0.0, np.zeros(array.shape[1]), 0
    step = -(-len(array) // _ROWS)
    some = []
    for rows in chunks(array):
        largest = max(largest, float(np.abs(rows).max()))
        bad = ~np.isfinite(rows)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise InputError(
                f"{name}: must be finite (got {rows[row, column]} among the values of feature"
                f" {column}); drop or fill in such samples first"
            )
        total += rows.sum(axis=0, dtype=np.float64)
        some.append(np.array(rows[-at % step :: step]))
        at += len(rows)
    if largest and not _SMALLEST <= largest <= _LARGEST:
        raise InputError(
            f"{name}: its largest value must lie in [{_SMALLEST:g}, {_LARGEST:g}], so that squares"
            f" of squares stay within floating point (got {largest:g}); give it in another unit"
        )
    mean, squares, power = total / len(array), np.zeros(array.shape[1]), 0.0
    shift = mean if centre else np.zeros_like(mean)
    for rows in chunks(array):
        squares += np.square(rows - mean).sum(axis=0)
        power += float(np.square(rows - shift).sum())
    return Facts(mean, squares / len(array), power / len(array) or 1.0, np.concatenate(some))

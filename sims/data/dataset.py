"""Two views of the same samples, checked, with where they come from: what samples of any kind load
as.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from biorrr.hints import did_you_transpose
from biorrr.sims.data.values import DataError
from biorrr.sims.lazy import np

LARGEST = 1e50  # so that squares of squares, and their sums, stay finite
LOADED = 2**31  # bytes of data that may be copied in memory
ROWS_AT_ONCE = 4096  # memory-mapped arrays are looked through in pieces of this many samples


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Samples of a sensory and an instructive input.

    Parameters
    ----------
    name
        Name that the user gave.
    X
        (T, m) float64, sensory inputs; a read-only memory map where the file allows it.
    Y
        (T, n) float64, instructive inputs, row by row the same samples as ``X``.
    groups
        (T,) int, trial of each sample: samples of one trial must be held out together. None where
        samples are exchangeable.
    pixels
        Shape of one input as a picture, (height, width) or (channels, height, width), where inputs
        are pixels.
    strata
        (T,) int, samples of the same condition and time bin, of recordings; their mean is the
        response to the condition. None where the source knows no conditions.
    x_rates, y_rates
        (m,), (n,), mean rate of each unit in Hz, where X and Y are made of spikes.
    used
        Choices made in the source, by name, for the summary: areas, event, window and so on.
    notes
        Sentences about samples or units that were left out, and about guesses.
    views
        Words for X and for Y.
    """

    name: str
    X: np.ndarray
    Y: np.ndarray
    groups: np.ndarray | None = None
    pixels: tuple[int, ...] | None = None
    strata: np.ndarray | None = None
    x_rates: np.ndarray | None = None
    y_rates: np.ndarray | None = None
    used: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    views: tuple[str, str] = ("inputs", "targets")

    def __post_init__(self) -> None:
        for view in ("X", "Y"):
            object.__setattr__(self, view, self._checked(view, getattr(self, view)))
        if len(self.X) != len(self.Y):
            raise DataError(
                f"{self.name}: X and Y must have a row for each sample (got {len(self.X)} and"
                f" {len(self.Y)} rows){did_you_transpose(self.X.shape, self.Y.shape)}"
            )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: X {self.X.shape}, Y {self.Y.shape}>"

    @cached_property
    def checksum(self) -> str:
        """Sha256 of the shapes and values of X and Y: the same numbers, the same checksum, whatever
        file held them.
        """
        digest = hashlib.sha256()
        for view in (self.X, self.Y):
            digest.update(repr(view.shape).encode())
            for _, rows in _blocks(view):
                digest.update(np.ascontiguousarray(rows).data)
        return digest.hexdigest()

    @property
    def trials(self) -> np.ndarray:
        """Trial of each sample, (T,); exchangeable samples are trials of their own."""
        return np.arange(len(self.X)) if self.groups is None else self.groups

    @property
    def fits_in_memory(self) -> bool:
        """True if the data may be copied in memory as a whole."""
        return self.X.nbytes + self.Y.nbytes <= LOADED

    @cached_property
    def stand_in(self) -> tuple[np.ndarray, np.ndarray]:
        """X and Y with the covariances of the data, centred: all that scores need of them.

        They are the centred samples. Of data too large for that they are the triangular factor, m +
        n made-up samples found block by block: nothing is loaded whole, and nothing is squared.
        """
        if self.fits_in_memory:
            centred = self.centred()
            return centred.X, centred.Y
        rows = max(ROWS_AT_ONCE, 4 * (self.X.shape[1] + self.Y.shape[1]))
        means = [view.mean(axis=0) for view in (self.X, self.Y)]
        factor = np.empty((0, sum(map(len, means))))
        for start in range(0, len(self.X), rows):
            block = [
                view[start : start + rows] - mean
                for view, mean in zip((self.X, self.Y), means, strict=True)
            ]
            factor = np.linalg.qr(np.vstack([factor, np.hstack(block)]), mode="r")
        factor *= np.sqrt(len(factor) / len(self.X))
        return factor[:, : len(means[0])], factor[:, len(means[0]) :]

    @property
    def direction(self) -> str:
        """Inputs, targets and number of rows, in words."""
        (rows, m), n = self.X.shape, self.Y.shape[1]
        return f"{m} {self.views[0]} → {n} {self.views[1]}, {rows:,} rows"

    def swapped(self) -> Dataset:
        """Exchange X and Y: the instructive input predicts the sensory one."""
        return replace(self, X=self.Y, Y=self.X, views=self.views[::-1], pixels=None)

    def centred(self) -> Dataset:
        """Take the mean of each column off; the result is held in memory."""
        return replace(self, X=self.X - self.X.mean(axis=0), Y=self.Y - self.Y.mean(axis=0))

    def _checked(self, view: str, values: np.ndarray) -> np.ndarray:
        """Return ``values`` as a (T, columns) float64 array; refuse what cannot be one."""
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
            kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise DataError(
                f"{self.name}: {view} must be a full array of real numbers (got {kind})"
            )
        if np.ma.is_masked(values):
            raise DataError(
                f"{self.name}: {view} must have no masked values (got"
                f" {np.ma.count_masked(values)}); drop or fill them"
            )
        if isinstance(values, np.ma.MaskedArray):
            values = np.asarray(values)
        if values.ndim != 2 or not values.size:
            raise DataError(
                f"{self.name}: {view} must be two-dimensional, samples by columns, with at least"
                f" one of each (got shape {values.shape}); a single column is an array of shape"
                " (samples, 1)"
            )
        values = values.astype(np.float64, copy=False)  # a memory map of these stays one
        for start, rows in _blocks(values):
            bad = np.argwhere(~(np.abs(rows) <= LARGEST))
            if len(bad):
                row, column = bad[0]
                value = rows[row, column]
                wanted, remedy = (
                    (f"lie within {LARGEST:g} of 0", "rescale it")
                    if np.isfinite(value)
                    else ("be finite", "drop or fill such samples first")
                )
                raise DataError(
                    f"{self.name}: {view} must {wanted} (got {value} at row {start + row}, column"
                    f" {column}, counted from 0); {remedy}"
                )
        return values


def _blocks(view: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the samples in ``view``, some at a time, with the number of the first of them."""
    from biorrr.analysis.memory_maps import forget_pages

    for start in range(0, len(view), ROWS_AT_ONCE):
        yield start, view[start : start + ROWS_AT_ONCE]
        forget_pages(view)

"""Activity of units in time, read unit by unit and only where it is asked for: spike times, or
sampled traces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biorrr.sims.data.values import DataError

# of a sampling interval: a sample on the edge of a bin belongs to it, whatever rounding says
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Windows:
    """Bins of equal width, one row of them for each trial.

    Parameters
    ----------
    starts
        (trials,) seconds at which the first bin of each trial begins.
    bins
        Number of bins in each trial.
    width
        Width of a bin, in seconds.
    """

    starts: np.ndarray
    bins: int
    width: float

    @property
    def edges(self) -> np.ndarray:
        """Seconds, (trials, bins + 1); a bin holds what comes from its own edge on and before the
        next.
        """
        return self.starts[:, None] + self.width * np.arange(self.bins + 1)

    def count(self, times: np.ndarray) -> np.ndarray:
        """Return how many of ``times`` (spikes,) fall into each bin, (trials * bins,)."""
        return np.diff(np.searchsorted(np.sort(times), self.edges), axis=1).ravel().astype(float)


@dataclass(frozen=True)
class SpikeTrains:
    """Spike times of each unit.

    Parameters
    ----------
    read
        Called with the number of a unit, returns its spike times in seconds, (spikes,).
    """

    read: Callable[[int], np.ndarray]

    counted: ClassVar[bool] = (
        True  # values are numbers of spikes, so that a mean rate means something
    )

    def span(self) -> tuple[float, float]:
        """Return an infinite span: it is not known without reading all spikes."""
        return -np.inf, np.inf

    def columns(self, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
        """Yield the spike counts of each unit in turn, (trials * bins,)."""
        for unit in units:
            times = np.asarray(self.read(unit), dtype=float)
            if not np.isfinite(times).all():
                raise DataError(
                    f"unit {unit}: spike times must be finite (got"
                    f" {int((~np.isfinite(times)).sum())} that are not); export them again, or"
                    " leave the unit out"
                )
            yield windows.count(times)


@dataclass(frozen=True)
class Series:
    """Traces of some units, sampled together.

    Parameters
    ----------
    name
        Name of the series in the file.
    data
        (samples, units), an array or anything that is read by slices, such as an HDF5 dataset.
    times
        (samples,) seconds.
    rate
        Samples per second.
    counts
        True if values are counts, which add up within a bin; others are averaged.
    """

    name: str
    data: Any
    times: np.ndarray
    rate: float
    counts: bool = False

    def binned(self, units: Sequence[int], windows: Windows) -> np.ndarray:
        """Return the mean of the samples in each bin (the sum for counts), (trials * bins,
        units).
        """
        interval = 1 / self.rate
        if windows.width < interval * (1 - TOLERANCE):
            raise DataError(
                f"bin: must not be shorter than the {interval:g} s between samples of {self.name} "
                f"(got {windows.width:g} s)"
            )
        first = np.searchsorted(
            self.times, windows.edges - TOLERANCE * interval
        )  # sample of each bin
        if (empty := (np.diff(first) == 0).any(axis=1)).any():
            raise DataError(
                f"{self.name}: each bin must hold a sample (got none in a bin of the trial that"
                f" begins at {windows.starts[empty.argmax()]:g} s); use a longer bin, or leave the"
                " trial out"
            )
        columns = slice(min(units), max(units) + 1)
        binned = np.empty((len(first), windows.bins, len(units)))
        for trial in np.argsort(
            windows.starts
        ):  # in the order of time: compressed chunks are opened once
            begin, *inner, end = first[trial]
            piece = np.asarray(self.data[begin:end, columns], dtype=float)[
                :, np.asarray(units) - columns.start
            ]
            binned[trial] = np.add.reduceat(piece, np.array([begin, *inner]) - begin, axis=0)
        binned = binned if self.counts else binned / np.diff(first)[..., None]
        return binned.reshape(-1, len(units))


@dataclass(frozen=True)
class Traces:
    """Sampled activity of one or several series, each with its own units, numbered through in this
    order.
    """

    series: tuple[Series, ...]

    @property
    def counted(self) -> bool:
        """True if all values are counts of spikes."""
        return all(one.counts for one in self.series)

    def span(self) -> tuple[float, float]:
        """Return the first and last moment, in seconds, that all series share; a sample lasts until
        the next.
        """
        return (
            float(max(one.times[0] for one in self.series)),
            float(min(one.times[-1] + 1 / one.rate for one in self.series)),
        )

    def columns(self, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
        """Yield the binned activity of each unit in turn, (trials * bins,); ``units`` ascend."""
        first = 0
        for series in self.series:  # units of one series are read together, as they lie in the file
            own = [unit - first for unit in units if first <= unit < first + series.data.shape[1]]
            if own:
                yield from series.binned(own, windows).T
            first += series.data.shape[1]

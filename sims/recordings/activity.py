"""Activity of units in time, read unit by unit and only where it is asked for: spike times, or sampled traces."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biorrr.sims.data.values import DataError

SAMPLES_AT_ONCE = 2**22  # values of a trace that are read together: 32 MB
TOLERANCE = 1e-6  # of a sampling interval: a sample on the edge of a bin belongs to it, whatever rounding says


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
        """Seconds, (trials, bins + 1); a bin holds what comes from its own edge on and before the next."""
        return self.starts[:, None] + self.width * np.arange(self.bins + 1)

    def count(self, times: np.ndarray) -> np.ndarray:
        """Return how many of ``times`` (spikes,) fall into each bin, (trials * bins,); windows must not overlap.

        Work is done for each spike and not for each edge, of which there are far more.
        """
        order = np.argsort(self.starts, kind="stable")
        trial = np.searchsorted(self.starts[order], times, side="right") - 1
        times, trial = times[trial >= 0], order[trial[trial >= 0]]
        near = times < self.starts[trial] + self.width * (self.bins + 1)  # of times far off, bins have no number
        times, trial = times[near], trial[near]
        starts = self.starts[trial]
        bin = np.floor((times - starts) / self.width).astype(np.int64)
        # Division may round a spike over an edge: the edges themselves decide.
        bin -= times < starts + self.width * bin
        bin += times >= starts + self.width * (bin + 1)
        within = (bin >= 0) & (bin < self.bins)
        place = trial[within] * self.bins + bin[within]
        return np.bincount(place, minlength=len(self.starts) * self.bins).astype(float)


@dataclass(frozen=True)
class SpikeTrains:
    """Spike times of each unit.

    Parameters
    ----------
    read
        Called with the number of a unit, returns its spike times in seconds, (spikes,).
    """

    read: Callable[[int], np.ndarray]

    counted: ClassVar[bool] = True  # values are numbers of spikes, so that a mean rate means something

    def span(self) -> tuple[float, float]:
        """Return an infinite span: it is not known without reading all spikes."""
        return -np.inf, np.inf

    def columns(self, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
        """Yield the spike counts of each unit in turn, (trials * bins,)."""
        for unit in units:
            times = np.asarray(self.read(unit), dtype=float)
            if not np.isfinite(times).all():
                raise DataError(
                    f"unit {unit}: spike times must be finite (got {int((~np.isfinite(times)).sum())} that are not); "
                    "export them again, or leave the unit out"
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
        (samples,) seconds, or first moment and samples per second where sampling is even.
    counts
        True if values are counts, which add up within a bin; others are averaged.
    """

    name: str
    data: Any
    times: np.ndarray | tuple[float, float]
    counts: bool = False

    @property
    def interval(self) -> float:
        """Seconds from one sample to the next, the longest of those that are usual."""
        if isinstance(self.times, tuple):
            return 1 / self.times[1]
        return float(np.median(np.diff(self.times))) if len(self.times) > 1 else np.inf

    def span(self) -> tuple[float, float]:
        """Return the first and last moment, in seconds; the last sample lasts until the next would come."""
        if isinstance(self.times, tuple):
            start, rate = self.times
            return start, start + len(self.data) / rate
        return float(self.times[0]), float(self.times[-1]) + self.interval

    def first_sample(self, moments: np.ndarray) -> np.ndarray:
        """Return the number of the first sample at or after each of ``moments``, any shape."""
        if isinstance(self.times, tuple):
            start, rate = self.times
            return np.clip(np.ceil((moments - start) * rate - TOLERANCE), 0, len(self.data)).astype(int)
        return np.searchsorted(self.times, moments - TOLERANCE * self.interval)


@dataclass(frozen=True)
class Traces:
    """Sampled activity, of one or several series.

    Parameters
    ----------
    series
        Each with its own units, numbered through in this order.
    """

    series: tuple[Series, ...]

    @property
    def counted(self) -> bool:
        """True if all values are counts of spikes."""
        return all(one.counts for one in self.series)

    def span(self) -> tuple[float, float]:
        """Return the first and last moment, in seconds, that all series share."""
        spans = np.array([one.span() for one in self.series])
        return float(spans[:, 0].max()), float(spans[:, 1].min())

    def columns(self, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
        """Yield the mean of the samples in each bin (the sum for counts), of each unit in turn, (trials * bins,)."""
        places = [(series, unit) for series in self.series for unit in range(series.data.shape[1])]
        # Units of one series are read together: samples of all units lie side by side in a file.
        for series, some in itertools.groupby((places[unit] for unit in units), key=lambda place: place[0]):
            yield from _columns(series, [unit for _, unit in some], windows)


def _columns(series: Series, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
    """Yield the binned activity of some units of a series, one after another, in a single pass over the series."""
    binned = np.empty((len(windows.starts) * windows.bins, len(units)))
    for place, values in _binned(series, units, windows):
        binned[place] = values
    yield from binned.T


def _binned(series: Series, units: Sequence[int], windows: Windows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield binned activity in pieces: numbers of bins through all trials, (n,), and values in them, (n, units)."""
    if windows.width < series.interval * (1 - TOLERANCE):
        raise DataError(
            f"bin: must not be shorter than the {series.interval:g} s between samples of {series.name} "
            f"(got {windows.width:g} s)"
        )
    order = np.argsort(windows.starts, kind="stable")
    first = series.first_sample(windows.edges[order])  # (trials, bins + 1), in the order of time
    begins, ends = first[:, :-1].ravel(), first[:, 1:].ravel()
    place = (order[:, None] * windows.bins + np.arange(windows.bins)).ravel()
    if (begins == ends).any():
        trial = order[int((begins == ends).argmax()) // windows.bins]
        raise DataError(
            f"{series.name}: each bin must hold a sample (got none in a bin of the trial that begins at "
            f"{windows.starts[trial]:g} s); use a longer bin, or leave the trial out"
        )
    columns = slice(min(units), max(units) + 1)
    chosen = np.asarray(units) - columns.start
    most = max(1, SAMPLES_AT_ONCE // (columns.stop - columns.start))
    done = 0
    while done < len(begins):
        # Bins that lie close together are read in one piece: compressed chunks are opened once.
        last = max(done + 1, int(np.searchsorted(ends, begins[done] + most, side="right")))
        start = begins[done]
        piece = np.asarray(series.data[start : ends[last - 1], columns], dtype=float)[:, chosen]
        # A row of zeros, so that a bin may end with the piece; sums between bins are left out.
        edges = np.column_stack([begins[done:last], ends[done:last]]).ravel() - start
        sums = np.add.reduceat(np.vstack([piece, np.zeros((1, len(units)))]), edges, axis=0)[::2]
        counts = (ends - begins)[done:last, None]
        yield place[done:last], sums if series.counts else sums / counts
        done = last

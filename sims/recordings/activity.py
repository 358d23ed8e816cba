"""Activity of units in time, read unit by unit and only where it is asked for: spike times, or sampled traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from biorrr.sims.data.dataset import DataError

SAMPLES_AT_ONCE = 2**22  # values of a trace that are read together: 32 MB
TOLERANCE = (
    1e-6  # of a sampling interval: a sample that lies on the edge of a bin belongs to it, whatever rounding says
)


@dataclass(frozen=True)
class Windows:
    """Bins of equal width, one row of them for each trial.

    Parameters
    ----------
    starts
        (trials,) seconds, when the first bin of each trial begins.
    bins
        How many in each trial.
    width
        Of a bin, in seconds.
    """

    starts: np.ndarray
    bins: int
    width: float

    @property
    def edges(self) -> np.ndarray:
        """Seconds, (trials, bins + 1); a bin holds what comes from its own edge on and before the next."""
        return self.starts[:, None] + self.width * np.arange(self.bins + 1)

    @property
    def ends(self) -> np.ndarray:
        """Seconds, (trials,), when the last bin of each trial ends."""
        return self.starts + self.width * self.bins


class Activity(Protocol):
    """What a recording needs to know of the activity of its units."""

    @property
    def counted(self) -> bool:
        """Whether values are numbers of spikes, so that a mean rate means something."""

    def span(self) -> tuple[float, float]:
        """First and last moment that was recorded, in seconds; infinite where that is not known."""

    def columns(self, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
        """Binned activity of each of ``units`` in turn, (trials * bins,), trial by trial."""


@dataclass(frozen=True)
class SpikeTrains:
    """Spike times of each unit.

    Parameters
    ----------
    read
        Called with the number of a unit, returns its spike times in seconds, (spikes,), increasing.
    """

    read: Callable[[int], np.ndarray]

    @property
    def counted(self) -> bool:
        """They are."""
        return True

    def span(self) -> tuple[float, float]:
        """Not known without reading all spikes."""
        return -np.inf, np.inf

    def columns(self, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
        """Spike counts of each unit in turn, (trials * bins,)."""
        edges = windows.edges
        for unit in units:
            times = np.asarray(self.read(unit), dtype=float)
            if not np.isfinite(times).all():
                raise DataError(
                    f"unit {unit}: spike times must be finite (got {int((~np.isfinite(times)).sum())} that are not); "
                    "export them again, or leave the unit out"
                )
            if (np.diff(times) < 0).any():
                times = np.sort(times)
            yield np.diff(np.searchsorted(times, edges), axis=1).ravel().astype(float)


@dataclass(frozen=True)
class Series:
    """Traces of some units, sampled together.

    Parameters
    ----------
    name
        What it is called in the file.
    data
        (samples, units), an array or anything that is read by slices, such as an HDF5 dataset.
    times
        (samples,) seconds, or first moment and samples per second where sampling is even.
    counts
        Whether values are counts, which add up within a bin; others are averaged.
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
        """First and last moment, in seconds; the last sample lasts until the next would come."""
        if isinstance(self.times, tuple):
            start, rate = self.times
            return start, start + len(self.data) / rate
        return float(self.times[0]), float(self.times[-1]) + self.interval

    def first_sample(self, moments: np.ndarray) -> np.ndarray:
        """Number of the first sample at or after each of ``moments``, any shape."""
        if isinstance(self.times, tuple):
            start, rate = self.times
            return np.clip(np.ceil((moments - start) * rate - TOLERANCE).astype(int), 0, len(self.data))
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
        """Whether all values are counts."""
        return all(one.counts for one in self.series)

    def span(self) -> tuple[float, float]:
        """The span that all series share."""
        spans = np.array([one.span() for one in self.series])
        return float(spans[:, 0].max()), float(spans[:, 1].min())

    def columns(self, units: Sequence[int], windows: Windows) -> Iterator[np.ndarray]:
        """Mean (or sum, of counts) of the samples in each bin, of each unit in turn, (trials * bins,)."""
        places = [(series, unit) for series in self.series for unit in range(series.data.shape[1])]
        wanted = [places[unit] for unit in units]
        start = 0
        while start < len(wanted):
            series = wanted[start][0]
            # Units of one series are read together: samples of all units lie side by side in a file.
            stop = start
            while stop < len(wanted) and wanted[stop][0] is series and stop - start < self._together(windows):
                stop += 1
            yield from self._binned(series, [unit for _, unit in wanted[start:stop]], windows).T
            start = stop

    @staticmethod
    def _together(windows: Windows) -> int:
        return max(1, SAMPLES_AT_ONCE // max(1, len(windows.starts) * windows.bins))

    @staticmethod
    def _binned(series: Series, units: Sequence[int], windows: Windows) -> np.ndarray:
        """Binned activity of some units of a series, (trials * bins, units), read in pieces of one or more trials."""
        if windows.width < series.interval * (1 - TOLERANCE):
            raise DataError(
                f"bin: must not be shorter than the {series.interval:g} s between samples of {series.name} "
                f"(got {windows.width:g} s)"
            )
        first = series.first_sample(windows.edges)  # (trials, bins + 1)
        columns = slice(units[0], units[-1] + 1)
        chosen = np.asarray(units) - units[0]
        binned = np.empty((len(windows.starts), windows.bins, len(units)))
        order = np.argsort(windows.starts, kind="stable")
        most = max(1, SAMPLES_AT_ONCE // max(1, columns.stop - columns.start))
        done = 0
        while done < len(order):
            # Trials that lie close together are read in one piece: compressed chunks are opened once.
            begin, last = first[order[done], 0], done
            while last + 1 < len(order) and first[order[last + 1], -1] - begin <= most:
                last += 1
            trials = order[done : last + 1]
            end = first[trials, -1].max()
            piece = np.asarray(series.data[begin:end, columns], dtype=float)[:, chosen]
            for trial in trials:
                edges = first[trial] - begin
                counts = np.diff(edges)
                if (counts == 0).any():
                    raise DataError(
                        f"{series.name}: each bin must hold a sample (got none in a bin of the trial that begins at "
                        f"{windows.starts[trial]:g} s); use a longer bin, or leave the trial out"
                    )
                sums = np.add.reduceat(piece[: edges[-1]], edges[:-1], axis=0)
                binned[trial] = sums if series.counts else sums / counts[:, None]
            done = last + 1
        return binned.reshape(-1, len(units))

"""A recording of units in several areas, from which pairs of areas are taken, bin by bin and trial
by trial.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.hints import did_you_mean
from biorrr.sims.data.arrays import read_npz
from biorrr.sims.data.dataset import LARGEST, Dataset
from biorrr.sims.data.files import check_regular, readable
from biorrr.sims.data.values import DataError, Pair, make
from biorrr.sims.recordings.activity import Series, SpikeTrains, Trials, align, bin_edges
from biorrr.sims.words import as_text, counted, listed, printable

LAYERS = re.compile(r"\d.*")  # what follows the name of a cortical area: VISp1, VISp2/3, VISp6a


@dataclass(frozen=True, eq=False)
class Recording:
    """Units with their areas, their activity, and trials.

    Made by :meth:`from_nwb` or :meth:`from_tensor`. Nothing of the activity is read before
    :meth:`pair` asks for two areas.

    Parameters
    ----------
    name
        Name that the user gave.
    areas
        (units,) text, the area of each unit.
    activity
        Spikes or traces; each part has its own units, numbered through in this order.
    trials
        Trials and their events.
    good
        (units,) True for units of good quality by spike sorting, or where it is not known.
    used
        Places in the file of areas, quality and activity.
    notes
        Sentences about what was left out or guessed on reading.
    source
        Open file that activity is read from.
    """

    name: str
    areas: np.ndarray
    activity: tuple[SpikeTrains | Series, ...]
    trials: Trials
    good: np.ndarray
    used: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: Any = None

    @classmethod
    def of_file(cls, file: str, **in_nwb: str | None) -> Recording:
        """Open a recording in a file: NWB, of which ``in_nwb`` are arguments of :meth:`from_nwb`,
        or .npz, with ``activity`` (trials, bins, units), ``areas``, and perhaps ``bin``,
        ``conditions`` and ``counts``.
        """
        path = Path(file)
        check_regular(path)
        if path.suffix.lower() == ".nwb":
            return cls.from_nwb(path, **in_nwb)
        for name, value in in_nwb.items():
            if value is not None:
                raise DataError(
                    f"{name}: applies to NWB files only (got {path}, which holds arrays)"
                )
        held = read_npz(path, ("activity", "areas"), ("bin", "conditions", "counts"))
        with readable(path, "not a readable recording"):
            return cls.from_tensor(**held, name=str(path))  # type: ignore[arg-type]

    @classmethod
    def from_nwb(
        cls,
        path: str | Path,
        *,
        area: str | None = None,
        trials: str | None = None,
        series: str | None = None,
    ) -> Recording:
        """Open a Neurodata Without Borders file; what is in it is read when :meth:`pair` needs it.

        Parameters
        ----------
        path
            Path of the file, in HDF5.
        area
            Column that says in which area a unit is, of the units or of their electrodes. Unless
            given: ``beryl_location``, ``area``, ``location`` and their like, whichever is there.
        trials
            Table of intervals; ``trials`` where there is one, or the only one there is.
        series
            Time series to take in place of spikes; where there are no spikes, dF/F or the series
            there are.
        """
        from biorrr.sims.recordings.nwb import recording_in_nwb

        return recording_in_nwb(Path(path), area, trials, series)

    @classmethod
    def from_tensor(
        cls,
        activity: np.ndarray,
        areas: Sequence[str],
        *,
        bin: float = 0.1,
        conditions: np.ndarray | Mapping[str, np.ndarray] | None = None,
        counts: bool | None = None,
        name: str = "tensor",
    ) -> Recording:
        """Make a recording of activity that is binned already.

        Parameters
        ----------
        activity
            (trials, bins, units), of which trials begin with their first bin.
        areas
            (units,) area of each unit.
        bin
            Width of a bin, in seconds.
        conditions
            (trials,) condition of each trial, or several columns by name.
        counts
            True if values are spike counts, which add up in wider bins; others are averaged. By
            default values are counts if none is negative.
        """
        activity, areas = np.asarray(activity), np.asarray(areas)
        if activity.dtype.kind not in "fiub" or activity.ndim != 3 or not activity.size:
            got = f"shape {activity.shape}, {printable(activity.dtype)}"
            raise DataError(
                f"{name}: activity must be numbers, trials by bins by units (got {got})"
            )
        trials, bins, units = activity.shape
        if areas.shape != (units,) or areas.dtype.kind not in "USiu":
            got = f"shape {areas.shape}, {printable(areas.dtype)}"
            raise DataError(f"{name}: areas must be a name for each of {units} units (got {got})")
        bin = float(np.asarray(bin).item())  # of a file, which holds arrays
        if not (np.isfinite(bin) and bin > 0):
            raise DataError(f"{name}: bin must be a positive number of seconds (got {bin:g})")
        moments = np.arange(trials * bins) * bin
        starts = moments[::bins]
        summed = bool((activity >= 0).all()) if counts is None else bool(counts)
        series = Series(name, activity.reshape(trials * bins, units), moments, 1 / bin, summed)
        if not isinstance(conditions, Mapping):
            conditions = {} if conditions is None else {"condition": conditions}
        columns = {column: np.asarray(values) for column, values in conditions.items()}
        for column, values in columns.items():
            if values.shape != (trials,):
                raise DataError(
                    f"{name}: {column} must have one entry per trial, {trials} (got shape"
                    f" {values.shape})"
                )
        table = Trials({"start_time": starts, "stop_time": starts + bins * bin}, columns)
        return cls(
            name,
            np.array([str(as_text(area)) for area in areas.tolist()]),
            (series,),
            table,
            np.ones(units, dtype=bool),
        )

    def close(self) -> None:
        """Close the file that activity is read from."""
        if self.source is not None:
            self.source.read_io.close()

    def __repr__(self) -> str:
        trials = f"{len(self.trials)} trials, events {listed(self.trials.times)}"
        return f"Recording {self.name}: {self.listed_areas}; {trials}"

    @property
    def listed_areas(self) -> str:
        """Areas with their numbers of units, in words."""
        return listed(
            f"{name} ({counted(count, 'unit')})" for name, count in self.units_of_areas().items()
        )

    def units_of_areas(self) -> dict[str, int]:
        """Return the number of units in each area, the largest first."""
        return dict(Counter(self.areas.tolist()).most_common())

    def pair(self, source: str, target: str, **options: Any) -> Dataset:
        """Return the binned activity of two areas; ``options`` are fields of
        :class:`~biorrr.sims.data.Pair`.

        An area may stand for its layers: ``VISp`` for ``VISp1``, ``VISp2/3`` and so on, where these
        are told apart. Trials without a condition are left out, and so are those that are the only
        one of their condition.

        Returns
        -------
        A :class:`~biorrr.sims.data.Dataset` with trials as ``groups`` and condition and bin as
        ``strata``; its ``used`` says what was chosen, and its ``notes`` what was left out.
        """
        fields = {"file": self.name, "source": source, "target": target}
        return self.take(make(Pair, fields | options))

    def take(self, pair: Pair) -> Dataset:
        """Return the binned activity of the two areas that ``pair`` names; see :meth:`pair`."""
        areas = {"source": pair.source, "target": pair.target}
        notes, used = [*self.notes], dict(self.used)
        units = [self._units(area, side, pair.quality, notes) for side, area in areas.items()]
        if both := set.intersection(*map(set, units)):
            raise DataError(
                f"target: must share no unit with the source (got {len(both)} in both,"
                f" {pair.source} and {pair.target})"
            )
        if pair.condition is None and self.trials.columns:
            notes.append(
                "all trials are treated as one condition; --condition groups them, by"
                f" {listed(self.trials.columns)}"
            )
        begins, ends = zip(*(one.span for one in self.activity), strict=True)
        span = max(begins), min(ends)
        starts, bins, conditions = align(self.trials, span, pair, used, notes)
        views = []
        for side, own, lag in zip(areas, units, (0.0, pair.lag), strict=True):
            edges = bin_edges(starts + lag, bins, pair.bin)
            views.append(self._binned(own, edges, side, pair, notes))
            used[side] = f"{areas[side]}, {counted(views[-1][0].shape[1], 'unit')}"
        (X, x_rates), (Y, y_rates) = views
        return Dataset(
            self.name,
            X,
            Y,
            groups=np.repeat(np.arange(len(starts)), bins),
            strata=(conditions[:, None] * bins + np.arange(bins)).ravel(),
            x_rates=x_rates,
            y_rates=y_rates,
            used=used,
            notes=tuple(notes),
            views=(f"units in {pair.source}", f"units in {pair.target}"),
        )

    # -- units -------------------------------------------------------------------------------------

    def _units(self, area: str | None, side: str, quality: str, notes: list[str]) -> list[int]:
        """Return the numbers of the units of an area."""
        if not area:
            raise DataError(f"{side}: choose an area of {self.name}; there are {self.listed_areas}")
        chosen = self.areas == area
        if not chosen.any():
            layers = [
                name
                for name in self.units_of_areas()
                if name.startswith(area) and LAYERS.fullmatch(name[len(area) :])
            ]
            chosen = np.isin(self.areas, layers)
            if layers:
                notes.append(f"{area} is {listed(sorted(layers))} together")
        if not chosen.any():
            hint = did_you_mean(area, self.units_of_areas(), cutoff=0.5)
            raise DataError(
                f"{side}: no units in area {area!r} of {self.name}{hint}; there are"
                f" {self.listed_areas}"
            )
        if quality == "good":
            poor = int((chosen & ~self.good).sum())
            if poor == chosen.sum():
                raise DataError(
                    f"{side}: none of the {poor} units in {area} is of good quality; --quality all"
                    " keeps them"
                )
            if poor:
                notes.append(
                    f"{poor} of {int(chosen.sum())} units in {area} left out, not of good quality"
                )
            chosen = chosen & self.good
        return np.flatnonzero(chosen).tolist()

    def _columns(self, units: list[int], edges: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the binned activity of each unit in turn, (trials * bins,); ``units`` ascend."""
        first = 0
        for part in self.activity:
            own = [unit - first for unit in units if first <= unit < first + part.units]
            if own:
                yield from part.columns(own, edges)
            first += part.units

    def _binned(
        self, units: list[int], edges: np.ndarray, side: str, pair: Pair, notes: list[str]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the binned activity of units that can be used, (trials * bins, units), and their
        mean rates.
        """
        from biorrr.circuit.simulation.progress import progress_bar

        binned = np.empty((len(edges) * (edges.shape[1] - 1), len(units)), order="F")
        with progress_bar(len(units), " units", f"reading {Path(self.name).name}, {side}") as bar:
            for place, column in enumerate(self._columns(units, edges)):
                binned[:, place] = column
                bar.update()
        counted_spikes = all(one.counted for one in self.activity)
        rates, least, most = binned.mean(axis=0) / pair.bin, binned.min(0), binned.max(0)
        reasons = {
            "with missing values (NaN) in the windows": np.isnan(least),
            f"with values beyond {LARGEST:g}": np.maximum(most, -least) > LARGEST,
            "that never change within the windows": most == least,
            f"that fire less than {pair.minimum_rate:g} spikes per second within the windows": (
                counted_spikes & (rates < pair.minimum_rate)
            ),
        }
        kept, left_out = np.ones(len(units), dtype=bool), []
        for why, bad in reasons.items():
            if count := int((kept & bad).sum()):
                left_out.append(f"{count} left out {why}")
                notes.append(f"{count} of {len(units)} {side} units left out, {why}")
            kept &= ~bad
        if kept.sum() < 2:
            raise DataError(
                f"{side}: must have at least two units to be a population (got {kept.sum()} of"
                f" {len(units)}: {'; '.join(left_out) or 'there are no more'})"
            )
        if pair.scale == "sqrt" and least[kept].min() < 0:
            raise DataError(
                f"scale: sqrt needs counts, which are not negative (got {least[kept].min():g} in"
                f" the {side})"
            )
        binned = binned if kept.all() else binned[:, kept]
        return (
            np.sqrt(binned) if pair.scale == "sqrt" else binned,
            rates[kept] if counted_spikes else None,
        )

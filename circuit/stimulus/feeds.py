"""Data on their way into a circuit: checked, centred and scaled, port by port."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.timing import Timing
from biorrr.circuit.stimulus.data_checks import check_table, file_facts, warn_of_columns
from biorrr.circuit.stimulus.signals import TimeSeries
from biorrr.circuit.stimulus.statistics import Facts, facts_of
from biorrr.circuit.stimulus.units import Units
from biorrr.errors import InputError
from biorrr.models.physical_units import in_si


@dataclass(frozen=True)
class Feed:
    """The data of one port.

    Parameters
    ----------
    values
        As given, shape (n_samples, features); memory maps stay on disk.
    mean
        Subtracted from each sample, shape (features,).
    gain
        By which each sample is multiplied after that.
    held, ticks
        Ticks for which a sample is held, and for which a row is shown: equal where every sample is one row.
    centred
        Whether ``mean`` is that of the values, and not 0.
    file
        Name, size and time of the file that the values are read from when the run begins; None for those in memory.
    """

    values: np.ndarray
    mean: np.ndarray
    gain: float = 1.0
    held: int = 1
    ticks: int = 1
    centred: bool = False
    file: tuple[str, int, int] | None = None

    @property
    def samples(self) -> int:
        """Number of samples; of a signal in time, of its windows."""
        return len(self.values) * self.ticks // self.held

    def row(self, sample: int, tick: int) -> int:
        """Return the row that is shown at a ``tick`` of the sample that is number ``sample`` of the data."""
        return sample if self.ticks == self.held else (sample * self.held + tick) // self.ticks


@dataclass(frozen=True)
class Inputs:
    """The data of all ports.

    Parameters
    ----------
    feeds, facts
        By port, without gains as yet.
    labels
        Names of the features, by port, where the data had any.
    signal_in_time
        True where a port is driven by a signal in time, whose windows are the samples.
    """

    feeds: dict[str, Feed]
    facts: dict[str, Facts]
    labels: dict[str, list[str]]
    signal_in_time: bool

    @property
    def n_samples(self) -> int:
        """Samples of each port; of a signal in time, its windows."""
        return next(iter(self.feeds.values())).samples

    @property
    def sizes(self) -> dict[str, int]:
        """Features of each port, by its name."""
        return {name: feed.values.shape[1] for name, feed in self.feeds.items()}

    @property
    def moving(self) -> frozenset[str]:
        """Names of the ports whose input changes while a sample is held."""
        return frozenset(name for name, feed in self.feeds.items() if feed.ticks != feed.held)

    @property
    def unit_gains(self) -> dict[str, float]:
        """Gains, by port, that bring the data of each to a mean square of 1."""
        gains = {}
        for name, facts in self.facts.items():
            power = (facts.variance if self.feeds[name].centred else facts.variance + facts.mean**2).mean()
            gains[name] = 1 / math.sqrt(power) if power else 1.0
        return gains

    def presented(self, blueprint: Blueprint, units: Units) -> dict[str, Feed]:
        """Return the feeds with their gains: data are given in the unit of the variable that they set."""
        feeds = {}
        for port in blueprint.ports:
            variable = blueprint.by_key[f"{port.population}.{port.variable}"].variable
            feeds[port.name] = replace(self.feeds[port.name], gain=units.scale(variable.scale) * in_si(variable.unit))
        return feeds


def read_inputs(given: Mapping[str, object], shown: Mapping[str, str], centre: bool, timing: Timing) -> Inputs:
    """Check what is ``given`` for each port, and find out what a circuit must know of it.

    Parameters
    ----------
    given, shown
        By port: a table of samples or a signal in time, and the name by which errors speak of it.
    centre
        True to subtract means.
    timing
        Of the circuit.
    """
    feeds: dict[str, Feed] = {}
    facts: dict[str, Facts] = {}
    for port, data in given.items():
        name = shown[port]
        values, ticks = (
            _in_time(name, data, timing) if isinstance(data, TimeSeries) else (check_table(name, data), None)
        )
        feed = Feed(
            values, np.zeros(values.shape[1]), 1.0, timing.held, ticks or timing.held, centre, file_facts(values)
        )
        if not feed.samples:
            raise InputError(
                f"{name}: must last at least one window of {1000 * timing.window:g} ms, which Leaky(hold=...) sets "
                f"(got {timing.tick * feed.ticks * len(values):g} ms)"
            )
        known = facts[port] = facts_of(name, values, centre)
        if len(values) > 1:
            warn_of_columns(name, known.mean, known.variance, centre)
        feeds[port] = replace(feed, mean=known.mean) if centre else feed
    lengths = {shown[port]: feed.samples for port, feed in feeds.items()}
    if len(set(lengths.values())) > 1:
        counts = " and ".join(map(str, lengths.values()))
        raise InputError(f"{', '.join(lengths)}: must have as many samples as each other (got {counts})")
    labels = {port: [str(column) for column in getattr(data, "columns", ())] for port, data in given.items()}
    return Inputs(feeds, facts, labels, any(isinstance(data, TimeSeries) for data in given.values()))


def _in_time(name: str, signal: TimeSeries, timing: Timing) -> tuple[np.ndarray, int]:
    """Return the rows of a signal in time, and how many ticks each lasts; refuse it in circuits without time."""
    if timing.instant:
        raise InputError(
            f"{name}: is a signal in time (TimeSeries), but in this circuit all is instant; give the circuit time, "
            "such as departures=[Leaky(hold=100, dt=2)], or a table with one row per sample"
        )
    return signal.rows(name, timing)

"""Data on their way into a circuit: checked, centred and scaled, port by port."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from biorrr.circuit.stimulus.data_checks import check_data, file_facts, warn_of_columns
from biorrr.circuit.stimulus.signals import LiveInput, Rows, as_signal
from biorrr.circuit.stimulus.statistics import moments
from biorrr.models import Population


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
    centred
        Whether ``mean`` is that of the values, and not 0.
    file
        Name, size and time of the file that the values are read from when the run begins; None for those in memory.
    unit
        What a value of 1 stands for.
    held, ticks
        Ticks for which a sample is held, and for which a row is shown: equal where every sample is one row.
    live
        What says the values tick by tick, where they are not known beforehand.
    """

    values: np.ndarray
    mean: np.ndarray
    gain: float
    centred: bool = False
    file: tuple[str, int, int] | None = None
    unit: float = 1.0
    held: int = 1
    ticks: int = 1
    live: LiveInput | None = None

    def row(self, sample: int, tick: int) -> int:
        """The row that is shown at a ``tick`` of the sample that is number ``sample`` of the data."""
        return sample if self.ticks == self.held else (sample * self.held + tick) // self.ticks


@dataclass(frozen=True)
class Inputs:
    """The data of all ports.

    Parameters
    ----------
    feeds
        By port, without gains as yet.
    power
        Mean square of each feature as it is presented, by port, each of shape (features,).
    labels
        Names of the features, by port, where the data had any.
    signal_in_time
        Whether a port is driven by a signal in time, whose windows are the samples.
    """

    feeds: dict[str, Feed]
    power: dict[str, np.ndarray]
    labels: dict[str, list[str]]
    signal_in_time: bool = False

    @property
    def n_samples(self) -> int:
        """Samples of each port; of a signal in time, its windows."""
        return _samples(next(iter(self.feeds.values())))

    @property
    def moving(self) -> dict[str, str]:
        """Ports whose input changes while a sample is held, with when it does; see :class:`Port`."""
        return {
            name: "tick" if feed.live is None else "network"
            for name, feed in self.feeds.items()
            if feed.live is not None or feed.ticks != feed.held
        }

    def unit_gains(self) -> dict[str, float]:
        """Gains, by port, that bring the data of each to a mean square of 1."""
        return {name: 1 / math.sqrt(p.mean()) if p.any() else 1.0 for name, p in self.power.items()}


def _samples(feed: Feed) -> int:
    return len(feed.values) * feed.ticks // feed.held


def check_inputs(given: Mapping[str, object], shown: Mapping[str, str], centre: bool, clock: Population) -> Inputs:
    """What is ``given`` for each port.

    Parameters
    ----------
    given, shown
        By port: a table of samples or a signal in time, and the name by which errors speak of it.
    centre
        Whether means are subtracted.
    clock
        Of the circuit: how long a tick takes, and how many of them a sample is held.
    """
    feeds: dict[str, Feed] = {}
    power: dict[str, np.ndarray] = {}
    labels: dict[str, list[str]] = {}
    signal_in_time = False
    timing = {variable.name: variable.value for variable in clock.variables}
    tick, held = float(timing["tick"]) / 1000, int(timing["held"])
    for port, values in given.items():
        signal = as_signal(values)
        if signal is None:
            rows = Rows(check_data(shown[port], values), held)
        elif math.isfinite(tick):
            rows, signal_in_time = signal.rows(shown[port], tick, held), True
        else:
            raise ValueError(
                f"{shown[port]}: is a signal in time ({type(values).__name__}), but in this circuit all is instant; "
                "give the circuit time, such as dynamics=Leaky(hold=100, dt=2), or a table with one row per sample"
            )
        if rows.live is not None:
            features = rows.values.shape[1]
            power[port], labels[port] = np.zeros(features), []
            feeds[port] = Feed(rows.values, np.zeros(features), 1.0, held=held, ticks=rows.ticks, live=rows.live)
            continue
        array = rows.values
        facts = file_facts(array)
        mean, variance = moments(array)
        warn_of_columns(shown[port], mean, variance, centre)
        power[port] = rows.unit**2 * (variance if centre else variance + mean**2)
        feeds[port] = Feed(
            array, mean if centre else np.zeros_like(mean), 1.0, centre, facts, rows.unit, held, rows.ticks
        )
        if not _samples(feeds[port]):
            raise ValueError(
                f"{shown[port]}: must last at least one window of {1000 * tick * held:g} ms, which Leaky(hold=...) "
                f"sets (got {1000 * tick * rows.ticks * len(array):g} ms)"
            )
        columns = getattr(values, "columns", None)
        labels[port] = [str(column) for column in columns] if columns is not None else []
    known = [_samples(feed) for feed in feeds.values() if len(feed.values)]
    for port, feed in feeds.items():
        if not len(feed.values):
            if not known:
                raise ValueError(f"{shown[port]}: must say how long it lasts, GroupInput(..., duration=10.0)")
            lasting = np.broadcast_to(0.0, (known[0] * held, feed.values.shape[1]))
            feeds[port] = replace(feed, values=lasting)
    lengths = {shown[port]: _samples(feed) for port, feed in feeds.items()}
    if len(set(lengths.values())) > 1:
        counts = " and ".join(map(str, lengths.values()))
        raise ValueError(f"{', '.join(lengths)}: must have as many samples as each other (got {counts})")
    return Inputs(feeds, power, labels, signal_in_time)

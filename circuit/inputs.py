"""Data on their way into a circuit: checked, centred and scaled, port by port."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biorrr.circuit.checks import check_data, file_facts, warn_of_columns
from biorrr.circuit.engines.job import Feed
from biorrr.circuit.statistics import moments


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
    """

    feeds: dict[str, Feed]
    power: dict[str, np.ndarray]
    labels: dict[str, list[str]]

    @property
    def n_samples(self) -> int:
        """Samples of each port."""
        return len(next(iter(self.feeds.values())).values)

    def unit_gains(self) -> dict[str, float]:
        """Gains, by port, that bring the data of each to a mean square of 1."""
        return {name: 1 / math.sqrt(p.mean()) if p.any() else 1.0 for name, p in self.power.items()}


def check_inputs(given: Mapping[str, object], shown: Mapping[str, str], centre: bool) -> Inputs:
    """What is ``given`` for each port, with the name by which errors speak of it in ``shown``."""
    feeds, power, labels = {}, {}, {}
    for port, values in given.items():
        array = check_data(shown[port], values)
        facts = file_facts(array)
        mean, variance = moments(array)
        warn_of_columns(shown[port], mean, variance, centre)
        power[port] = variance if centre else variance + mean**2
        feeds[port] = Feed(array, mean if centre else np.zeros_like(mean), 1.0, centre, facts)
        columns = getattr(values, "columns", None)
        labels[port] = [str(column) for column in columns] if columns is not None else []
    lengths = {shown[port]: len(feed.values) for port, feed in feeds.items()}
    if len(set(lengths.values())) > 1:
        counts = " and ".join(map(str, lengths.values()))
        raise ValueError(f"{', '.join(lengths)}: must have as many samples as each other (got {counts})")
    return Inputs(feeds, power, labels)

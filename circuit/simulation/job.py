"""One stretch of simulation, in the terms every engine understands, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.simulation.saving import Recording
from biorrr.circuit.stimulus.feeds import Feed
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.models import Event

if TYPE_CHECKING:
    from biorrr.circuit.base import CircuitBase
    from biorrr.circuit.simulation.recorder import Recorder


@dataclass(frozen=True)
class Job:
    """A stretch of simulation: its initial state, its data and its records.

    Parameters
    ----------
    blueprint, presentation
        The circuit, and what is presented to it.
    feeds
        The data of each port, by its name.
    start, stop
        First sample and the one after the last, counted from the first that the circuit has seen.
    state
        Values by "part.variable", in the order of the blueprint's state: weights, flat, parameters
        and memories.
    recording
        What is recorded, and at which samples.
    circuit
        The circuit that is simulated.
    events
        What happens in the middle, in the order of time.
    plastic
        False for a pass with learning off.
    fitted
        What rates "auto" were fitted to, by "part.variable"; empty with rates of one's own.
    """

    blueprint: Blueprint
    presentation: Presentation
    feeds: dict[str, Feed]
    start: int
    stop: int
    state: dict[str, np.ndarray]
    recording: Recording
    circuit: CircuitBase
    events: tuple[Event, ...] = ()
    plastic: bool = True
    fitted: Mapping[str, float] = field(default_factory=dict)

    @property
    def ticks_per_sample(self) -> int:
        """Ticks for which a sample is held, and those of its replays."""
        return (
            self.blueprint.timing.duration
            + self.presentation.replay * self.blueprint.timing.replay_duration
        )

    def without_data(self) -> Job:
        """Return the same with empty tables, which holds no data in memory."""
        feeds = {}
        for name, feed in self.feeds.items():
            none = np.empty((0, feed.values.shape[1]))
            feeds[name] = replace(feed, values=none, facts=replace(feed.facts, some=none))
        return replace(self, feeds=feeds)


@dataclass(frozen=True)
class Outcome:
    """The end of a job.

    Parameters
    ----------
    samples
        Sample count reached.
    state
        Values by "part.variable" at that count.
    ended
        "done", "stopped" (by a callback), "interrupted" (Ctrl-C) or "diverged" (during the sample
        after the last).
    recorder
        Snapshots and traces.
    engine, seconds
        What simulated, and how long it took.
    """

    samples: int
    state: dict[str, np.ndarray]
    ended: str
    recorder: Recorder = None  # type: ignore[assignment]  # engines leave it to the simulation
    engine: str = ""
    seconds: float = 0.0

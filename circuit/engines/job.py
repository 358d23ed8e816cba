"""One stretch of simulation, in the terms every engine understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.presentation import Presentation
from biorrr.circuit.recorder import Recorder
from biorrr.circuit.recording import Recording
from biorrr.circuit.signals import LiveInput


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
class Job:
    """What to simulate, from which state, and what to hand out.

    Parameters
    ----------
    blueprint, presentation
        The circuit, and what is presented to it.
    feeds
        The data of each port, by its name.
    start, stop
        First sample and the one after the last, counted from the very first sample the circuit has seen.
    state
        Values by "part.variable", in the order of the blueprint's state: weights, flat, parameters and memories.
    recording
        What is recorded, and at which samples.
    snapshots
        Sample counts, ascending, in (start, stop]: weights are kept when so many are done.
    """

    blueprint: Blueprint
    presentation: Presentation
    feeds: dict[str, Feed]
    start: int
    stop: int
    state: dict[str, np.ndarray]
    recording: Recording
    snapshots: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    Parameters
    ----------
    samples
        Sample count reached.
    state
        Values by "part.variable" at that count.
    ended
        "done", "stopped" (by a callback), "interrupted" (Ctrl-C) or "diverged" (during the sample after the last).
    earlier
        Seconds spent on the job by processes that were cut short.
    """

    samples: int
    state: dict[str, np.ndarray]
    ended: str
    earlier: float = 0.0


class Engine(Protocol):
    """What simulates jobs."""

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``, handing what it produces to ``recorder``."""

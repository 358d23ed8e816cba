"""One stretch of simulation, in the terms every engine understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.presentation import Presentation
from biorrr.circuit.recorder import Recorder


@dataclass(frozen=True)
class Job:
    """What to simulate, from which state, and what to hand out.

    Parameters
    ----------
    blueprint, presentation
        The circuit, and what is presented to it.
    X, Y
        Data as given, shapes (n_samples, m) and (n_samples, n); memory maps stay on disk.
    mean_x, mean_y
        Subtracted from each sample, shapes (m,) and (n,).
    gain_x, gain_y
        Scale each sample after that.
    start, stop
        First sample and the one after the last, counted from the very first sample the circuit has seen.
    state
        Values by "part.variable": all weights, flat, and the neuromodulator's parameters.
    record, every
        Names of the traces, and how many samples lie between two of them.
    origin
        Sample from which ``every`` counts: ``start``, unless the job continues one that was cut short.
    snapshots
        Sample counts, ascending, in (start, stop]: weights are kept when so many are done.
    """

    blueprint: Blueprint
    presentation: Presentation
    X: np.ndarray
    Y: np.ndarray
    mean_x: np.ndarray
    mean_y: np.ndarray
    gain_x: float
    gain_y: float
    start: int
    stop: int
    state: dict[str, np.ndarray]
    record: tuple[str, ...]
    every: int
    origin: int
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

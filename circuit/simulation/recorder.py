"""Collects what a run hands out while it goes: weight snapshots, traces, how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Recorder:
    """The products of a run so far.

    Parameters
    ----------
    expected
        How many samples will be traced, as far as is known: room for them is set aside, which costs nothing until used.
    on_snapshot
        Called with (t, weights) at every snapshot; a true answer ends the run.
    on_progress
        Called between two samples, now and then, with the sample count reached and the state at that count (values
        by "part.variable", to be copied if kept).
    """

    expected: int = 0
    on_snapshot: Callable[[int, dict[str, np.ndarray]], bool | None] | None = None
    on_progress: Callable[[int, dict[str, np.ndarray]], None] | None = None
    snapshot_samples: list[int] = field(default_factory=list)
    snapshots: list[dict[str, np.ndarray]] = field(default_factory=list)
    trace_samples: list[int] = field(default_factory=list)
    stopped: bool = False
    _rows: dict[str, np.ndarray] = field(default_factory=dict)  # with room for more behind them

    def snapshot(self, t: int, weights: dict[str, np.ndarray]) -> None:
        """Keep the weights as they are after ``t`` samples."""
        self.snapshot_samples.append(t)
        self.snapshots.append(weights)
        if self.on_snapshot is not None and self.on_snapshot(t, weights):
            self.stopped = True

    def trace(self, samples, values: dict[str, np.ndarray]) -> None:
        """Keep traces of ``samples``; each array has one row per sample or tick."""
        first = len(self.trace_samples)
        self.trace_samples.extend(samples)
        last = len(self.trace_samples)
        if first == last:
            return
        for name, rows in values.items():
            held = self._rows.get(name, np.empty((0, rows.shape[1])))
            if len(held) < last:
                self._rows[name] = np.empty((max(last, 2 * len(held), self.expected), rows.shape[1]))
                self._rows[name][:first] = held[:first]
            self._rows[name][first:last] = rows

    def reached(self, t: int, state: dict[str, np.ndarray]) -> None:
        """Note that ``t`` samples are done and have led to ``state``."""
        if self.on_progress is not None:
            self.on_progress(t, state)

    @property
    def traces(self) -> dict[str, np.ndarray]:
        """All rows of each trace so far, shape (samples, cells); not copies."""
        return {name: rows[: len(self.trace_samples)] for name, rows in self._rows.items()}

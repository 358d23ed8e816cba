"""Records of a run in the making: weight snapshots and traces, and those who watch it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from biorrr.errors import InputError

if TYPE_CHECKING:
    from biorrr.circuit.simulation.job import Job

Weights = dict[str, np.ndarray]
DATA_ROW = "data_row"  # the row of the data that was presented, which goes with all traces


def exactly(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return ``array``, which must have ``shape``: NumPy would stretch some others."""
    if array.shape != shape:
        raise InputError(f"array: must have shape {shape} (got {array.shape})")
    return array


class Series:
    """Rows of several variables, in arrays with room for all that are to come, which costs nothing
    until used.

    Parameters
    ----------
    room
        Number of rows.
    columns
        Numbers in a row of each variable, by its name.
    """

    def __init__(self, room: int, columns: Mapping[str, int]) -> None:
        self._samples = np.empty(room, np.int64)
        self._values = {name: np.empty((room, count)) for name, count in columns.items()}
        self._count = 0

    def add(self, samples, values: Mapping[str, np.ndarray]) -> None:
        """Append rows of every variable, (rows, columns), and the ``samples`` that they belong to,
        (rows,).
        """
        first, self._count = self._count, self._count + len(samples)
        self._samples[first : self._count] = samples
        for name, held in self._values.items():
            held[first : self._count] = exactly(values[name], (len(samples), held.shape[1]))

    @property
    def samples(self) -> np.ndarray:
        """The sample that each row belongs to, shape (rows,)."""
        return self._samples[: self._count]

    @property
    def values(self) -> dict[str, np.ndarray]:
        """All rows so far by name, each (rows, columns); not copies."""
        return {name: held[: self._count] for name, held in self._values.items()}


class Recorder:
    """The products of a run so far.

    Parameters
    ----------
    job
        The run.
    on_snapshot
        Called with (t, weights) at every snapshot; a true answer ends the run.
    on_progress
        Called between two samples, now and then, with the sample count reached and the state at
        that count (values by "part.variable", to be copied if kept).

    Attributes
    ----------
    snapshots
        Flat weights by pathway, each row after so many samples: the start, those that are due, the
        end.
    traces
        Recorded variables by label, each row in one tick of a sample.
    stopped
        True once a snapshot has ended the run.
    """

    def __init__(
        self,
        job: Job,
        on_snapshot: Callable[[int, Weights], bool | None] | None = None,
        on_progress: Callable[[int, Weights], None] | None = None,
    ) -> None:
        self.on_snapshot, self.on_progress, self.stopped = on_snapshot, on_progress, False
        blueprint, recording = job.blueprint, job.recording
        weights = {
            pathway.name: blueprint.by_key[f"{pathway.name}.w"].size
            for pathway in blueprint.parts.weighted
        }
        self.snapshots = Series(len(job.snapshots) + 2, weights)
        rows = recording.room(job.start, job.stop) * blueprint.timing.duration
        columns = {trace.label: trace.columns for trace in recording.traces}
        self.traces = Series(rows, {DATA_ROW: 1, **columns})

    def keep(self, t: int, state: Mapping[str, np.ndarray]) -> None:
        """Keep the weights of ``state``, values by "part.variable", that the circuit has after
        ``t`` samples.
        """
        self.snapshots.add([t], {name: state[f"{name}.w"][None] for name in self.snapshots.values})

    def snapshot(self, samples, weights: Mapping[str, np.ndarray]) -> None:
        """Keep the weights as they are after so many ``samples``, when snapshots are due; each
        array has one row per snapshot.
        """
        if len(samples):
            self.snapshots.add(samples, weights)
            self.stopped = self.stopped or self.stops()

    def stops(self) -> bool:
        """Return True if the callback ends the run at the last snapshot."""
        if self.on_snapshot is None:
            return False
        weights = {name: rows[-1] for name, rows in self.snapshots.values.items()}
        return bool(self.on_snapshot(int(self.snapshots.samples[-1]), weights))

    def trace(self, samples, values: Mapping[str, np.ndarray]) -> None:
        """Keep traces of ``samples``, and the rows of the data that they were; each array has one
        row per sample or tick.
        """
        self.traces.add(samples, values)

    def reached(self, t: int, state: dict[str, np.ndarray]) -> None:
        """Note that ``t`` samples are done and have led to ``state``."""
        if self.on_progress is not None:
            self.on_progress(t, state)

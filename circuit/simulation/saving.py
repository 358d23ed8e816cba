"""Traces of any variable that a run saves, weights too, at chosen samples, and snapshots of all
weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Quantity
from biorrr.circuit.stimulus.data_checks import check_memory
from biorrr.errors import InputError, InputTypeError
from biorrr.hints import HintsAtKeywords
from biorrr.models.validation import whole_number

# The default record: what a figure of plateaus needs, and enough to know the learning rates in
# between.
_STRETCHES, _STRETCH = 20, 50  # windows, and consecutive samples in each
# One sample in so many, and how many of these a long run keeps at most.
_SPARSE, _MOST_SPARSE = 100, 20_000


@dataclass(frozen=True)
class Saving(HintsAtKeywords):
    """All that a run saves.

    ``run(..., record=Saving(("z",), every=20, snapshots=50))`` is short for ``run(...,
    record=("z",), every=20, snapshots=50)``, and can be kept and passed on.

    Parameters
    ----------
    record, every, snapshots
        As :meth:`biorrr.circuit.Microcircuit.run` takes them.
    """

    record: Mapping[str, Any] | Sequence[str] | str | None = None
    every: Any = None
    snapshots: Any = 100

    @classmethod
    def of(cls, record: Any, every: Any, snapshots: Any) -> Saving:
        """Return the value for which the three arguments of ``run`` stand."""
        if not isinstance(record, Saving):
            return cls(record, every, snapshots)
        if every is not None or snapshots != 100:
            raise InputTypeError(
                "record: a Saving says what every and snapshots are too (got"
                f" {record!r} beside every={every!r} and snapshots={snapshots!r}); leave those out"
            )
        return record


def _snapshot_samples(wanted, first: int, last: int) -> np.ndarray:
    """Return sample counts in (first, last] after which weights are kept, the last one included.

    Parameters
    ----------
    wanted
        How many, evenly in log time from ``first``; ("linear", count) for evenly in samples; or the
        sample counts.
    first, last
        First sample, and the one after the last.
    """
    linear = isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] == "linear"
    wanted = wanted[1] if linear else wanted
    if np.ndim(wanted) == 1 and not isinstance(wanted, str):
        counts = np.asarray(wanted)
        if (
            counts.dtype.kind not in "iu"
            or not len(counts)
            or counts.min() < first
            or counts.max() > last
        ):
            raise InputError(
                f"snapshots: sample counts must be whole numbers in [{first}, {last}], the samples"
                f" of this run (got {wanted!r})"
            )
        return np.unique([*counts[counts > first].tolist(), last])
    count = whole_number(
        "snapshots", wanted, minimum=1, remedy="; or ('linear', 50), or a list of sample counts"
    )
    if count == 1:
        return np.array([last])
    samples = last - first
    steps = (
        np.linspace(samples / count, samples, count) if linear else np.geomspace(1, samples, count)
    )
    return first + np.unique(np.round(steps).astype(np.int64).clip(1, samples))


@dataclass(frozen=True)
class Trace:
    """One recorded variable.

    Parameters
    ----------
    label
        Its name in the Dataset.
    quantity
        The variable.
    chosen
        Places of the chosen cells or synapses as Brian2 keeps them, or None for all.
    """

    label: str
    quantity: Quantity
    chosen: tuple[int, ...] | None

    @property
    def places(self) -> np.ndarray:
        """Places of all that it records among the values of the variable, shape (columns,)."""
        return np.arange(self.quantity.size) if self.chosen is None else np.array(self.chosen)


@dataclass(frozen=True, eq=False)
class Recording:
    """Snapshots and traces to record, and when.

    Parameters
    ----------
    snapshots
        Sample counts, ascending: weights are kept when so many are done.
    traces
        The variables.
    recorded
        The samples at which they are recorded, ascending; none where there are no traces.
    """

    snapshots: np.ndarray
    traces: tuple[Trace, ...] = ()
    recorded: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def samples(self, start: int, stop: int) -> np.ndarray:
        """Return the samples within [start, stop) that are recorded, ascending."""
        first, last = np.searchsorted(self.recorded, (start, stop))
        return self.recorded[first:last]


def recording_of(saving: Saving, blueprint: Blueprint, first: int, last: int) -> Recording:
    """Return the recording that ``saving`` asks for in a run of samples ``first`` to ``last``.

    Raises
    ------
    ValueError
        Where a variable does not exist, or memory would not hold the record.
    """
    record = (saving.record,) if isinstance(saving.record, str) else saving.record
    if not isinstance(record, (Mapping, Sequence, set, frozenset)):
        raise InputTypeError(
            f"record: must be names of variables, or a dict of them (got {record!r}); () records"
            " nothing"
        )
    asked = dict(record) if isinstance(record, Mapping) else dict.fromkeys(record, True)
    chosen = {str(name): cells for name, cells in asked.items() if cells is not False}
    traces = [_trace(name, cells, blueprint) for name, cells in chosen.items()]
    labels = [trace.label for trace in traces]
    # The rates belong to every record: rates "auto" are known from it alone.
    traces += [
        Trace(q.name, q, None)
        for q in blueprint.quantities
        if q.variable.per == "circuit" and q.variable.role == "activity"
        if labels and q.name.startswith("eta_") and q.name not in labels
    ]
    stretches = _stretches(saving.every, first, last)
    snapshots = _snapshot_samples(saving.snapshots, first, last)
    if not traces:
        return Recording(snapshots)
    rows = sum(map(len, stretches)) * blueprint.timing.duration
    check_memory(
        "record",
        8 * rows * sum(len(trace.places) for trace in traces),
        "record fewer cells or synapses, raise every, or record in windows",
    )
    recorded = np.unique(np.concatenate([*map(np.array, stretches)]))
    return Recording(snapshots, tuple(traces), recorded)


def _trace(name: str, chosen, blueprint: Blueprint) -> Trace:
    """Return the trace of the variable ``name``, of all cells or synapses or of those
    ``chosen``.
    """
    matrices = {f"{p.name}.w": p.weight for p in blueprint.parts.weighted}
    found = [q for q in blueprint.quantities if name in (matrices.get(q.key, q.name), q.key)]
    if not found:
        cells = [p.name for p in blueprint.parts.populations if p.shape]
        roles = ("activity", "input")
        active = [q for q in blueprint.quantities if q.part in cells and q.variable.role in roles]
        names = [q.name for q in active]
        choices = [q.name if names.count(q.name) == 1 else q.key for q in active]
        raise InputError(
            f"record: cannot record {name!r}; choose from"
            f" {', '.join([*choices, *matrices.values()])}, or another variable in describe()"
        )
    if len(found) > 1:
        keys = " or ".join(repr(q.key) for q in found)
        raise InputError(f"record: {name!r} exists in several parts; write {keys}")
    (quantity,) = found
    label = name.replace(".", "_")
    if quantity.key in matrices:
        label = f"{matrices[quantity.key]}_trace"
    if chosen is True:
        return Trace(label, quantity, None)
    shape, what = (quantity.size,), f"cells in [0, {quantity.size - 1}]"
    turn = blueprint.orientations[quantity.part] if quantity.variable.per == "synapse" else None
    if turn is not None:
        shape, what = turn.shape, f"(row, column) pairs within its shape {turn.shape}"
    places = np.asarray(chosen)
    fits = places.shape == (len(places), 2)[: len(shape)] if places.ndim and places.size else False
    if not fits or places.dtype.kind not in "iu" or (places < 0).any() or (places >= shape).any():
        raise InputError(f"record: {name} must be True or a list of {what} (got {chosen!r})")
    if turn is not None:
        places = turn.matrix(np.arange(quantity.size))[tuple(places.T)]
    return Trace(label, quantity, tuple(places.tolist()))


def _stretches(every, first: int, last: int) -> list[range]:
    """Return the samples that ``every`` asks for, as stretches that may overlap."""
    if every is None:
        sparse = range(first, last, max(_SPARSE, -(-(last - first) // _MOST_SPARSE)))
        return [sparse, *_dense_stretches(first, last)]
    if np.ndim(every) == 0:
        remedy = "; for stretches of samples, a list of (first, last + 1)"
        return [range(first, last, whole_number("every", every, minimum=1, remedy=remedy))]
    windows = np.asarray(every)
    if windows.ndim != 2 or windows.shape[1] != 2 or windows.dtype.kind not in "iu":
        raise InputError(
            f"every: must be a whole number or a list of windows (first, last + 1) (got {every!r})"
        )
    ordered = windows[np.argsort(windows[:, 0])]
    if (ordered[:, 0] >= ordered[:, 1]).any() or (ordered[1:, 0] < ordered[:-1, 1]).any():
        raise InputError(f"every: windows must not be empty and must not overlap (got {every!r})")
    if ordered[0, 0] < first or ordered[-1, 1] > last:
        raise InputError(
            f"every: windows must lie in [{first}, {last}], the samples of this run (got {every!r})"
        )
    return [range(begin, end) for begin, end in ordered.tolist()]


def _dense_stretches(first: int, last: int) -> list[range]:
    """Return stretches of consecutive samples, evenly in log time, with the first and the last
    samples of the run.
    """
    if last - first <= _STRETCHES * _STRETCH:
        return [range(first, last)]
    between = np.geomspace(_STRETCH, last - first - _STRETCH, _STRETCHES - 1).round().astype(int)
    stretches = [range(first, first + _STRETCH)]
    for begin in (first + between).tolist():
        begin = max(begin, stretches[-1].stop)
        if begin + _STRETCH <= last:
            stretches.append(range(begin, begin + _STRETCH))
    return stretches


def dimensions(quantity: Quantity, blueprint: Blueprint) -> tuple[str, ...]:
    """Return the names of the dimensions that a variable has in Datasets."""
    part, per = blueprint.parts[quantity.part], quantity.variable.per
    if per != "synapse":
        return (part.dimension,) if per == "cell" else ()
    source, target = (blueprint.parts[end].dimension for end in (part.source, part.target))
    if part.source == part.target:
        target = f"{target}_target"
    return blueprint.orientations[part.name].rows_and_columns((source, target))


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
        for name, rows in self._values.items():
            rows[first : self._count] = exactly(values[name], (len(samples), rows.shape[1]))

    @property
    def samples(self) -> np.ndarray:
        """The sample that each row belongs to, shape (rows,)."""
        return self._samples[: self._count]

    @property
    def values(self) -> dict[str, np.ndarray]:
        """All rows so far by name, each (rows, columns); not copies."""
        return {name: rows[: self._count] for name, rows in self._values.items()}

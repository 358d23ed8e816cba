"""What a run saves: traces of variables, the samples at which they are traced, and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biorrr.errors import InputError, InputTypeError
from biorrr.models.validation import whole_number


@dataclass(frozen=True)
class Saving:
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


def snapshot_samples(wanted, first: int, last: int) -> np.ndarray:
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

"""Trials of a recording: their events, their conditions, and which of them can be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from biorrr.hints import did_you_mean
from biorrr.sims.data.values import DataError
from biorrr.sims.words import listed


@dataclass(frozen=True)
class Trials:
    """A table of trials.

    Parameters
    ----------
    times
        By name of an event, (trials,) seconds at which it happened; NaN where it did not.
    columns
        By name, (trials,) what else is known of each trial: a condition is one of these, or several
        together.
    name
        What the table is called.
    """

    times: Mapping[str, np.ndarray]
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    name: str = "trials"

    def __len__(self) -> int:
        return len(next(iter(self.times.values()), ()))

    def event(self, named: str) -> tuple[str, np.ndarray]:
        """Return name and times (trials,) of an event; ``stimulus`` finds ``stimulus_on_time``."""
        word = named.lower()
        exact = [
            name for name in self.times if name.lower() in (word, f"{word}_time", f"{word}_times")
        ]
        within = [name for name in self.times if word in name.lower().replace("stim_", "stimulus_")]
        found = exact or within
        if len(found) > 1:
            raise DataError(f"align: {named!r} may be {listed(found)}; name one of them")
        if not found:
            hint = did_you_mean(named, self.times)
            raise DataError(
                f"align: no event {named!r} in {self.name}{hint}; there are {listed(self.times)}"
            )
        return found[0], np.asarray(self.times[found[0]], dtype=float)

    def conditions(self, named: str) -> np.ndarray:
        """Return the number of each trial's condition, (trials,), from 0 on; -1 where a trial has
        none.

        ``named`` is a column, or several joined by ``+``: trials that agree in all of them share a
        condition.
        """
        codes = []
        for name in [named] if named in self.columns else named.split("+"):
            if name not in self.columns:
                hint = did_you_mean(name, self.columns)
                raise DataError(
                    f"condition: no column {name!r} in {self.name}{hint}; there are"
                    f" {listed(self.columns)}"
                )
            values = np.asarray(self.columns[name])
            missing = (
                np.isnan(values)
                if values.dtype.kind == "f"
                else np.isin(values.astype(str), ("", "nan", "null", "N/A"))
            )
            code = np.unique(
                values.astype(str) if values.dtype.kind not in "fiub" else values,
                return_inverse=True,
            )[1]
            codes.append(np.where(missing, -1, code))
        joint = np.column_stack(codes)
        missing = (joint < 0).any(axis=1)
        number = np.unique(joint, axis=0, return_inverse=True)[1].ravel()
        number[~missing] = np.unique(number[~missing], return_inverse=True)[1]
        return np.where(missing, -1, number)

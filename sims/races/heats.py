"""Heats: which regression is raced, how samples arrive, and which view of the data predicts the
other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from biorrr.sims.lazy import analysis, data_sets


@dataclass(frozen=True)
class Heat:
    """One race.

    Parameters
    ----------
    objective
        "rrmse" (s = 0) or "cca" (s = 1).
    setting
        "online", one sample at a time, or "offline", all data at once.
    swapped
        True if Y predicts X.
    """

    objective: str
    setting: str
    swapped: bool = False

    @property
    def s(self) -> float:
        """Parameter of the regression: 0 is RRMSE, 1 is CCA."""
        return float(self.objective == "cca")

    @property
    def bio(self) -> str:
        """The paper's name for its algorithm in this race."""
        return f"Bio-{self.objective.upper()}"

    def __str__(self) -> str:
        return (
            f"{self.objective.upper()}, {self.setting},"
            f" {'Y predicts X' if self.swapped else 'X predicts Y'}"
        )


@dataclass(frozen=True)
class Track:
    """The centred data of a heat and their exact solution."""

    data: data_sets.Dataset
    exact: analysis.ExactSolution


def tracks_of(data: data_sets.Dataset, heats: Iterable[Heat], ridge: float) -> dict[Heat, Track]:
    """Centre the data and solve every heat exactly; heats of the same problem share their track."""
    data = data.centred()
    solved: dict[tuple[float, bool], Track] = {}
    tracks = {}
    for heat in heats:
        problem = heat.s, heat.swapped
        if problem not in solved:
            view = data.swapped() if heat.swapped else data
            solved[problem] = Track(view, analysis.ExactSolution(view.X, view.Y, heat.s, ridge))
        tracks[heat] = solved[problem]
    return tracks

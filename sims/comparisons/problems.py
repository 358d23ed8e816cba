"""Problems to compare learners on: which regression, how samples arrive, and which view of the data
predicts the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from biorrr.sims.data import Dataset
from biorrr.sims.lazy import analysis


@dataclass(frozen=True)
class Problem:
    """A regression, and how samples arrive.

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
        """The paper's name for its algorithm."""
        return f"Bio-{self.objective.upper()}"

    def __str__(self) -> str:
        return (
            f"{self.objective.upper()}, {self.setting},"
            f" {'Y predicts X' if self.swapped else 'X predicts Y'}"
        )


@dataclass(frozen=True)
class Posed:
    """The centred data of a problem, the predicting view as X, and their exact solution."""

    data: Dataset
    exact: analysis.ExactSolution


def pose(data: Dataset, problems: Iterable[Problem], ridge: float) -> dict[Problem, Posed]:
    """Centre the data, and solve every problem exactly."""
    data = data.centred()
    views = {problem: data.swapped() if problem.swapped else data for problem in problems}
    return {
        problem: Posed(view, analysis.ExactSolution(view.X, view.Y, problem.s, ridge))
        for problem, view in views.items()
    }

"""A figure of speed that was set as a goal, beside what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """One goal: ``measured`` must be at most ``limit``.

    Parameters
    ----------
    name
        What is measured, in words, with its unit unless it is a ratio.
    measured
        The figure; None where it could not be measured, which is also how a figure that is not
        finite is kept.
    limit
        The largest value that reaches the goal.
    note
        What else there is to say, such as why nothing was measured.
    """

    name: str
    measured: float | None
    limit: float
    note: str = ""

    def __post_init__(self) -> None:
        if self.measured is not None and not math.isfinite(self.measured):
            object.__setattr__(self, "measured", None)

    @property
    def reached(self) -> bool | None:
        """True if the goal is reached; None where nothing was measured."""
        return None if self.measured is None else self.measured <= self.limit

    @property
    def verdict(self) -> str:
        """Figure, limit and whether the goal is reached, in words."""
        if self.measured is None:
            text = "not measured"
        else:
            text = (
                f"{self.measured:.3g}, at most {self.limit:.3g}:"
                f" {'reached' if self.reached else 'NOT reached'}"
            )
        return f"{text} ({self.note})" if self.note else text

"""A figure of speed that was set as a goal, beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """One goal: ``measured`` must be at most ``limit``.

    Parameters
    ----------
    name
        What is measured, in words, with its unit unless it is a ratio.
    measured
        The figure; None where it could not be measured.
    limit
        The largest that will do.
    note
        What else there is to say.
    """

    name: str
    measured: float | None
    limit: float
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None where nothing was measured."""
        return None if self.measured is None else self.measured <= self.limit

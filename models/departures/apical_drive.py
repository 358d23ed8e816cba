"""Apical drive: the plateau not only teaches, it also reaches the soma."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Step, Variable


@dataclass(frozen=True)
class ApicalDrive(Departure):
    """The output gains ``gain`` times the plateau.

    The plateau comes after the interneurons have answered the proximal drive, so it changes the output that
    plasticity sees, not the inhibition of the same sample.
    """

    gain: float

    def alter(self, parts: Parts) -> Parts:
        """Let the plateau add to the output."""
        return parts.adding(
            "pyramidal",
            Variable(
                "apical_gain", "how much the plateau drives the output", "population", "parameter", self.gain, "z / a"
            ),
            Step("apical", "z += apical_gain * plateau"),
        )

"""Apical drive: the plateau not only teaches, it also reaches the soma."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.areas.apical_feedback import ApicalFeedback
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts
from biorrr.models.validation import NotNegative
from biorrr.models.variables import Step, parameter


@dataclass(frozen=True)
class ApicalDrive(Departure):
    """A plateau that also reaches the soma: the output gains ``gain`` times the plateau.

    The plateau comes after the interneurons have answered the proximal drive, so it changes the output that
    plasticity sees, not the inhibition of the same sample.
    """

    gain: NotNegative
    alters = ("pyramidal",)
    excludes = ((ApicalFeedback, "feedback brings the plateau to the soma already; choose its gain instead"),)

    def alter(self, parts: Parts) -> Parts:
        """Let the plateau add to the output."""
        gain = parameter("apical_gain", "how much the plateau drives the output", self.gain, scale="z / a")
        for cells in parts.all(kind="pyramidal"):
            parts = parts.adding(cells.name, gain, Step("apical", "z += apical_gain * plateau"))
        return parts

"""Apical drive: the plateau not only teaches, it also reaches the soma."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.departure import Departure


@dataclass(frozen=True)
class ApicalDrive(Departure):
    """The output gains ``gain`` times the plateau.

    The plateau comes after the interneurons have answered the proximal drive, so it changes the output that
    plasticity sees, not the inhibition of the same sample. Not in spontaneous replay.
    """

    gain: float

    def alter_population(self, population):
        """Let the plateau add to the output."""
        if population.name != "pyramidal":
            return population
        return population.extended(
            equations="\n    apical_gain : 1 (shared, constant)\n",
            update="\nz = z + waking * apical_gain * plateau",
            hears=("waking",),
            parameters=("apical_gain",),
        )

    def values(self, setting):
        """The gain from units of a to those of z."""
        return {"pyramidal.apical_gain": self.gain * setting.scale("z") / setting.scale("a")}

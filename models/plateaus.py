"""What a calcium plateau potential can be, given what drives it: the distal current minus inhibition, a - Qn.

In spontaneous replay plateaus are always graded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from biorrr.models import chance
from biorrr.models.checks import number_within
from biorrr.models.departure import Departure


class Plateau(Departure):
    """Base of the kinds of plateau: `potential` says what a drive, called `plateau`, becomes in a sample."""

    potential: ClassVar[str]
    parameter: ClassVar[str]  # in the units of a

    def alter_population(self, population):
        """Plateaus form in pyramidal neurons."""
        if population.name != "pyramidal":
            return population
        return population.extended(
            equations=f"\n    {self.parameter} : 1 (shared, constant)\n",
            update=f"\nplateau = waking * {self.potential} + (1 - waking) * plateau",
            hears=("waking", "share", "moment", "chance_seed"),
            parameters=(self.parameter,),
        )

    def values(self, setting):
        """The parameter in the circuit's own units."""
        return {f"pyramidal.{self.parameter}": getattr(self, self.parameter) * setting.scale("a")}


@dataclass(frozen=True)
class Graded:
    """As large as its drive and of either sign, a - Qn: the paper's plateau (Sec. 4.1)."""


@dataclass(frozen=True)
class AllOrNone(Plateau):
    """Plateaus of one size; how many occur in a sample is Poisson with mean |a - Qn| / amplitude.

    Learning is then right on average, and the smaller the amplitude the less it scatters.

    Parameters
    ----------
    amplitude
        Size of each plateau, in the units of a.
    """

    amplitude: float

    parameter = "amplitude"
    potential = (
        "sign(plateau) * amplitude / share"
        f" * poisson_draw(abs(plateau) * share / amplitude, chance_seed, {chance.PLATEAU}, moment, i)"
    )

    def __post_init__(self) -> None:
        number_within("AllOrNone.amplitude", self.amplitude, math.ulp(0), remedy="; Graded() is the limit of none")


@dataclass(frozen=True)
class Sign(Plateau):
    """One plateau a sample, of fixed size: only the sign of a - Qn is left.

    Parameters
    ----------
    amplitude
        Its size, in the units of a.
    """

    amplitude: float

    parameter = "amplitude"
    potential = "amplitude * sign(plateau)"

    def __post_init__(self) -> None:
        number_within("Sign.amplitude", self.amplitude, math.ulp(0))


@dataclass(frozen=True)
class Rectified(Plateau):
    """A plateau is never negative: it stands on a resting level, and what teaches is its deviation from there.

    Inhibition can take away no more than that level, max(a - Qn, -baseline); a high level gives graded plateaus back.

    Parameters
    ----------
    baseline
        The resting level, in the units of a; 0 leaves depolarisation alone.
    """

    baseline: float = 0.0

    parameter = "baseline"
    potential = "clip(plateau, -baseline, inf)"

    def __post_init__(self) -> None:
        number_within("Rectified.baseline", self.baseline, 0)

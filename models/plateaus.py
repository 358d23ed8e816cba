"""What a calcium plateau potential can be, given what drives it: the distal current minus inhibition, a - Qn.

In spontaneous replay plateaus are always graded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from biorrr.models.checks import number_within
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Step, Variable
from biorrr.models.random_draws import Stream


@dataclass(frozen=True)
class Graded:
    """As large as its drive and of either sign, a - Qn: the paper's plateau."""


@dataclass(frozen=True)
class AllOrNone(Departure):
    """Plateaus of one size; how many occur in a sample is Poisson with mean |a - Qn| / amplitude.

    Learning is then right on average, and the smaller the amplitude the less it scatters.

    Parameters
    ----------
    amplitude
        Size of each plateau, in the units of a.
    """

    amplitude: float

    def __post_init__(self) -> None:
        number_within("AllOrNone.amplitude", self.amplitude, math.ulp(0), remedy="; Graded() is the limit of none")

    def alter(self, parts: Parts) -> Parts:
        """Turn the drive into a number of plateaus."""
        number = f"poisson_draw(abs(plateau) * share / amplitude, seed, {Stream.PLATEAU}, moment, i)"
        return _shaped(parts, "amplitude", self.amplitude, f"plateau = sign(plateau) * amplitude / share * {number}")


@dataclass(frozen=True)
class Sign(Departure):
    """One plateau per sample, of fixed size: only the sign of a - Qn is left.

    Parameters
    ----------
    amplitude
        Its size, in the units of a.
    """

    amplitude: float

    def __post_init__(self) -> None:
        number_within("Sign.amplitude", self.amplitude, math.ulp(0))

    def alter(self, parts: Parts) -> Parts:
        """Keep the sign of the drive."""
        return _shaped(parts, "amplitude", self.amplitude, "plateau = amplitude * sign(plateau)")


@dataclass(frozen=True)
class Rectified(Departure):
    """A plateau is never negative: it stands on a resting level, and what teaches is its deviation from there.

    Inhibition can take away no more than that level, max(a - Qn, -baseline); a high level gives graded plateaus back.

    Parameters
    ----------
    baseline
        The resting level, in the units of a; 0 leaves depolarisation alone.
    """

    baseline: float = 0.0

    def __post_init__(self) -> None:
        number_within("Rectified.baseline", self.baseline, 0)

    def alter(self, parts: Parts) -> Parts:
        """Cut the drive off at the resting level."""
        return _shaped(parts, "baseline", self.baseline, "plateau = clip(plateau, -baseline, inf)")


def _shaped(parts: Parts, parameter: str, value: float, code: str) -> Parts:
    """Give the pyramidal neurons a parameter in the units of a, and the step that makes plateaus of their drive."""
    return parts.adding(
        "pyramidal",
        Variable(parameter, f"{parameter} of the plateau", "population", "parameter", value, scale="a"),
        Step("plateau shape", code),
    )

"""What a calcium plateau potential can be, given what drives it: the distal current minus inhibition, a - Qn.

In spontaneous replay plateaus are always graded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Step, Variable
from biorrr.models.random_draws import Stream
from biorrr.models.validation import number_within


@dataclass(frozen=True)
class Graded:
    """As large as its drive and of either sign, a - Qn: the paper's plateau."""


@dataclass(frozen=True)
class AllOrNone(Departure):
    """Plateaus of one size, whose number in a sample is Poisson distributed with mean |a - Qn| / amplitude.

    Learning is then correct on average, and it is the less noisy the smaller the amplitude is.

    Parameters
    ----------
    amplitude
        Size of each plateau, in the units of a.
    """

    amplitude: float

    def __post_init__(self) -> None:
        number_within("AllOrNone.amplitude", self.amplitude, math.ulp(0), remedy="; Graded() is the small limit")

    def alter(self, parts: Parts) -> Parts:
        """Turn the drive into a number of plateaus."""
        number = f"poisson_draw(abs(plateau) * share / amplitude, seed, {Stream.PLATEAU}, moment, i)"
        return _shaped(parts, "amplitude", self.amplitude, f"plateau = sign(plateau) * amplitude / share * {number}")


@dataclass(frozen=True)
class Sign(Departure):
    """One plateau of fixed size per sample: only the sign of a - Qn is kept.

    Parameters
    ----------
    amplitude
        Size of every plateau, in the units of a.
    """

    amplitude: float

    def __post_init__(self) -> None:
        number_within("Sign.amplitude", self.amplitude, math.ulp(0))

    def alter(self, parts: Parts) -> Parts:
        """Keep the sign of the drive."""
        return _shaped(parts, "amplitude", self.amplitude, "plateau = amplitude * sign(plateau)")


@dataclass(frozen=True)
class Rectified(Departure):
    """A plateau that is never negative: it rises from a resting level, and its deviation from that level teaches.

    Inhibition can remove no more than the resting level, so the deviation is max(a - Qn, -baseline). With a high
    resting level plateaus are graded again.

    Parameters
    ----------
    baseline
        Resting level, in the units of a; with 0 only depolarisation is left.
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

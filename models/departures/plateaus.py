"""Shapes of a calcium plateau potential, given its drive: the distal current minus inhibition, a - Qn.

In spontaneous replay plateaus are always graded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from biorrr.models.areas.settled import Settled
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts
from biorrr.models.random_draws import Stream, in_area
from biorrr.models.validation import NotNegative, Positive, number_within
from biorrr.models.variables import Step, parameter

_Amplitude = Annotated[float, partial(number_within, low=math.ulp(0), remedy="; graded plateaus are the small limit")]


class _Shape(Departure):
    """Base of departures that make plateaus of their drive."""

    alters = ("pyramidal",)
    gives = ("shape of plateaus",)


@dataclass(frozen=True)
class AllOrNone(_Shape):
    """Plateaus of one size, whose number in a sample is Poisson distributed with mean |a - Qn| / amplitude.

    Learning is then correct on average, and it is the less noisy the smaller the amplitude is.

    Parameters
    ----------
    amplitude
        Size of each plateau, in the units of a.
    """

    amplitude: _Amplitude
    excludes = ((Settled, "plateaus are drawn anew in every tick, so outputs never settle; use Leaky(...)"),)

    def alter(self, parts: Parts) -> Parts:
        """Turn the drive into a number of plateaus."""

        def code(area: int) -> str:
            stream = in_area(Stream.PLATEAU, area)
            number = f"poisson_draw(abs(plateau) * share / amplitude, seed, {stream}, moment, i)"
            return f"plateau = sign(plateau) * amplitude / share * {number}"

        return _shaped(parts, "amplitude", self.amplitude, code)


@dataclass(frozen=True)
class Sign(_Shape):
    """One plateau of fixed size per sample: only the sign of a - Qn is kept.

    Parameters
    ----------
    amplitude
        Size of every plateau, in the units of a.
    """

    amplitude: Positive
    excludes = ((Settled, "a plateau that jumps from one size to another keeps outputs from settling; use Leaky(...)"),)

    def alter(self, parts: Parts) -> Parts:
        """Keep the sign of the drive."""
        return _shaped(parts, "amplitude", self.amplitude, lambda area: "plateau = amplitude * sign(plateau)")


@dataclass(frozen=True)
class Rectified(_Shape):
    """A plateau that is never negative: it rises from a resting level, and its deviation from that level teaches.

    Inhibition can remove no more than the resting level, so the deviation is max(a - Qn, -baseline). With a high
    resting level plateaus are graded again.

    Parameters
    ----------
    baseline
        Resting level, in the units of a; with 0 only depolarisation is left.
    """

    baseline: NotNegative = 0.0

    def alter(self, parts: Parts) -> Parts:
        """Cut the drive off at the resting level."""
        return _shaped(parts, "baseline", self.baseline, lambda area: "plateau = clip(plateau, -baseline, inf)")


def _shaped(parts: Parts, name: str, value: float, code: Callable[[int], str]) -> Parts:
    """Give pyramidal neurons a parameter in the units of a, and the step that makes plateaus in their area."""
    for cells in parts.all(kind="pyramidal"):
        scale = cells.variable("plateau").scale
        parts = parts.adding(
            cells.name,
            parameter(name, f"{name} of the plateau", value, scale=scale),
            Step("plateau shape", code(cells.area)),
        )
    return parts

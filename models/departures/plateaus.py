"""Shapes of a calcium plateau potential, given its drive (the distal current minus inhibition, a -
Qn), and its reach.

In spontaneous replay plateaus are always graded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from biorrr.models.departure import Departure
from biorrr.models.parts import Population, Step, parameter
from biorrr.models.random_draws import Stream, in_area
from biorrr.models.validation import NotNegative, Positive, number_within

_Amplitude = Annotated[
    float, partial(number_within, low=math.ulp(0), remedy="; graded plateaus are the small limit")
]


class _Shape(Departure):
    """Base of departures that make plateaus of their drive, by a parameter in the units of a.

    Attributes
    ----------
    code
        The statement that makes plateaus; "{stream}" stands for the stream of random numbers of the
        area.
    """

    alters = ("pyramidal",)
    gives = ("shape of plateaus",)
    code: ClassVar[str]

    def alter_part(self, cells: Population) -> Population:
        """Give pyramidal neurons the parameter, and the step that makes plateaus."""
        given = [
            parameter(name, f"{name} of the plateau", value) for name, value in vars(self).items()
        ]
        code = self.code.format(stream=in_area(Stream.PLATEAU, cells.area))
        return cells.adding(*given, Step("plateau shape", code))


@dataclass(frozen=True)
class AllOrNone(_Shape):
    """Plateaus of one size, whose number in a sample is Poisson distributed with mean |a - Qn| /
    amplitude.

    Learning is then correct on average, and it is the less noisy the smaller the amplitude is.

    Parameters
    ----------
    amplitude
        Size of each plateau, in the units of a.
    """

    amplitude: _Amplitude
    excludes = (
        (
            "settling",
            "plateaus are drawn anew in every tick, so outputs never settle; use Leaky(...)",
        ),
    )
    code = (
        "plateau = sign(plateau) * amplitude * duration * "
        "poisson_draw(abs(plateau) / (amplitude * duration), seed, {stream}, moment, i)"
    )


@dataclass(frozen=True)
class Sign(_Shape):
    """One plateau of fixed size per sample: only the sign of a - Qn is kept.

    Parameters
    ----------
    amplitude
        Size of every plateau, in the units of a.
    """

    amplitude: Positive
    excludes = (
        (
            "settling",
            (
                "a plateau that jumps from one size to another keeps outputs from settling; use"
                " Leaky(...)"
            ),
        ),
    )
    code = "plateau = amplitude * sign(plateau)"


@dataclass(frozen=True)
class Rectified(_Shape):
    """A plateau that is never negative: it rises from a resting level, and its deviation from that
    level teaches.

    Inhibition can remove no more than the resting level, so the deviation is max(a - Qn,
    -baseline). With a high resting level plateaus are graded again.

    Parameters
    ----------
    baseline
        Resting level, in the units of a; with 0 only depolarisation is left.
    """

    baseline: NotNegative = 0.0
    code = "plateau = clip(plateau, -baseline, inf)"


@dataclass(frozen=True)
class ApicalDrive(Departure):
    """A plateau that not only teaches, but also reaches the soma: the output gains ``gain`` times
    the plateau.

    The plateau comes after the interneurons have answered the proximal drive, so it changes the
    output that plasticity sees, not the inhibition of the same sample.
    """

    gain: NotNegative
    alters = ("pyramidal",)
    gives = ("apical drive",)
    excludes = (
        (
            "apical feedback",
            "feedback brings the plateau to the soma already; choose its gain instead",
        ),
    )

    def alter_part(self, cells: Population) -> Population:
        """Let the plateau add to the output."""
        gain = parameter("apical_gain", "how much the plateau drives the output", self.gain)
        return cells.adding(gain, Step("apical", "z += apical_gain * plateau"))

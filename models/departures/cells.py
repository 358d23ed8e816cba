"""Cells with membranes, with spikes, or with plateaus of another shape.

Membranes and dendrites relax while a sample is held. The spikes of many cells may stand for one
analog value. A plateau is made of its drive, the distal current minus inhibition, a - Qn. In
spontaneous replay activity is instant and analog, and plateaus are graded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from biorrr.errors import InputError
from biorrr.models.departure import Departure
from biorrr.models.expressions import rename
from biorrr.models.paper_parts import Clock
from biorrr.models.parts import Parts, Population, Step, Variable, parameter
from biorrr.models.random_draws import Stream, in_area, uniform_draw
from biorrr.models.validation import (
    Milliseconds,
    NotNegative,
    Positive,
    PositiveCount,
    number_within,
)

_MOST_TICKS = 10_000_000  # of a sample, which takes minutes on engine numpy


class Holding(Departure):
    """Base of departures that give the circuit a clock which holds each sample for some time.

    Attributes
    ----------
    hold, dt
        Time for which a sample is held, and length of a tick, in ms.
    """

    hold: float
    dt: float
    gives: tuple[str, ...] = ("clock",)

    def __post_init__(self) -> None:
        super().__post_init__()
        ticks = self.hold / self.dt if self.dt > 0 else 0.0
        if not 0.5 <= ticks <= _MOST_TICKS or abs(ticks - round(ticks)) >= 1e-9:
            raise InputError(
                f"{type(self).__name__}.hold: must be a whole number of ticks of dt = {self.dt:g}"
                f" ms (got {self.hold:g} ms); upper bound is {_MOST_TICKS:,} ticks"
            )

    @property
    def duration(self) -> int:
        """Ticks for which a sample is held."""
        return round(self.hold / self.dt)

    def alter(self, parts: Parts) -> Parts:
        """Return ``parts`` with the clock, and with all that else is altered."""
        return super().alter(parts.having(Clock(float(self.duration), self.dt)))


@dataclass(frozen=True)
class Leaky(Holding):
    """Membranes and dendrites that relax towards their drive while each sample is held for some
    time.

    Weights change when a sample ends, by the mean of their rule over the time for which the sample
    was held. As the time constants become short against `hold`, the circuit becomes the instant
    one, with an error of first order in tau/hold. Spontaneous replay stays instant. Times are
    Brian2 quantities, or plain numbers in milliseconds.

    Parameters
    ----------
    tau_soma, tau_dendrite, tau_interneuron
        Membrane time constants of somata, distal dendrites and interneurons; with 0 they follow at
        once.
    tau_plateau
        Time constant of the plateau potential.
    hold
        Time for which each sample is held.
    dt
        Length of a tick.
    """

    tau_soma: Milliseconds = 10.0
    tau_dendrite: Milliseconds = 10.0
    tau_interneuron: Milliseconds = 10.0
    tau_plateau: Milliseconds = 30.0
    hold: Milliseconds = 200.0
    dt: Milliseconds = 2.0
    alters = ("pyramidal", "interneuron")

    def alter_part(self, cells: Population) -> Population:
        """Give cells their membranes; with apical feedback, somata follow the tick before."""
        if cells.kind == "interneuron":
            return cells.adding(
                Variable("membrane", "membrane potential", role="memory"),
                _relaxation("membrane_step", self.tau_interneuron),
                _relax("interneuron", "membrane", "membrane_step", "n"),
            )
        soma: tuple[Variable | Step, ...] = (
            Variable("soma", "membrane potential of the soma", role="memory"),
            _relax("membrane", "soma", "soma_step", "z"),
        )
        if "shortfall" in cells.declared:
            soma = (
                Step(
                    "input",
                    f"{'soma' if 'soma' in cells.declared else 'z'} += soma_step * shortfall",
                ),
            )
        return cells.adding(
            Variable("dendrite", "excitation of the distal dendrite", role="memory"),
            Variable("hyperpolarisation", "inhibition of the distal dendrite", role="memory"),
            Variable("calcium", "the plateau as it rises and decays", role="memory"),
            _relaxation("soma_step", self.tau_soma),
            _relaxation("dendrite_step", self.tau_dendrite),
            _relaxation("plateau_step", self.tau_plateau),
            *soma,
            _relax("membrane", "dendrite", "dendrite_step", "a"),
            _relax("dendrite", "hyperpolarisation", "dendrite_step", "inhibition"),
            _relax("plateau decay", "calcium", "plateau_step", "plateau"),
        )


def _relax(phase: str, membrane: str, step: str, activity: str) -> Step:
    """Return the step in which a membrane relaxes towards an activity and takes its place."""
    return Step(phase, f"{membrane} += {step} * ({activity} - {membrane})\n{activity} = {membrane}")


def _relaxation(name: str, tau: float) -> Variable:
    """Return how far a membrane of time constant ``tau`` relaxes in a tick: exact while its drive
    stands still.
    """
    return parameter(name, "relaxation per tick", f"relaxation({tau!r})")


@dataclass(frozen=True)
class Spiking(Departure):
    """Populations of Poisson cells for each output and each interneuron, heard by their spikes.

    Activity is signed and rates are not, so at rest every cell fires `baseline` spikes per sample;
    one standard deviation of activity makes each of them fire one spike more or less. That is 1 for
    outputs (the constraint's unit variance), and for an interneuron what outputs of unit variance
    make of it, the root of the sum of squares of its weights R. What is read is the spike count,
    less the baseline. Poisson cells of one rate add up to a Poisson number with uniformly chosen
    cells, so the circuit draws the sum and :meth:`raster` says who fired. With leaky dynamics
    spikes come tick by tick and are read through an exponential synaptic filter. In spontaneous
    replay activity is analog.

    Parameters
    ----------
    population
        Number of cells that represent one output or one interneuron.
    baseline
        Mean number of spikes per cell and sample at rest. Activity that is more than `baseline`
        standard deviations below rest is cut off. Because counts are noisy, outputs satisfy their
        constraint only with more than `baseline` cells.
    filter
        Time constant of the synaptic filter, as a Brian2 time or in milliseconds; used in leaky
        dynamics only.
    """

    population: PositiveCount = 50
    baseline: NotNegative = 4.0
    filter: Milliseconds = 20.0
    alters = ("pyramidal", "interneuron", "recruitment")
    gives = ("spikes",)
    excludes = (
        (
            "settling",
            "spikes are drawn anew in every tick, so outputs never settle; use Leaky(...)",
        ),
    )

    def alter_part(self, part):
        """Replace the activity of outputs and interneurons by what their spikes say."""
        if part.kind == "recruitment":
            return replace(part, sums=(*part.sums, ("strength", "w**2")))
        if part.kind == "interneuron":
            part = part.adding(Variable("strength", "sum of squares of an interneuron's weights"))
            unit, phase = "(sqrt(strength) + 1e-300)", "interneuron output"
            return self._spiking(
                part, "interneuron", "n", "n", "interneuron_spikes", unit, Stream.INTERNEURON, phase
            )
        if "shortfall" not in part.declared:
            return self._spiking(part, "output", "z", "z", "spikes", "1", Stream.OUTPUT, "output")
        # With feedback the soma is no longer what it says, and other areas hear the spikes.
        steps = tuple(replace(step, code=rename(step.code, {"z": "soma"})) for step in part.steps)
        part = replace(part, steps=steps).adding(
            Variable("soma", "membrane potential of the soma", role="memory")
        )
        return self._spiking(
            part, "output", "soma", "z", "spikes", "1", Stream.OUTPUT, "feedback output"
        )

    def _spiking(
        self,
        cells: Population,
        said: str,
        drive: str,
        activity: str,
        spikes: str,
        unit: str,
        stream: int,
        phase: str,
    ) -> Population:
        """Return ``cells`` whose ``activity`` is what their spikes say of their ``drive``."""
        return cells.adding(
            Variable(spikes, f"spikes of the population that stands for an {said}"),
            Variable("filtered", "what a synaptic filter has left of past ticks", role="memory"),
            parameter("cells_each", f"cells that stand for an {said}", self.population),
            parameter("rest", "spikes per cell and sample at rest", float(self.baseline)),
            parameter(
                "filter_step", "relaxation of the filter per tick", f"relaxation({self.filter!r})"
            ),
            Step(
                phase,
                f"""
                unit = {unit}
                mean_spikes = cells_each / duration * clip(rest + {drive} / unit, 0, inf)
                {spikes} = poisson_draw(mean_spikes, seed, {in_area(stream, cells.area)}, moment, i)
                filtered += filter_step * (unit * ({spikes} * duration / cells_each - rest) - filtered)
                {activity} = filtered
                """,
            ),
        )

    def raster(self, counts, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Say which cell fired each of the spikes that were counted.

        Parameters
        ----------
        counts
            Spikes of each population in each tick, shape (ticks, populations).
        seed
            Seed of the random choice of cells.

        Returns
        -------
        ticks, cells
            Tick and cell of every spike, shapes (spikes,). Population p has the cells p *
            population to (p + 1) * population - 1.
        """
        counts = np.asarray(counts, dtype=np.int64)
        ticks, populations = np.divmod(
            np.repeat(np.arange(counts.size), counts.reshape(-1)), counts.shape[1]
        )
        chosen = uniform_draw(seed, Stream.RASTER, ticks, np.arange(len(ticks)))
        return ticks, populations * self.population + (chosen * self.population).astype(np.int64)


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

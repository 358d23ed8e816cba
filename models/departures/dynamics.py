"""Activity in time: membranes and dendrites that relax while a sample is held."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.errors import InputError
from biorrr.models.departure import Departure
from biorrr.models.paper.clock import Clock
from biorrr.models.parts import Parts, Population, Step, Variable, parameter
from biorrr.models.physical_units import Milliseconds

_MOST_TICKS = 10_000_000  # of a sample, which takes minutes on engine numpy


class Holding(Departure):
    """Base of departures that give the circuit a clock which holds each sample for some time.

    Attributes
    ----------
    hold, dt
        Time for which a sample is held, and length of a tick, in ms.
    duration
        Ticks for which a sample is held.
    """

    hold: float
    dt: float
    duration: int
    gives: tuple[str, ...] = ("clock",)

    def __post_init__(self) -> None:
        super().__post_init__()
        ticks = self.hold / self.dt if self.dt > 0 else 0.0
        if ticks > _MOST_TICKS:
            raise InputError(
                f"{type(self).__name__}.hold: upper bound is {_MOST_TICKS:,} ticks (got"
                f" {self.hold:g} ms, {ticks:g} ticks of dt = {self.dt:g} ms); shorten it or"
                " lengthen dt"
            )
        if not 0.5 <= ticks <= _MOST_TICKS or abs(ticks - round(ticks)) >= 1e-9:
            raise InputError(
                f"{type(self).__name__}.hold: must be a whole number of ticks of dt = {self.dt:g}"
                f" ms (got {self.hold:g} ms)"
            )
        object.__setattr__(self, "duration", round(ticks))

    @property
    def clock(self) -> Population:
        """The clock of the circuit."""
        return Clock(float(self.duration), self.dt)


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

    def alter(self, parts: Parts) -> Parts:
        """Give cells membranes, and the circuit a clock that holds samples."""
        return super().alter(parts.having(self.clock))

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
        if cells.has("shortfall"):
            soma = (
                Step("input", f"{'soma' if cells.has('soma') else 'z'} += soma_step * shortfall"),
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

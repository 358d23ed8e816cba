"""Transmission between cells, with noise or with a delay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from biorrr.errors import InputError
from biorrr.models.areas.settled import Settled
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts
from biorrr.models.random_draws import Stream, in_area, stream_of
from biorrr.models.validation import Count, NotNegative
from biorrr.models.variables import Step, Variable, parameter

_STREAMS = {
    "z": Stream.PROXIMAL,
    "a": Stream.DISTAL,
    "inhibition": Stream.INHIBITORY,
    "n": Stream.RECRUITMENT,
}
LONGEST = 1000  # delay, in samples or ticks


@dataclass(frozen=True)
class TransmissionNoise(Departure):
    """Noise of transmission: a synapse transmits w x (1 + sigma xi), xi Gaussian and new for each synapse and sample.

    The sum over a cell's synapses is Gaussian too, with variance sigma^2 sum (w x)^2, so one draw per cell does for all
    of them. Spontaneous replay is noiseless.

    Parameters
    ----------
    sigma
        Standard deviation of the noise, relative to what is transmitted.
    """

    sigma: NotNegative
    excludes = ((Settled, "noise is drawn anew in every tick, so outputs never settle; use Leaky(...)"),)

    def alter(self, parts: Parts) -> Parts:
        """Sum up the variance beside each current, and add the noise as the current arrives."""
        noisy: dict[tuple[str, str], str] = {}
        for pathway in parts.weighted:
            variance = (f"{pathway.drives}_variance", f"({pathway.current})**2")
            parts = parts.having(replace(pathway, sums=(*pathway.sums, variance)))
            noisy[pathway.target, pathway.drives] = pathway.phase
        sigma = parameter("sigma", "noise, relative to what is transmitted", self.sigma)
        for population in dict.fromkeys(target for target, _ in noisy):
            parts = parts.adding(population, sigma)
        for (population, quantity), phase in noisy.items():
            # A tick that takes only a share of the sample's time averages over less noise.
            spread = f"sigma * sqrt({quantity}_variance / share)"
            declared, area = parts[population].variable(quantity), parts[population].area
            place = stream_of(f"{population.removesuffix(f'_{area}')}.{quantity}")
            stream = in_area(_STREAMS.get(quantity, place), area)
            parts = parts.adding(
                population,
                Variable(f"{quantity}_variance", f"variance of the {declared.meaning}", scale=f"({declared.scale})**2"),
                Step(phase, f"{quantity} += {spread} * gaussian_draw(seed, {stream}, moment, i)"),
            )
        return parts


class _Delay(Departure):
    """Base of delays, in samples or in ticks of a sample that is held."""

    samples: Count
    ticks: Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples and self.ticks:
            raise InputError(
                f"{type(self).__name__}: must be a delay in samples or in ticks, not both (got {self.samples} and "
                f"{self.ticks})"
            )
        if max(self.samples, self.ticks) > LONGEST:
            name = "samples" if self.samples else "ticks"
            raise InputError(
                f"{type(self).__name__}.{name}: must be at most {LONGEST}, for each is a memory of its own (got "
                f"{max(self.samples, self.ticks)})"
            )

    @property
    def excludes(self) -> tuple[tuple[type, str], ...]:  # type: ignore[override]
        """Delays in ticks need ticks that take time."""
        reason = "the ticks in which outputs settle are not time; give the delay in samples, or use Leaky(...)"
        return ((Settled, reason),) if self.ticks else ()

    def _delayed(self, parts: Parts, kind: str, activity: str, phase: str) -> Parts:
        """Replace an activity by that of some samples or ticks ago, kept in a line of memories."""
        if not self.samples and not self.ticks:
            return parts
        line = [f"past_{age}" for age in range(self.samples or self.ticks, 0, -1)]  # oldest first
        # Down the line in every tick, or when a sample ends.
        shift = [
            f"{older} = closing * {newer} + (1 - closing) * {older}" if self.samples else f"{older} = {newer}"
            for older, newer in zip(line, [*line[1:], "undelayed"], strict=True)
        ]
        code = "\n".join([f"undelayed = {activity}", f"{activity} = {line[0]}", *shift])
        unit = "samples" if self.samples else "ticks"
        for cells in parts.all(kind=kind):
            declared = cells.variable(activity)
            remembered = [
                Variable(past, f"{declared.meaning}, {past[5:]} {unit} ago", role="memory", scale=declared.scale)
                for past in line
            ]
            parts = parts.adding(cells.name, *remembered, Step(phase, code))
        return parts


@dataclass(frozen=True)
class LoopDelay(_Delay):
    """Late inhibition: interneurons answer with the activity that they had some samples, or ticks, ago.

    Parameters
    ----------
    samples
        How many samples.
    ticks
        How many ticks of a sample that is held, instead; more than the sample has reach back into those before it.
    """

    samples: Count = 0
    ticks: Count = 0
    alters = ("interneuron",)

    def alter(self, parts: Parts) -> Parts:
        """Pass the activity of interneurons down a line of memories."""
        return self._delayed(parts, "interneuron", "n", "delay")


@dataclass(frozen=True)
class LateInstruction(_Delay):
    """Late instruction: the distal dendrite receives the instruction of some samples, or ticks, ago.

    Parameters
    ----------
    samples
        How many samples.
    ticks
        How many ticks of a sample that is held, instead.
    """

    samples: Count = 0
    ticks: Count = 0
    alters = ("instructive",)

    def alter(self, parts: Parts) -> Parts:
        """Pass the instructive input down a line of memories."""
        return self._delayed(parts, "instructive", "y", "input")

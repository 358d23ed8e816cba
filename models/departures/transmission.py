"""How signals pass between cells: with noise, or with a delay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Step, Variable
from biorrr.models.random_draws import Stream, stream_of
from biorrr.models.validation import whole_number

_STREAMS = {
    "z": Stream.PROXIMAL,
    "a": Stream.DISTAL,
    "inhibition": Stream.INHIBITORY,
    "n": Stream.RECRUITMENT,
}


@dataclass(frozen=True)
class TransmissionNoise(Departure):
    """Every synapse transmits w x (1 + sigma xi), with xi Gaussian and new for each synapse and sample.

    The sum over a cell's synapses is Gaussian too, with variance sigma^2 sum (w x)^2, so one draw per cell does for all
    of them. Spontaneous replay is noiseless.

    Parameters
    ----------
    sigma
        Standard deviation of the noise, relative to what is transmitted.
    """

    sigma: float

    def alter(self, parts: Parts) -> Parts:
        """Sum up the variance beside each current, and add the noise as the current arrives."""
        noisy: dict[tuple[str, str], str] = {}
        for pathway in parts.pathways:
            if pathway.weighted:
                variance = (f"{pathway.drives}_variance", f"({pathway.current})**2")
                parts = parts.having(replace(pathway, sums=(*pathway.sums, variance)))
                noisy[pathway.target, pathway.drives] = pathway.phase
        for population in dict.fromkeys(target for target, _ in noisy):
            sigma = Variable("sigma", "noise, relative to what is transmitted", "population", "parameter", self.sigma)
            parts = parts.adding(population, sigma)
        for (population, quantity), phase in noisy.items():
            # A tick that takes only a share of the sample's time averages over less noise.
            spread = f"sigma * sqrt({quantity}_variance / share)"
            stream = int(_STREAMS.get(quantity, stream_of(f"{population}.{quantity}")))
            (declared,) = (variable for variable in parts[population].variables if variable.name == quantity)
            parts = parts.adding(
                population,
                Variable(f"{quantity}_variance", f"variance of the {declared.meaning}", scale=f"({declared.scale})**2"),
                Step(phase, f"{quantity} += {spread} * gaussian_draw(seed, {stream}, moment, i)"),
            )
        return parts


@dataclass(frozen=True)
class LoopDelay(Departure):
    """Inhibition comes late: interneurons answer with the activity that they had some samples, or ticks, ago.

    Parameters
    ----------
    samples
        How many samples.
    ticks
        How many ticks of a sample that is held, instead; more than the sample has reach back into those before it.
    """

    samples: int = 0
    ticks: int = 0

    def __post_init__(self) -> None:
        check_delay("LoopDelay", self.samples, self.ticks)

    def alter(self, parts: Parts) -> Parts:
        """Pass the activity of interneurons down a line of memories."""
        return delayed(parts, "interneurons", "n", "delay", self.samples, self.ticks)


@dataclass(frozen=True)
class LateInstruction(Departure):
    """Instruction comes late: what reaches the distal dendrite is about the input of some samples, or ticks, ago.

    Parameters
    ----------
    samples
        How many samples.
    ticks
        How many ticks of a sample that is held, instead.
    """

    samples: int = 0
    ticks: int = 0

    def __post_init__(self) -> None:
        check_delay("LateInstruction", self.samples, self.ticks)

    def alter(self, parts: Parts) -> Parts:
        """Pass the instructive input down a line of memories."""
        return delayed(parts, "instructive", "y", "input", self.samples, self.ticks)


def check_delay(name: str, samples: int, ticks: int) -> None:
    """Refuse what is not a delay in samples or in ticks."""
    for unit, value in (("samples", samples), ("ticks", ticks)):
        whole_number(f"{name}.{unit}", value, minimum=0)
    if samples and ticks:
        raise ValueError(f"{name}: must be a delay in samples or in ticks, not both (got {samples} and {ticks})")


def delayed(parts: Parts, population: str, activity: str, phase: str, samples: int, ticks: int) -> Parts:
    """Replace an activity by that of some samples or ticks ago, kept in a line of memories."""
    if not samples and not ticks:
        return parts
    (declared,) = (variable for variable in parts[population].variables if variable.name == activity)
    line = [f"past_{age}" for age in range(samples or ticks, 0, -1)]  # oldest first
    # Down the line in every tick, or when a sample ends.
    shift = [
        f"{older} = closing * {newer} + (1 - closing) * {older}" if samples else f"{older} = {newer}"
        for older, newer in zip(line, [*line[1:], "fresh"], strict=True)
    ]
    unit = "samples" if samples else "ticks"
    remembered = [
        Variable(past, f"{declared.meaning}, {past[5:]} {unit} ago", role="memory", scale=declared.scale)
        for past in line
    ]
    code = "\n".join([f"fresh = {activity}", f"{activity} = {line[0]}", *shift])
    return parts.adding(population, *remembered, Step(phase, code))

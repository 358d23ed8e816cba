"""How signals pass between cells: with noise, or with a delay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Step, Variable
from biorrr.models.random_draws import Stream, stream_of

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
    """Inhibition comes late: interneurons answer with the activity they had some samples ago.

    Parameters
    ----------
    samples
        Number of samples by which inhibition is late.
    """

    samples: int

    def alter(self, parts: Parts) -> Parts:
        """Pass the activity of interneurons down a line of memories, one step per sample."""
        line = [f"past_{age}" for age in range(self.samples, 0, -1)]  # oldest first
        shift = [
            f"{older} = closing * {newer} + (1 - closing) * {older}"
            for older, newer in zip(line, [*line[1:], "fresh"], strict=True)
        ]
        remembered = [
            Variable(past, f"interneuron activity {past[5:]} samples ago", role="memory", scale="n") for past in line
        ]
        code = "\n".join(["fresh = n", f"n = {line[0]}", *shift])
        return parts.adding("interneurons", *remembered, Step("delay", code))

"""How signals pass between cells: noisily, or late."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models import chance
from biorrr.models.departure import Departure
from biorrr.models.parts import Pathway, Population

_STREAMS = {
    "z": chance.PROXIMAL,
    "a": chance.DISTAL,
    "inhibition": chance.INHIBITORY,
    "n": chance.RECRUITMENT,
}


@dataclass(frozen=True)
class TransmissionNoise(Departure):
    """Every synapse transmits w x (1 + sigma xi), with xi Gaussian and new for each synapse and sample.

    The sum over a cell's synapses is Gaussian too, with variance sigma^2 sum (w x)^2, so one draw a cell does for all
    of them. Spontaneous replay is noiseless.

    Parameters
    ----------
    sigma
        Standard deviation of the noise, relative to what is transmitted.
    """

    sigma: float

    def alter_pathway(self, pathway: Pathway) -> Pathway:
        """Sum up the variance beside the current."""
        quantity, _, current = pathway.current.splitlines()[0].partition("_post = ")
        if quantity not in _STREAMS:
            return pathway
        return pathway.extended(current=f"\n{quantity}_variance_post = ({current.split(' : ')[0]})**2 : 1 (summed)")

    def alter_population(self, population: Population) -> Population:
        """Add the noise to each current as it arrives."""
        if population.name == "pyramidal":
            early, late = ["z", "a"], ["inhibition"]
        elif population.name == "interneurons":
            early, late = ["n"], []
        else:
            return population
        quantities = "".join(f"    {quantity}_variance : 1\n" for quantity in early + late)
        return population.extended(
            equations=f"\n{quantities}    sigma : 1 (shared, constant)\n",
            response="".join(map(_noisy, early)),
            reception="".join(map(_noisy, late)),
            parameters=("sigma",),
            hears=("waking", "share", "moment", "chance_seed"),
        )

    def values(self, setting):
        """Relative, so the same in all units."""
        return {"pyramidal.sigma": self.sigma, "interneurons.sigma": self.sigma}


def _noisy(quantity: str) -> str:
    # A tick that takes only a share of the sample's time averages over less noise.
    return (
        f"\n{quantity} = {quantity} + waking * sigma * sqrt({quantity}_variance / share)"
        f" * gaussian_draw(chance_seed, {_STREAMS[quantity]}, moment, i)"
    )


@dataclass(frozen=True)
class LoopDelay(Departure):
    """Inhibition comes late: interneurons answer with the activity they had some samples ago.

    Parameters
    ----------
    samples
        How many.
    """

    samples: int

    def alter_population(self, population: Population) -> Population:
        """Pass the activity of interneurons down a line of memories, one step a sample."""
        if population.name != "interneurons":
            return population
        line = [f"past_{age}" for age in range(self.samples, 0, -1)]  # oldest first
        shift = "".join(
            f"\n{older} = closing * {newer} + (1 - closing) * {older}"
            for older, newer in zip(line, [*line[1:], "fresh"], strict=True)
        )
        return population.extended(
            equations="\n    fresh : 1\n" + "".join(f"    {past} : 1\n" for past in line),
            response=f"\nfresh = n\nn = waking * {line[0]} + (1 - waking) * n{shift}",
            memory=tuple(line),
            hears=("waking", "closing"),
        )

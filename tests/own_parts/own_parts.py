"""Parts of one's own, written as a user of biorrr would: nothing here is part of the package."""

from dataclasses import dataclass, replace

from biorrr.circuit import Microcircuit
from biorrr.models import (
    Departure,
    DistalSynapses,
    Leaky,
    Pathway,
    Population,
    Spiking,
    Step,
    Variable,
)


# [oja]
def oja(**settings):
    """Return a circuit whose distal synapses follow Oja's rule."""
    distal = replace(DistalSynapses(), change="eta_y * (y_pre * z_post - z_post**2 * w)")
    return Microcircuit(pathways=[distal], **settings)


# [saturating]
@dataclass(frozen=True)
class Saturating(Departure):
    """An output that cannot exceed a limit."""

    limit: float = 1.5
    alters = ("pyramidal",)

    def alter_part(self, cells):
        """Let the soma saturate before anybody hears it."""
        return cells.adding(
            Variable(
                "limit", "largest output", per="population", role="parameter", value=self.limit
            ),
            Step("output", "z = limit * tanh(z / limit)"),
        )


# [tiring]
@dataclass(frozen=True)
class Tiring(Departure):
    """A plateau needs a drive above a threshold, and every plateau raises the threshold for a
    while.
    """

    threshold: float = 0.05
    recovery: float = 0.3
    alters = ("pyramidal",)

    def alter_part(self, cells):
        """Shape the plateau by its drive and by what earlier plateaus have left."""
        return cells.adding(
            Variable("threshold", "smallest drive", "population", "parameter", self.threshold),
            Variable(
                "recovery",
                "part of the fatigue that a tick takes away",
                "population",
                "parameter",
                self.recovery,
            ),
            Variable("fatigue", "what earlier plateaus have left", role="memory"),
            Step(
                "plateau shape",
                """
                plateau = sign(plateau) * clip(abs(plateau) - threshold - fatigue, 0, inf)
                fatigue += 0.1 * abs(plateau) - recovery * fatigue
                """,
            ),
        )


# [depressing]
@dataclass(frozen=True)
class Depressing(Departure):
    """Proximal synapses run out of transmitter when they are used and recover between samples."""

    use: float = 0.2
    recovery: float = 0.1

    def alter(self, parts):
        """Let each synapse transmit in proportion to what it has left."""
        proximal = parts["proximal"]
        own = (
            Variable("resource", "transmitter left", per="synapse", role="memory", value=1.0),
            Variable(
                "use", "part used by an input of 1", per="pathway", role="parameter", value=self.use
            ),
            Variable(
                "refill",
                "part refilled per tick",
                per="pathway",
                role="parameter",
                value=self.recovery,
            ),
        )
        tire = Step(
            "plasticity",
            "resource += refill * (1 - resource) - use * resource * clip(abs(x_pre), 0, 1)",
        )
        return parts.having(
            replace(proximal, current=f"resource * ({proximal.current})").adding(*own, tire)
        )


# [basket]
def basket(**settings):
    """Return a circuit with more interneurons, which hear the output and inhibit the same
    dendrite."""
    cells = Population(2, "basket", [Variable("b", "basket cell activity")])
    drive = Pathway(
        "basket_drive",
        "pyramidal",
        "basket",
        drives="b",
        current="w * z_pre",
        phase="recruitment",
        change="eta_q * (b_post * z_pre - w)",
        weight="B",
        spread=0.3,
    )
    shunt = Pathway(
        "basket_shunt",
        "basket",
        "pyramidal",
        drives="inhibition",
        current="w * b_pre",
        phase="inhibition",
        weight="S",
        spread=0.02,
    )
    return Microcircuit(populations=[cells], pathways=[drive, shunt], **settings)


# [combined]
def combined(**settings):
    """Return a circuit with all of these but Oja's rule in one circuit, with membranes and
    spikes."""
    return basket(
        departures=[
            Spiking(20, baseline=3),
            Saturating(),
            Tiring(),
            Depressing(),
            Leaky(hold=8, dt=2, tau_soma=4, tau_dendrite=3, tau_interneuron=2, tau_plateau=5),
        ],
        **settings,
    )


# [end]
CIRCUITS = {
    "oja": oja,
    "saturating": lambda **settings: Microcircuit(departures=[Saturating()], **settings),
    "tiring": lambda **settings: Microcircuit(departures=[Tiring()], **settings),
    "depressing": lambda **settings: Microcircuit(departures=[Depressing()], **settings),
    "basket": basket,
    "combined": combined,
}

"""From the paper's algebra to cells in millivolts, one rung at a time."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.departure import Departure
from biorrr.models.departures.dynamics import Leaky
from biorrr.models.departures.spiking import Spiking
from biorrr.models.millivolts import Millivolts


@dataclass(frozen=True)
class Rung:
    """A kind of cells that a circuit can have.

    Attributes
    ----------
    adds
        What it adds to the rung below.
    limit
        In which limit it becomes the rung below.
    departures
        From the paper's circuit, for which it stands.
    """

    adds: str
    limit: str
    departures: tuple[Departure, ...] = ()


RUNGS = {
    "algebraic": Rung("One number per cell, computed at once: the paper's circuit.", ""),
    "leaky": Rung(
        "Membranes, dendrites and plateaus that relax in milliseconds while a sample is held.",
        "Time constants become short against the time for which a sample is held.",
        (Leaky(),),
    ),
    "spiking": Rung(
        "A population of Poisson cells for each output and each interneuron, heard through synaptic"
        " filters.",
        "Populations become large.",
        (Spiking(), Leaky()),
    ),
    "millivolts": Rung(
        "Membrane potentials, thresholds, calcium spikes and bursts: z is the rate of events, and"
        " bursts teach.",
        "Populations become large, then gains small, so that rates are linear in currents.",
        (Millivolts(),),
    ),
}

"""From the paper's algebra to cells in millivolts, one rung at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from biorrr.models.departures.dynamics import Instant, Leaky
from biorrr.models.departures.spiking import Analog, Spiking
from biorrr.models.millivolts import Millivolts


@dataclass(frozen=True)
class Rung:
    """What a circuit's cells are.

    Attributes
    ----------
    adds
        What it adds to the rung below.
    limit
        In which limit it becomes the rung below.
    dynamics, coding
        The arguments of :class:`~biorrr.circuit.Microcircuit` that it stands for.
    """

    adds: str
    limit: str
    dynamics: Instant | Leaky | Millivolts = field(default_factory=Instant)
    coding: Analog | Spiking = field(default_factory=Analog)


RUNGS = {
    "algebraic": Rung("One number per cell, computed at once: the paper's circuit.", ""),
    "leaky": Rung(
        "Membranes, dendrites and plateaus that relax in milliseconds while a sample is held.",
        "Time constants become short against the time for which a sample is held.",
        dynamics=Leaky(),
    ),
    "spiking": Rung(
        "A population of Poisson cells for each output and each interneuron, heard through synaptic filters.",
        "Populations become large.",
        dynamics=Leaky(),
        coding=Spiking(),
    ),
    "millivolts": Rung(
        "Membrane potentials, thresholds, calcium spikes and bursts: z is the rate of events, and bursts teach.",
        "Populations become large, then gains small, so that rates are linear in currents.",
        dynamics=Millivolts(),
    ),
}

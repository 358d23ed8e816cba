"""Homeostasis: cells that scale their own synapses until their output has its due power."""

from __future__ import annotations

from dataclasses import dataclass, replace

from biorrr.models.departure import Departure
from biorrr.models.parts import Pathway
from biorrr.models.rules import add


@dataclass(frozen=True)
class HomeostaticScaling(Departure):
    """Synaptic scaling (Turrigiano et al., Nature 1998): cells bring their own output to unit
    power.

    All proximal synapses of cell j grow or shrink by one factor, dVx_j += eta_q (1 - z_j^2 - ridge
    |Vx_j|^2) Vx_j, beside the plateau's rule. A cell knows its output and its weights, so the rule
    is local; the term of the ridge arises in spontaneous replay.

    White outputs have unit power, so the exact solution stays a fixed point. The reverse is not
    true: power is of cells, and whitening of directions, which are rotations of cells. Where one
    direction of the outputs is silent, every cell that takes part in it is somewhat weak and scales
    all of its synapses. Inhibition holds the other directions at their power. Nothing holds the
    silent one, so it grows from whatever the weights have of it. If it is silent because x and y
    share nothing more, what it comes to say is chance; then use fewer cells.

    A cell that is silenced scales up for as long as that lasts. In areas with feedback the power is
    `rho`.
    """

    alters = ("proximal",)
    gives = ("scale of proximal weights",)

    def alter_part(self, pathway: Pathway) -> Pathway:
        """Add the scaling to the rules of proximal synapses."""
        change = add((pathway.change or "0", "eta_q * w * (rho - z_post**2)"))
        replay = add((pathway.replay or "0", "-eta_q * replay_gain * w * z_post**2"))
        return replace(pathway, change=change, replay=replay)

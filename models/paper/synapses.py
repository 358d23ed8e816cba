"""The four pathways of the microcircuit, each current beside the rule that changes it.

Names without `_pre` or `_post` other than the synapse's own `w` are broadcast to all synapses of a
pathway alike: the rates `eta_...` and what goes with them
(:mod:`biorrr.models.paper.neuromodulator`); rho, the variance that outputs are brought to, is 1 in
the paper. In spontaneous replay, by which the ridge on Cxx stays
local, Vx, Q and R learn without decay and Vy does not learn.
"""

from __future__ import annotations

from biorrr.models.parts import Pathway


def ProximalSynapses() -> Pathway:
    """Return Vx, from sensory fibres to the soma: plateau times input, not Hebbian, as the output
    plays no part.
    """
    return Pathway(
        name="proximal",
        weight="Vx",
        source="sensory",
        target="pyramidal",
        drives="z",
        current="w * x_pre",
        phase="drive",
        change="eta_x * x_pre * plateau_post",
        replay="eta_x * replay_gain * x_pre * plateau_post",
        meaning="proximal weights",
        equation="dVx = eta_x x (a - Qn)'",
        kind="proximal",
    )


def DistalSynapses() -> Pathway:
    """Return Vy, from instructive fibres to the distal dendrite. Hebbian with decay at s = 0, not
    Hebbian at s = 1.

    A ridge on Cyy is plain decay, s*ridge_y.
    """
    return Pathway(
        name="distal",
        weight="Vy",
        source="instructive",
        target="pyramidal",
        drives="a",
        current="w * y_pre",
        phase="drive",
        change="eta_y * (y_pre * (z_post - rho * s * a_post) - rho * (1 - s + s * ridge_y) * w)",
        meaning="distal weights",
        equation="dVy = eta_y (y (z - s a)' - (1 - s) Vy)",
        kind="distal",
    )


def PyramidalToInterneuron() -> Pathway:
    """Return R, by which pyramidal output drives the interneurons: Hebbian with decay, it finds Q'
    by itself.
    """
    return Pathway(
        name="recruitment",
        weight="R",
        source="pyramidal",
        target="interneurons",
        drives="n",
        current="w * z_pre",
        phase="recruitment",
        change="eta_r * (n_post * z_pre - rho * w)",
        replay="eta_r * replay_gain * n_post * z_pre",
        target_by_source=True,
        meaning="pyramidal-to-interneuron weights",
        equation="dR = eta_q (n z' - R)",
        kind="recruitment",
    )


def InterneuronToPyramidal() -> Pathway:
    """Return Q, by which interneurons inhibit the distal dendrite. Hebbian with decay."""
    return Pathway(
        name="inhibitory",
        weight="Q",
        source="interneurons",
        target="pyramidal",
        drives="inhibition",
        current="w * n_pre",
        phase="inhibition",
        change="eta_q * (z_post * n_pre - rho * w)",
        replay="eta_q * replay_gain * z_post * n_pre",
        target_by_source=True,
        meaning="interneuron-to-pyramidal weights",
        equation="dQ = eta_q (z n' - Q)",
        kind="inhibitory",
    )

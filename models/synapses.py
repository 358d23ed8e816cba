"""The four pathways of the microcircuit, each current beside the rule that changes it (Eqs. 6 to 8 of the paper).

Names without `_pre` or `_post` other than the synapse's own `w` are broadcast by :mod:`biorrr.models.neuromodulator`:
the rates `eta_...`, and during spontaneous replay `gain` and `waking`.
"""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.parts import Pathway


@dataclass(frozen=True)
class ProximalSynapses(Pathway):
    """Vx: sensory fibres to the soma. Plateau times input, not Hebbian: the cell's own output plays no part."""

    name = "proximal"
    weight = "Vx"
    source, target, sign = "sensory", "pyramidal", +1
    current = "z_post = w * x_pre : 1 (summed)"
    rule = "w += eta_x * gain * x_pre * plateau_post"
    order = -40
    equation = "dVx = eta_x x (a - Qn)'"


@dataclass(frozen=True)
class DistalSynapses(Pathway):
    """Vy: instructive fibres to the distal dendrite. Hebbian with decay at s = 0, not Hebbian at s = 1.

    A ridge on Cyy is plain decay, s*ridge_y. Nothing is learned here in spontaneous replay (waking = 0).
    """

    name = "distal"
    weight = "Vy"
    source, target, sign = "instructive", "pyramidal", +1
    current = "a_post = w * y_pre : 1 (summed)"
    rule = "w += eta_y * waking * (y_pre * (z_post - s * a_post) - (1 - s + s * ridge_y) * w)"
    order = -40
    equation = "dVy = eta_y (y (z - s a)' - (1 - s) Vy)"


@dataclass(frozen=True)
class PyramidalToInterneuron(Pathway):
    """R: pyramidal output drives the interneurons. Hebbian with decay, with weights of its own that find Q'."""

    name = "recruitment"
    weight = "R"
    source, target, sign = "pyramidal", "interneurons", +1
    current = "n_post = w * z_pre : 1 (summed)"
    rule = "w += eta_r * (gain * n_post * z_pre - waking * w)"
    order = -30
    equation = "dR = eta_q (n z' - R)"


@dataclass(frozen=True)
class InterneuronToPyramidal(Pathway):
    """Q: interneurons inhibit the distal dendrite. Hebbian with decay."""

    name = "inhibitory"
    weight = "Q"
    source, target, sign = "interneurons", "pyramidal", -1
    current = "inhibition_post = w * n_pre : 1 (summed)"
    rule = "w += eta_q * (gain * z_post * n_pre - waking * w)"
    order = -20
    equation = "dQ = eta_q (z n' - Q)"


@dataclass(frozen=True)
class MeteredInterneuronToPyramidal(InterneuronToPyramidal):
    """Q, whose strength each pyramidal cell also sums up: the neuromodulator needs it to keep learning stable."""

    current = """inhibition_post = w * n_pre : 1 (summed)
    power_post = w**2 : 1 (summed)"""


@dataclass(frozen=True)
class NaiveProximalSynapses(ProximalSynapses):
    """What whitening by a Lagrange multiplier would ask of Vx: the example that is not local, never simulated.

    The update multiplies two sets of weights, so each synapse would have to know the others (supplement, Sec. "Naive
    implementation of the RRR constraint is not biologically plausible").
    """

    rule = "w += eta_x * (x_pre * a_post - x_pre * dot(x, dot(Vx, Lagrange)))"
    equation = "dVx = eta_x (x a' - Cxx Vx Lagrange)"

"""The four pathways of the microcircuit, each current beside the rule that changes it.

Names without `_pre` or `_post` other than the synapse's own `w` are broadcast to all synapses of a pathway alike: the
rates `eta_...` and what goes with them (:mod:`biorrr.models.paper.neuromodulator`). In spontaneous replay, by which the
ridge on Cxx stays local, Vx, Q and R learn without decay and Vy does not learn.
"""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.parts import Pathway


@dataclass(frozen=True)
class ProximalSynapses(Pathway):
    """Vx: sensory fibres to the soma. Plateau times input, not Hebbian: the cell's own output plays no part."""

    name: str = "proximal"
    weight: str = "Vx"
    source: str = "sensory"
    target: str = "pyramidal"
    drives: str = "z"
    current: str = "w * x_pre"
    phase: str = "drive"
    change: str = "eta_x * x_pre * plateau_post"
    replay: str = "eta_x * replay_gain * x_pre * plateau_post"
    scale: str = "z / x"
    meaning: str = "proximal weights"
    equation: str = "dVx = eta_x x (a - Qn)'"
    kind: str = "proximal"


@dataclass(frozen=True)
class DistalSynapses(Pathway):
    """Vy: instructive fibres to the distal dendrite. Hebbian with decay at s = 0, not Hebbian at s = 1.

    A ridge on Cyy is plain decay, s*ridge_y.
    """

    name: str = "distal"
    weight: str = "Vy"
    source: str = "instructive"
    target: str = "pyramidal"
    drives: str = "a"
    current: str = "w * y_pre"
    phase: str = "drive"
    change: str = "eta_y * (y_pre * (z_post - s * a_post) - (1 - s + s * ridge_y) * w)"
    scale: str = "a / y"
    meaning: str = "distal weights"
    equation: str = "dVy = eta_y (y (z - s a)' - (1 - s) Vy)"
    kind: str = "distal"


@dataclass(frozen=True)
class PyramidalToInterneuron(Pathway):
    """R: pyramidal output drives the interneurons. Hebbian with decay, with weights of its own that find Q'."""

    name: str = "recruitment"
    weight: str = "R"
    source: str = "pyramidal"
    target: str = "interneurons"
    drives: str = "n"
    current: str = "w * z_pre"
    phase: str = "recruitment"
    change: str = "eta_r * (n_post * z_pre - w)"
    replay: str = "eta_r * replay_gain * n_post * z_pre"
    scale: str = "n / z"
    target_by_source: bool = True
    meaning: str = "pyramidal-to-interneuron weights"
    equation: str = "dR = eta_q (n z' - R)"
    kind: str = "recruitment"


@dataclass(frozen=True)
class InterneuronToPyramidal(Pathway):
    """Q: interneurons inhibit the distal dendrite. Hebbian with decay."""

    name: str = "inhibitory"
    weight: str = "Q"
    source: str = "interneurons"
    target: str = "pyramidal"
    drives: str = "inhibition"
    current: str = "w * n_pre"
    phase: str = "inhibition"
    change: str = "eta_q * (z_post * n_pre - w)"
    replay: str = "eta_q * replay_gain * z_post * n_pre"
    sign: int = -1
    scale: str = "a / n"
    target_by_source: bool = True
    meaning: str = "interneuron-to-pyramidal weights"
    equation: str = "dQ = eta_q (z n' - Q)"
    kind: str = "inhibitory"


@dataclass(frozen=True)
class NaiveProximalSynapses(ProximalSynapses):
    """What whitening by a Lagrange multiplier would ask of Vx: the example that is not local, never simulated.

    The update multiplies two sets of weights, so each synapse would have to know the others (supplement B, "Naive
    implementation of the RRR constraint is not biologically plausible").
    """

    change: str = "eta_x * (x_pre * a_post - x_pre * dot(x, dot(Vx, Lagrange)))"
    equation: str = "dVx = eta_x (x a' - Cxx Vx Lagrange)"

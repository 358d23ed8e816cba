"""What is broadcast to every synapse of a pathway alike: learning rates, and whether a sample or a replay is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biorrr.models.parts import Pathway, Population

_BROADCAST = """
    sample : 1 (shared)            # samples seen before this one
    waking : 1 (shared)            # 1 while a sample is presented, 0 in spontaneous replay
    gain : 1 (shared)              # of plasticity: 1 while waking, ridge*m/B in replay
    eta_x : 1 (shared)             # rate of proximal plasticity
    eta_y : 1 (shared)             # rate of distal plasticity
    eta_q : 1 (shared)             # rate of interneuron-to-pyramidal plasticity
    eta_r : 1 (shared)             # rate of pyramidal-to-interneuron plasticity
    s : 1 (shared, constant)       # 0 is RRMSE, 1 is CCA
    ridge_y : 1 (shared, constant) # added to Cyy
    replay_gain : 1 (shared, constant)
"""


@dataclass(frozen=True)
class Neuromodulator(Population):
    """Broadcasts the rates of a timetable, eta0/(1 + t/N) for each pathway, the same to all its synapses."""

    size: int = 1

    name = "neuromodulator"
    broadcast: ClassVar[tuple[str, ...]] = (
        "waking", "gain", "eta_x", "eta_y", "eta_q", "eta_r", "s", "ridge_y",
    )  # fmt: skip
    traces = ("eta_x", "eta_y", "eta_q", "eta_r")
    equations = (
        _BROADCAST
        + """
    eta0_x : 1 (shared, constant)
    eta0_y : 1 (shared, constant)
    eta0_q : 1 (shared, constant)
    eta0_r : 1 (shared, constant)
    N_x : 1 (shared, constant)
    N_y : 1 (shared, constant)
    N_q : 1 (shared, constant)
    N_r : 1 (shared, constant)
    """
    )
    state: ClassVar[tuple[str, ...]] = (
        "sample", "s", "ridge_y", "replay_gain",
        "eta0_x", "eta0_y", "eta0_q", "eta0_r", "N_x", "N_y", "N_q", "N_r",
    )  # fmt: skip
    # Before the cells act. In replay the sample count stands still, and so do the rates.
    announce: ClassVar[str] = """
    sample = sample + waking
    gain = waking + (1 - waking) * replay_gain
    eta_x = eta0_x / (1 + sample / N_x)
    eta_y = eta0_y / (1 + sample / N_y)
    eta_q = eta0_q / (1 + sample / N_q)
    eta_r = eta0_r / (1 + sample / N_r)
    """
    # After the cells have acted, before plasticity.
    adapt: ClassVar[str] = ""
    senses: ClassVar[tuple[type[Pathway], ...]] = ()

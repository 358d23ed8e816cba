"""What is broadcast to every synapse of a pathway alike: learning rates, and whether a sample or a replay is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biorrr.models.parts import Pathway, Population

_STAGE = """
    sample : 1 (shared)            # samples seen before this one
    waking : 1 (shared)            # 1 while a sample is presented, 0 in spontaneous replay
    gain : 1 (shared)              # of plasticity: 1 while waking, ridge*m/B in replay
    s : 1 (shared, constant)       # 0 is RRMSE, 1 is CCA
    ridge_y : 1 (shared, constant) # added to Cyy
    replay_gain : 1 (shared, constant)
"""
# Before the cells act. In replay the sample count stands still, and so do the rates.
_SET_STAGE = """
    sample = sample + waking
    gain = waking + (1 - waking) * replay_gain
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
        _STAGE
        + """
    eta_x : 1 (shared)             # rate of proximal plasticity
    eta_y : 1 (shared)             # rate of distal plasticity
    eta_q : 1 (shared)             # rate of interneuron-to-pyramidal plasticity
    eta_r : 1 (shared)             # rate of pyramidal-to-interneuron plasticity
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
    announce: ClassVar[str] = (
        _SET_STAGE
        + """
    eta_x = eta0_x / (1 + sample / N_x)
    eta_y = eta0_y / (1 + sample / N_y)
    eta_q = eta0_q / (1 + sample / N_q)
    eta_r = eta0_r / (1 + sample / N_r)
    """
    )
    # After the cells have acted, before plasticity.
    adapt: ClassVar[str] = ""
    senses: ClassVar[tuple[Pathway, ...]] = ()


@dataclass(frozen=True)
class _Sense(Pathway):
    """A sum over a whole population that the neuromodulator takes in; no plasticity."""

    target, sign, rule, weight, equation = "neuromodulator", +1, "", "", ""


@dataclass(frozen=True)
class _SensoryDrive(_Sense):
    name, source, order = "sensory_drive", "sensory", -40
    current = "energy_x_post = x_pre**2 : 1 (summed)"


@dataclass(frozen=True)
class _InstructiveDrive(_Sense):
    name, source, order = "instructive_drive", "instructive", -40
    current = "energy_y_post = y_pre**2 : 1 (summed)"


@dataclass(frozen=True)
class _OutputDrive(_Sense):
    name, source, order = "output_drive", "pyramidal", -30
    current = "energy_z_post = z_pre**2 : 1 (summed)"


@dataclass(frozen=True)
class _LoopGain(_Sense):
    name, source, order = "loop_gain", "pyramidal", -15
    current = "trace_q_post = power_pre : 1 (summed)"


@dataclass(frozen=True)
class AdaptiveNeuromodulator(Neuromodulator):
    """Broadcasts rates fitted to the drive: as large as stability allows at first, then falling as 1/t.

    Proximal learning is a least-mean-squares rule with gain QR, stable while eta_x |x|^2 trace(QR) < 2. The rate is
    set for a typical sample and falls with t; a sample so strong that the rate would come near that bound gets the
    bound instead. As the rate falls, the bound stops to matter, so in the end every sample counts the same and the
    optimum is not shifted. The same holds for distal learning (bound by |y|^2 where s > 0) and for Q and R, whose
    growth by eta_q (|z|^2 - 1) one outlier could blow up.

    Descent in Vx and ascent in Q circle around the optimum unless Vx settles faster than Q and Vy move. Along one of
    d directions of equal power it settles at rate 0.5/d, so Q and Vy get at most that. Q and R always share their
    rate, so R -> Q' holds.
    """

    broadcast = ("waking", "gain", "eta_x", "eta_y", "eta_q", "eta_r", "s", "ridge_y")
    equations = (
        _STAGE
        + """
    eta_x : 1
    eta_y : 1
    eta_q : 1
    eta_r : 1
    energy_x : 1                   # |x|^2
    energy_y : 1                   # |y|^2
    energy_z : 1                   # |z|^2
    trace_q : 1                    # trace(QQ'), the gain of the inhibitory loop
    log_retained : 1               # log of the product of (1 - eta_q): what is left of Q' - R
    typical_x : 1 (shared, constant)   # mean of |x|^2 over the data
    typical_y : 1 (shared, constant)   # mean of |y|^2 over the data
    dimension_x : 1 (shared, constant) # directions over which |x|^2 is spread
    plastic : 1 (shared, constant)     # 0 for a pass with learning off
    """
    )
    state = (
        "sample", "s", "ridge_y", "replay_gain", "log_retained", "typical_x", "typical_y", "dimension_x", "plastic",
    )  # fmt: skip
    announce = _SET_STAGE
    # Numbers found by search over digits, V1-V2, MediaMill and synthetic data (Gaussian, white, heavy-tailed, unevenly
    # scaled) at s = 0 and 1, k = 1, 2, 4, 1e5 samples each. `hebbian` is the share of plain averaging in the distal
    # rule; the rest is least mean squares.
    adapt = """
    fall = plastic / (1 + sample / 10000)
    settling = 0.5 / dimension_x
    strength_y = 1 - s + s * (energy_y + ridge_y)
    typical_strength = 1 - s + s * (typical_y + ridge_y)
    hebbian = (1 - s + s * ridge_y) / typical_strength
    wanted_x = 0.5 * fall / typical_x
    wanted_y = (hebbian * clip(0.3 * settling, 0, 0.008) + (1 - hebbian) * 0.02) * fall / typical_strength
    wanted_q = clip(settling, 0, 0.03) * fall
    eta_x = waking * clip(wanted_x, 0, 0.5 * plastic / (energy_x + 1e-300)) / trace_q + (1 - waking) * eta_x
    eta_y = waking * clip(wanted_y, 0, 0.5 * plastic / strength_y) + (1 - waking) * eta_y
    eta_q = waking * clip(wanted_q, 0, 0.06 * plastic / (energy_z + 1e-300)) + (1 - waking) * eta_q
    eta_r = eta_q
    log_retained = log_retained + waking * log(1 - eta_q)
    """
    senses = (_SensoryDrive(), _InstructiveDrive(), _OutputDrive(), _LoopGain())

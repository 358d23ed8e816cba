"""The neuromodulator: it broadcasts learning rates, and what goes with them, to every synapse of a
pathway alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from biorrr.models.auto_rates import MEMORY, PLANNED, Drive, plan
from biorrr.models.parts import Parts, Population, Step, Variable, broadcast, sum_over
from biorrr.models.rates import Rates

PLASTICITY = {
    "x": "proximal",
    "y": "distal",
    "q": "interneuron-to-pyramidal",
    "r": "pyramidal-to-interneuron",
}
ETAS = {p: broadcast(f"eta_{p}", f"rate of {kind} plasticity") for p, kind in PLASTICITY.items()}
REGRESSION = (
    broadcast("rho", "variance that every output is brought to", "parameter", 1.0),
    broadcast("s", "0 is RRMSE, 1 is CCA", "parameter"),
    broadcast("ridge_y", "added to Cyy", "parameter"),
    broadcast(
        "replay_gain", "plasticity in replay: ridge times inputs per replayed tick", "parameter"
    ),
)


def speaker(meaning: str, *spoken: Variable | Step) -> Population:
    """Return the neuromodulator that broadcasts the variables among ``spoken``, which its steps
    set.
    """
    return Population(1, "neuromodulator", meaning=meaning, shape="").adding(*spoken)


def Neuromodulator(rates: Rates, others: Iterable[Variable] = REGRESSION) -> Population:
    """Return the timetable of ``rates``, eta0/(1 + t/N), with ``others`` that the neuromodulator
    broadcasts.
    """
    start = [
        broadcast(f"eta0_{p}", f"eta_{p} at the first sample", "parameter", getattr(rates, p).eta0)
        for p in PLASTICITY
    ]
    half = [
        broadcast(
            f"N_{p}", f"samples after which eta_{p} has halved", "parameter", getattr(rates, p).N
        )
        for p in PLASTICITY
    ]
    # In replay the sample count stands still, and so do the rates.
    step = Step(
        "input", "\n".join(f"eta_{p} = eta0_{p} / (1 + sample / N_{p})" for p in PLASTICITY)
    )
    meaning = "Broadcasts the learning rates of a timetable, eta0 / (1 + t/N)."
    return speaker(meaning, *ETAS.values(), *others, *start, *half, step)


_UNKNOWN = plan(k=1, s=0.0, drive=Drive.white(1))  # until there are data
_LEFT = "left = clip(1 - sample / last, 0, 1) / (1 + sample / fall)"


def AdaptiveNeuromodulator() -> Population:
    """Return the neuromodulator of rates fitted to the drive; :mod:`biorrr.models.auto_rates` says
    why they are so.
    """
    return speaker(
        "Broadcasts learning rates fitted to the drive.",
        *ETAS.values(),
        *REGRESSION,
        broadcast("energy_x", "|x|^2"),
        broadcast("energy_y", "|y|^2"),
        broadcast("energy_z", "|z|^2"),
        broadcast("trace_q", "trace(QQ'), the gain of the inhibitory loop"),
        broadcast("ridge_power", "what the ridge adds to |x|^2", "parameter"),
        *(
            broadcast(name, meaning, "parameter", _UNKNOWN[name])
            for name, meaning in PLANNED.items()
        ),
        broadcast(
            "step_noise",
            "mean-square step of Vx, relative to that without departures",
            "parameter",
            1.0,
        ),
        broadcast("outputs", "number of outputs", "parameter", 1.0),
        # Not broadcast, and so it goes on in a run that continues another.
        Variable(
            "mean_power",
            f"|z|^2 per cell, averaged over about {MEMORY:g} samples",
            role="memory",
        ),
        broadcast("learning", "0 for a pass with learning off", "parameter", 1.0),
        broadcast("eta_mean", "eta_q, averaged over the sample so far", "memory"),
        broadcast("log_retained", "log of the part of Q' - R that is left", "memory"),
        Step("modulation", "eta_mean = 0", block="onset"),
        # A step of its own: while a sample is held, the proximal rate stands still.
        Step(
            "modulation",
            f"""
            {_LEFT}
            wanted_x = learning * left * sqrt(left) * base_x
            bound_x = learning * sqrt(left) * single_x / (energy_x + ridge_power + 1e-300)
            eta_x = clip(wanted_x, 0, bound_x) / (clip(trace_q, least_gain, inf) * step_noise)
            """,
        ),
        Step(
            "modulation",
            f"""
            {_LEFT}
            mean_power += (energy_z / outputs - mean_power) / ({MEMORY!r} * duration)
            wanted = learning * left * clip(mean_power, least_power, 1)
            bound = learning * sqrt(left) * single_q
            eta_y = clip(base_y * wanted, 0, bound / (1 - s + s * (energy_y + ridge_y) + 1e-300))
            eta_q = clip(base_q * wanted, 0, bound / (energy_z + 1e-300))
            eta_r = eta_q
            eta_mean += eta_q / duration
            """,
        ),
        Step("modulation", "log_retained += log(1 - eta_mean)", block="end"),
    )


def fit_rates(parts: Parts) -> Parts:
    """Return ``parts`` whose neuromodulator fits the rates to the drive: it listens to inputs and
    outputs, and to the strength of inhibition.
    """
    inhibitory = parts["inhibitory"]
    power = Variable("power", "sum of squares of the cell's inhibitory weights")
    heard = (
        ("sensory_drive", "sensory", "energy_x", "x_pre**2", "drive"),
        ("instructive_drive", "instructive", "energy_y", "y_pre**2", "drive"),
        ("output_drive", "pyramidal", "energy_z", "z_pre**2", "recruitment"),
        ("loop_gain", "pyramidal", "trace_q", "power_pre", "dendrite"),
    )
    return parts.having(
        parts["pyramidal"].adding(power),
        AdaptiveNeuromodulator(),
        replace(inhibitory, sums=(*inhibitory.sums, ("power", "w**2"))),
        *(sum_over("neuromodulator", *one) for one in heard),
    )

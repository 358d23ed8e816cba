"""The neuromodulator: it broadcasts learning rates, and what goes with them, to every synapse of a
pathway alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from biorrr.models.auto_rates import LEAST_GAIN, MEMORY, OPEN_ENDED, PLANNED, Drive
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Population, summed
from biorrr.models.rates import Rate
from biorrr.models.variables import Step, Variable, broadcast

PLASTICITY = {
    "x": "proximal",
    "y": "distal",
    "q": "interneuron-to-pyramidal",
    "r": "pyramidal-to-interneuron",
}
REGRESSION = (
    broadcast("rho", "variance that every output is brought to", "parameter", 1.0),
    broadcast("s", "0 is RRMSE, 1 is CCA", "parameter"),
    broadcast("ridge_y", "added to Cyy", "parameter"),
    broadcast(
        "replay_gain", "plasticity in replay: ridge times inputs per replayed tick", "parameter"
    ),
)


def broadcast_rates(paths: Iterable[str]) -> tuple[Variable, ...]:
    """Return the rates eta_{path}; a path begins with a letter of :data:`PLASTICITY`, such as "x"
    or "x_1".
    """
    return tuple(
        broadcast(f"eta_{path}", f"rate of {PLASTICITY[path[0]]} plasticity") for path in paths
    )


def broadcasting(meaning: str, *spoken: Variable | Step) -> Population:
    """Return the neuromodulator that broadcasts the variables among ``spoken``, which its steps
    set.
    """
    return Population(1, "neuromodulator", meaning=meaning, shape="").adding(*spoken)


def Neuromodulator(
    rates: Mapping[str, Rate], others: Iterable[Variable] = REGRESSION
) -> Population:
    """Return the timetable of ``rates`` by path, eta0/(1 + t/N), with ``others`` that the
    neuromodulator broadcasts.
    """
    start = [
        broadcast(f"eta0_{p}", f"eta_{p} at the first sample", "parameter", r.eta0)
        for p, r in rates.items()
    ]
    half = [
        broadcast(f"N_{p}", f"samples after which eta_{p} has halved", "parameter", r.N)
        for p, r in rates.items()
    ]
    # In replay the sample count stands still, and so do the rates.
    step = Step("input", "\n".join(f"eta_{p} = eta0_{p} / (1 + sample / N_{p})" for p in rates))
    meaning = "Broadcasts the learning rates of a timetable, eta0 / (1 + t/N)."
    return broadcasting(meaning, *broadcast_rates(rates), *others, *start, *half, step)


_OPEN_ENDED = OPEN_ENDED.plan(k=1, s=0.0, drive=Drive.white(1, 1))


def AdaptiveNeuromodulator() -> Population:
    """Return the neuromodulator of rates fitted to the drive; :mod:`biorrr.models.auto_rates` says
    why they are so.
    """
    return broadcasting(
        "Broadcasts learning rates fitted to the drive.",
        *broadcast_rates(PLASTICITY),
        *REGRESSION,
        broadcast("energy_x", "|x|^2"),
        broadcast("energy_y", "|y|^2"),
        broadcast("energy_z", "|z|^2"),
        broadcast("trace_q", "trace(QQ'), the gain of the inhibitory loop"),
        broadcast("ridge_power", "what the ridge adds to |x|^2", "parameter"),
        broadcast(
            "power_x",
            "mean of |x|^2 over the data, with the ridge",
            "parameter",
            "cells('sensory')",
        ),
        broadcast("typical_y", "power of y in a direction that is to be learned", "parameter", 1.0),
        *(
            broadcast(name, meaning, "parameter", _OPEN_ENDED[name])
            for name, meaning in PLANNED.items()
        ),
        broadcast(
            "step_noise",
            "mean-square step of Vx, relative to that without departures",
            "parameter",
            1.0,
        ),
        broadcast("outputs", "number of outputs", "parameter", 1.0),
        broadcast(
            "mean_power", f"|z|^2 per cell, averaged over about {MEMORY:g} samples", "memory"
        ),
        broadcast("learning", "0 for a pass with learning off", "parameter", 1.0),
        broadcast("eta_mean", "eta_q, averaged over the sample so far", "memory"),
        broadcast("log_retained", "log of the part of Q' - R that is left", "memory"),
        Step("modulation", "eta_mean = 0", block="onset"),
        # A step of its own: while a sample is held, the proximal rate stands still.
        Step(
            "modulation",
            f"""
            left = clip(1 - sample / last, 0, 1)
            bound = learning * sqrt(left)
            wanted_x = learning * left * sqrt(left) * base_x / power_x / (1 + sample / N_x)
            gain = clip(trace_q, {LEAST_GAIN!r} * typical_y / (1 - s + s * typical_y), inf)
            eta_x = clip(wanted_x, 0, single_x * bound / (energy_x + ridge_power + 1e-300)) / (gain * step_noise)
            """,
        ),
        Step(
            "modulation",
            f"""
            left = clip(1 - sample / last, 0, 1)
            bound = learning * sqrt(left)
            mean_power += (energy_z / outputs - mean_power) / ({MEMORY!r} * duration)
            wanted_q = learning * left * clip(mean_power, least, 1) * base_q / (1 + sample / N_q)
            wanted_y = ratio_y * wanted_q / (1 - s + s * typical_y)
            eta_y = clip(wanted_y, 0, single_y * bound / (1 - s + s * (energy_y + ridge_y) + 1e-300))
            eta_q = clip(wanted_q, 0, single_q * bound / (energy_z + 1e-300))
            eta_r = eta_q
            eta_mean += eta_q / duration
            """,
        ),
        Step("modulation", "log_retained += log(1 - eta_mean)", block="end"),
    )


@dataclass(frozen=True)
class AdaptiveRates(Departure):
    """Learning rates fitted to the drive, with the sums over populations that they need to know."""

    alters = ("neuromodulator", "sensory", "instructive", "pyramidal", "inhibitory")
    turn = -1

    def alter(self, parts: Parts) -> Parts:
        """Let the neuromodulator listen to inputs and outputs, and to the strength of inhibition."""
        inhibitory = parts["inhibitory"]
        power = Variable("power", "sum of squares of the cell's inhibitory weights")
        return parts.having(
            parts["pyramidal"].adding(power),
            AdaptiveNeuromodulator(),
            replace(inhibitory, sums=(*inhibitory.sums, ("power", "w**2"))),
            summed("sensory_drive", "sensory", "neuromodulator", "energy_x", "x_pre**2", "drive"),
            summed(
                "instructive_drive",
                "instructive",
                "neuromodulator",
                "energy_y",
                "y_pre**2",
                "drive",
            ),
            summed(
                "output_drive", "pyramidal", "neuromodulator", "energy_z", "z_pre**2", "recruitment"
            ),
            summed("loop_gain", "pyramidal", "neuromodulator", "trace_q", "power_pre", "dendrite"),
        )

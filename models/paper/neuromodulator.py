"""What is broadcast to every synapse of a pathway alike: learning rates, and what goes with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from biorrr.models.auto_rates import AUTO
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Pathway, Population, Step, Variable, with_values
from biorrr.models.rates import Rates


def _parameter(name: str, meaning: str, value: float | str = 0.0, scale: str = "1") -> Variable:
    return Variable(name, meaning, per="circuit", role="parameter", value=value, scale=scale)


def _broadcast(name: str, meaning: str) -> Variable:
    return Variable(name, meaning, per="circuit")


_REGRESSION = (
    _parameter("s", "0 is RRMSE, 1 is CCA", scale="1 / a"),
    _parameter("ridge_y", "added to Cyy", scale="y**2"),
    _parameter("replay_gain", "plasticity in replay: ridge times inputs per replayed tick", scale="x**2"),
)
_RATES = (
    _broadcast("eta_x", "rate of proximal plasticity"),
    _broadcast("eta_y", "rate of distal plasticity"),
    _broadcast("eta_q", "rate of interneuron-to-pyramidal plasticity"),
    _broadcast("eta_r", "rate of pyramidal-to-interneuron plasticity"),
)


@dataclass(frozen=True)
class Neuromodulator(Population):
    """Broadcasts the rates of a timetable, eta0/(1 + t/N) for each pathway, the same to all its synapses."""

    size: int | None = 1
    name: str = "neuromodulator"
    variables: tuple[Variable, ...] = (
        *_RATES,
        *_REGRESSION,
        *(_parameter(f"eta0_{path}", f"eta_{path} at the first sample") for path in "xyqr"),
        *(_parameter(f"N_{path}", f"samples after which eta_{path} has halved") for path in "xyqr"),
    )
    # In replay the sample count stands still, and so do the rates.
    steps: tuple[Step, ...] = (
        Step("input", "\n".join(f"eta_{path} = eta0_{path} / (1 + sample / N_{path})" for path in "xyqr")),
    )
    meaning: str = "Broadcasts the learning rates of a timetable, eta0 / (1 + t/N)."
    shape: str = ""

    @classmethod
    def of(cls, rates: Rates) -> Population:
        """The timetable of ``rates``."""
        given = {path: getattr(rates, path) for path in "xyqr"}
        return with_values(
            cls(),
            **{f"eta0_{path}": rate.eta0 for path, rate in given.items()},
            **{f"N_{path}": rate.N for path, rate in given.items()},
        )


@dataclass(frozen=True)
class AdaptiveNeuromodulator(Population):
    """Broadcasts rates fitted to the drive, those of :mod:`biorrr.models.auto_rates`, which says why they are so."""

    size: int | None = 1
    name: str = "neuromodulator"
    variables: tuple[Variable, ...] = (
        *_RATES,
        *_REGRESSION,
        _broadcast("energy_x", "|x|^2"),
        _broadcast("energy_y", "|y|^2"),
        _broadcast("energy_z", "|z|^2"),
        _broadcast("trace_q", "trace(QQ'), the gain of the inhibitory loop"),
        _parameter("ridge_power", "what the ridge adds to |x|^2", scale="x**2"),
        _parameter("power_x", "mean of |x|^2 over the data, with the ridge", "cells('sensory')", scale="x**2"),
        _parameter("typical_y", "power of y in a direction that is to be learned", 1.0, scale="y**2"),
        _parameter("dimension_x", "directions over which |x|^2 is spread", "cells('sensory')"),
        _parameter("filters", "pyramidal neurons", "cells('pyramidal')"),
        _parameter("learning", "0 for a pass with learning off", 1.0),
        Variable("eta_mean", "eta_q, averaged over the sample so far", per="circuit", role="memory"),
        Variable("log_retained", "log of the part of Q' - R that is left", per="circuit", role="memory"),
    )
    steps: tuple[Step, ...] = (
        Step(
            "modulation",
            f"""
            root_k = sqrt(filters)
            wanted_q = {AUTO.interneuron} / sqrt(filters + 3) / (1 + root_k * dimension_x / {AUTO.spread})
            wanted_q = learning * wanted_q / (1 + sample / {AUTO.N})
            wanted_y = {AUTO.distal} / root_k * wanted_q / (1 - s + s * typical_y)
            wanted_x = {AUTO.proximal} * learning / power_x / (1 + sample / ({AUTO.N_x} * root_k))
            eta_x = clip(wanted_x, 0, {AUTO.single_x} * learning / (energy_x + ridge_power + 1e-300)) / trace_q
            eta_y = clip(wanted_y, 0, {AUTO.single_y} * learning / (1 - s + s * (energy_y + ridge_y) + 1e-300))
            eta_q = clip(wanted_q, 0, {AUTO.single_q} * learning / (energy_z + 1e-300))
            eta_r = eta_q
            eta_mean = (1 - onset) * eta_mean + share * eta_q
            log_retained += closing * log(1 - eta_mean)
            """,
        ),
    )
    meaning: str = "Broadcasts learning rates fitted to the drive."
    shape: str = ""


@dataclass(frozen=True)
class AdaptiveRates(Departure):
    """Learning rates fitted to the drive, with the sums over populations that they need to know."""

    def alter(self, parts: Parts) -> Parts:
        """Let the neuromodulator listen to inputs and outputs, and to the strength of inhibition."""
        inhibitory = parts["inhibitory"]
        parts = parts.adding(
            "pyramidal", Variable("power", "sum of squares of the cell's inhibitory weights", scale="a")
        )
        return parts.having(
            AdaptiveNeuromodulator(),
            replace(inhibitory, sums=(*inhibitory.sums, ("power", "w**2"))),
            _sum("sensory_drive", "sensory", "energy_x", "x_pre**2", "drive"),
            _sum("instructive_drive", "instructive", "energy_y", "y_pre**2", "drive"),
            _sum("output_drive", "pyramidal", "energy_z", "z_pre**2", "recruitment"),
            _sum("loop_gain", "pyramidal", "trace_q", "power_pre", "dendrite"),
        )


def _sum(name: str, source: str, drives: str, current: str, phase: str) -> Pathway:
    """A sum over a whole population that the neuromodulator takes in."""
    return Pathway(name, source, "neuromodulator", drives, current, phase, weighted=False)

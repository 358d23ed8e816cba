"""Power of designs of experiments on distal plasticity: curves, and a plan of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Findings, Job, Lab, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import data_sets, np

if TYPE_CHECKING:
    from biorrr.analysis.distal.power import Design

NOISES = (0.005, 0.01, 0.02)  # of one look at a weight, over the r.m.s. of the weights
ENOUGH = 0.95  # power that should be reached
ENDS = (0.0, 1.0)  # of the family: an experiment should tell them apart, whichever the circuit follows
FIXED = {"synapses": 20, "samples": 50, "neurons": 2, "every": 10}  # numbers of a design that a curve does not vary
CURVES = {"samples": (5, 10, 20, 50, 100), "synapses": (2, 3, 5, 10, 20)}
WORDS = {"samples": "changes", "synapses": "synapses"}


@dataclass(frozen=True)
class SimulatedDesign:
    """Simulated experiments of one design on circuits that follow one s."""

    design: Design
    s: float
    seed: int

    def run(self, job: Job, data: data_sets.Dataset | None = None) -> dict[str, Any]:
        """Return shares of experiments, and the change between two looks, by name."""
        from biorrr.analysis.distal.power import try_design

        return vars(try_design(self.design, self.s, job.settings.experiments, self.seed))


def simulate_design(job: Job, item: SimulatedDesign) -> dict[str, Any]:
    """Try a design."""
    return item.run(job)


def at_ends(design: Design, seed: int) -> list[SimulatedDesign]:
    """Return the experiments of a design at both ends of the family."""
    return [SimulatedDesign(design, s, seed) for s in ENDS]


def on_curve(seed: int, varied: str, noise: float) -> list[list[SimulatedDesign]]:
    """Return the experiments of a power curve, by value and end of the family."""
    from biorrr.analysis.distal.power import Design

    return [
        at_ends(Design(weight_noise=noise, **FIXED | {varied: value}), seed + value)  # type: ignore[arg-type]
        for value in CURVES[varied]
    ]


def power_curves(seed: int, found: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
    """Return power, coverage of the confidence interval and share of misleading experiments, (noise, value) each."""
    curves = {}
    for varied in CURVES:
        every = [[[found[one] for one in ends] for ends in on_curve(seed, varied, noise)] for noise in NOISES]
        for name, of_ends in (("tells", np.min), ("covers", np.mean), ("misleads", np.mean)):
            values = [[of_ends([one[name] for one in ends]) for ends in curve] for curve in every]
            curves[f"{'power' if name == 'tells' else name}_{varied}"] = (("noise", varied), values)
    return curves


def kept_on(varied: str) -> str:
    """Return the numbers that a power curve keeps, in words."""
    (other,) = set(CURVES) - {varied}
    return f"{FIXED[other]} {WORDS[other]}, {FIXED['neurons']} neurons, every {FIXED['every']}th sample"


def plan_experiment(lab: Lab, settings: Any) -> Findings:
    """Answer whether a plan suffices."""
    from biorrr.analysis.distal.power import Design

    stated = ("synapses", "samples", "weight_noise", "activity_noise", "neurons", "every")
    ends = at_ends(Design(**{name: getattr(settings, name) for name in stated}), settings.seed)
    found = lab.map(simulate_design, ends)
    power = min(float(found[one]["tells"]) for one in ends)
    rows = {
        "change between two looks, over the weights": "change",
        "coverage of the 95 % confidence interval": "covers",
        "misleading experiments": "misleads",
    }
    return Findings(
        title=f"{settings.synapses} synapses on {settings.neurons} neuron{'s' * (settings.neurons > 1)}, "
        f"{settings.samples} changes of each, weights known to {settings.weight_noise:.1%}, observed at every "
        f"{settings.every}th sample: {power:.0%} of {settings.experiments} experiments tell RRMSE from CCA, "
        f"{'which suffices' if power >= ENOUGH else f'and it takes {ENOUGH:.0%}'}",
        quantities=[
            *(Quantity(name, getattr(settings, name), PERCENT if "noise" in name else "") for name in stated),
            Quantity("experiments", settings.experiments),
            Quantity("power", power, PERCENT),
            Quantity("suffices", power >= ENOUGH),
        ],
        rows={
            words: ", ".join(f"{float(found[one][name]):.1%} at s = {one.s:g}" for one in ends)
            for words, name in rows.items()
        },
    )

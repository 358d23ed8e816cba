"""Power of designs of experiments on distal plasticity: curves, and a plan of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Findings, Job, Lab, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import np

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


def simulate_design(job: Job, item: SimulatedDesign) -> dict[str, Any]:
    """Return shares of experiments, and the change between two looks, by name."""
    from biorrr.analysis.distal.power import try_design

    return vars(try_design(item.design, item.s, job.settings.experiments, item.seed))


def designs_on_curves(seed: int) -> list[SimulatedDesign]:
    """Return the designs of all power curves, by what is varied, noise, value and end of the family."""
    from biorrr.analysis.distal.power import Design

    return [
        SimulatedDesign(Design(weight_noise=noise, **FIXED | {varied: value}), s, seed + value)  # type: ignore[arg-type]
        for varied, values in CURVES.items()
        for noise in NOISES
        for value in values
        for s in ENDS
    ]


def power_curves(tried: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return power, coverage of the confidence interval and share of misleading experiments, (noise, value) each.

    ``tried`` are the results of :func:`designs_on_curves`. An experiment should tell whichever end the circuit follows.
    """
    tried, curves = [*tried], {}
    for name, key, of_ends in (
        ("power", "tells", np.min),
        ("covers", "covers", np.mean),
        ("misleads", "misleads", np.mean),
    ):
        shares = np.reshape([one[key] for one in tried], (len(CURVES), len(NOISES), -1, len(ENDS)))
        for varied, share in zip(CURVES, of_ends(shares, axis=-1), strict=True):
            curves[f"{name}_{varied}"] = (("noise", varied), share)
    return curves


def kept_on(varied: str) -> str:
    """Return the numbers that a power curve keeps, in words."""
    (other,) = set(CURVES) - {varied}
    return f"{FIXED[other]} {WORDS[other]}, {FIXED['neurons']} neurons, every {FIXED['every']}th sample"


def plan_experiment(lab: Lab, settings: Any) -> Findings:
    """Answer whether a plan suffices."""
    from biorrr.analysis.distal.power import Design

    stated = ("synapses", "samples", "weight_noise", "activity_noise", "neurons", "every")
    design = Design(**{name: getattr(settings, name) for name in stated})
    ends = [SimulatedDesign(design, s, settings.seed) for s in ENDS]
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

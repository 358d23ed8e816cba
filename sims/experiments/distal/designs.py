"""A plan of the user's for an experiment on distal plasticity, and whether it suffices to tell RRMSE from CCA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Findings, Job, Lab, Quantity
from biorrr.sims.lab.quantities import PERCENT

if TYPE_CHECKING:
    from biorrr.analysis.distal.power import Design

ENOUGH = 0.95  # power that should be reached
ENDS = (0.0, 1.0)  # of the family: an experiment should tell them apart, whichever the circuit follows


def simulate_design(job: Job, s: float, design: Design) -> dict[str, Any]:
    """Return shares of experiments on circuits that follow ``s``, and the change between two looks, by name."""
    from biorrr.analysis.distal.power import try_design

    return vars(try_design(design, s, job.settings.experiments, job.settings.seed))


def plan_experiment(lab: Lab, settings: Any) -> Findings:
    """Answer whether a plan suffices."""
    from biorrr.analysis.distal.power import Design

    stated = ("synapses", "samples", "weight_noise", "activity_noise", "neurons", "every")
    found = lab.map(simulate_design, ENDS, Design(**{name: getattr(settings, name) for name in stated}))
    power = min(float(one["tells"]) for one in found.values())
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
            words: ", ".join(f"{float(one[name]):.1%} at s = {s:g}" for s, one in found.items())
            for words, name in rows.items()
        },
    )

"""Answers for the user's own experiment: the s that a record speaks for, and whether a plan
suffices to tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import PERCENT, Findings, Lab, Quantity, Task
from biorrr.sims.lazy import analysis, np

if TYPE_CHECKING:
    from biorrr.analysis.distal.power import Design
    from biorrr.sims.recordings.measured import Measured

ENOUGH = 0.95  # power that should be reached
ENDS = (
    0.0,
    1.0,
)  # of the family: an experiment should tell them apart, whichever the circuit follows


def infer_from_record(data: Measured, settings: Any) -> Findings:
    """Infer s from a record of distal plasticity."""
    record = data.recording
    found = analysis.infer_s(*record, ridge=settings.ridge, noise=settings.known_noise)
    samples, _, neurons = record.Vy.shape
    every = record.y.shape[1] if record.y.ndim == 3 else 1
    synapses = int((~np.isnan(record.Vy).all(axis=0)).sum())
    return Findings(
        title=f"s from {settings.data}",
        quantities=[
            *(Quantity(name, float(getattr(found, name))) for name in ("s", "low", "high")),
            *(
                Quantity(name, float(getattr(found, name)), PERCENT)
                for name in ("noise", "unexplained")
            ),
            Quantity("can_tell", bool(found.can_tell)),
            Quantity("another_rule", bool(found.another_rule)),
            Quantity("samples", samples),
            Quantity("every", every),
            Quantity("synapses", synapses),
            Quantity("neurons", neurons),
            Quantity("recording", settings.data.name),
        ],
        rows={
            "observed": (
                f"{synapses} synapses on {neurons} neurons, {samples} changes"
                + (f", each of {every} samples" if every > 1 else "")
            ),
            "verdict": (
                "another rule"
                if found.another_rule
                else f"s = {found.s:.3f}"
                if found.can_tell
                else "cannot tell"
            ),
            "95 % interval": f"{found.low:.3f} to {found.high:.3f}",
            "in words": str(found),
        },
    )


def simulate_design(task: Task, s: float, design: Design) -> dict[str, Any]:
    """Return shares of experiments on circuits that follow ``s``, and the change between two looks,
    by name.
    """
    from biorrr.analysis.distal.power import try_design

    return vars(try_design(design, s, task.settings.experiments, task.settings.seed))


def plan_experiment(lab: Lab, settings: Any) -> Findings:
    """Answer whether a plan suffices."""
    from biorrr.analysis.distal.power import Design

    stated = ("synapses", "samples", "weight_noise", "activity_noise", "neurons", "every")
    found = lab.each(
        simulate_design, ENDS, Design(**{name: getattr(settings, name) for name in stated})
    )
    power = min(float(one["tells"]) for one in found.values())
    rows = {
        "change between two looks, over the weights": "change",
        "coverage of the 95 % confidence interval": "covers",
        "misleading experiments": "misleads",
    }
    return Findings(
        title=(
            f"{settings.synapses} synapses on {settings.neurons}"
            f" neuron{'s' * (settings.neurons > 1)}, {settings.samples} changes of each, weights"
            f" known to {settings.weight_noise:.1%}, observed at every {settings.every}th sample:"
            f" {power:.0%} of {settings.experiments} experiments tell RRMSE from CCA,"
            f" {'which suffices' if power >= ENOUGH else f'and it takes {ENOUGH:.0%}'}"
        ),
        quantities=[
            *(
                Quantity(name, getattr(settings, name), PERCENT if "noise" in name else "")
                for name in stated
            ),
            Quantity("experiments", settings.experiments),
            Quantity("power", power, PERCENT),
            Quantity("suffices", power >= ENOUGH),
        ],
        rows={
            words: ", ".join(f"{float(one[name]):.1%} at s = {s:g}" for s, one in found.items())
            for words, name in rows.items()
        },
    )

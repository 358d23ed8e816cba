"""Circuits whose instruction comes some samples late."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments.timing.single_cell import RULES
from biorrr.sims.lab import PERCENT, Quantity, Task
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.timing import TimingSettings

LONGEST_SEQUENCE = 400_000  # samples that are held in memory
LEARNERS = {
    "plain": "angle to the fixed point without traces",
    "traces": "with traces",
}  # words of the table
# Bounds, fixed beforehand: degrees between learned filters and the fixed point.
FOUND, LOST = 10.0, 45.0  # with traces at most, without at least


@dataclass(frozen=True)
class Learner:
    """A circuit that learns from instruction ``delay`` samples late, with one rule and from one
    seed.
    """

    delay: int
    rule: str
    seed: int


def late_learners(settings: TimingSettings) -> list[Learner]:
    """Return a circuit for each rule, delay and seed."""
    return [
        Learner(d, rule, seed)
        for rule in LEARNERS
        for d in settings.delays
        for seed in settings.every_seed
    ]


def learn_late(
    task: Task, learner: Learner, data: data_sets.Dataset, exact: analysis.ExactSolution
) -> dict[str, Any]:
    """Return the angle between learned filters and the fixed point, and the excess."""
    settings, data, delay = task.settings, data.centred(), learner.delay
    # A sequence of independent samples, gone through again and again.
    epochs = -(-settings.samples // LONGEST_SEQUENCE)
    order = np.random.default_rng([learner.seed, delay]).integers(
        len(data.X), size=settings.samples // epochs
    )
    tau, traces = settings.trace, learner.rule == "traces"
    departures = [models.Eligibility(tau, 0.0, tau)] if traces else []
    circuit = settings.make_circuit(
        k=settings.k, s=0.0, ridge=0.0, seed=learner.seed, departures=departures
    )
    shown = data.X[order]
    late = np.concatenate([np.zeros((delay, data.Y.shape[1])), data.Y[order][: len(order) - delay]])
    try:
        with warnings.catch_warnings(action="ignore"):  # of constant columns
            run = task.run(
                circuit, shown, late, epochs=epochs, order="sequential", record=(), snapshots=1
            )
    except circuits.Diverged:
        return {"angle": 90.0, "excess": 1.0}
    trace = analysis.eligibility_trace(shown, tau if traces or delay else 0.0)
    fixed = analysis.traced_fixed_point(
        trace.T @ shown / len(order), trace.T @ late / len(order), settings.k
    )
    return {
        "angle": float(analysis.principal_angles(run.Vx, fixed)[0]),
        "excess": min(float(exact.excess(run.Vx)), 1.0),
    }


def late_results(
    settings: TimingSettings, found: Mapping[Learner, Mapping[str, Any]]
) -> xr.Dataset:
    """Return angle and excess, (learner, delay, seed)."""
    seeds, delays, dims = [*settings.every_seed], [*settings.delays], ("learner", "delay", "seed")

    def of_all(name: str) -> list:
        return [
            [[float(found[Learner(d, rule, seed)][name]) for seed in seeds] for d in delays]
            for rule in LEARNERS
        ]

    return xr.Dataset(
        {
            "angle": (dims, of_all("angle"), {"units": "degrees", "found": FOUND}),
            "excess": (dims, of_all("excess")),
        },
        {
            "learner": [*LEARNERS],
            "delay": delays,
            "seed": seeds,
            "learner_words": ("learner", [RULES[rule] for rule in LEARNERS]),
        },
    )


def late_quantities(settings: TimingSettings, results: xr.Dataset) -> list[Quantity]:
    """Return angles and excess by delay, means over seeds."""
    every = results["angle"].sel(learner="traces")
    mean = results[["angle", "excess"]].mean("seed")
    found = []
    for delay in settings.delays:
        row = f"instruction {delay} samples late"
        for learner, words in LEARNERS.items():
            here = mean.sel(learner=learner, delay=delay)
            found += [
                Quantity(
                    f"angle_{learner}_{delay}", float(here["angle"]), "degrees", words, row=row
                ),
                Quantity(f"excess_{learner}_{delay}", float(here["excess"]), PERCENT),
            ]
        worst = float(every.sel(delay=delay).max())
        found.append(Quantity(f"angle_traces_{delay}_max", worst, "degrees", "worst seed", row=row))
    found.append(
        Quantity("angle_traces", float(mean["angle"].sel(learner="traces").max()), "degrees")
    )
    found.append(
        Quantity("angle_traces_max", float(every.max()), "degrees", bound=(-math.inf, FOUND))
    )
    if late := [delay for delay in settings.delays if delay]:
        best = float(mean["angle"].sel(learner="plain", delay=late).min())
        found.append(Quantity("angle_plain_late", best, "degrees", bound=(LOST, math.inf)))
    return found

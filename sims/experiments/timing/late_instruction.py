"""Circuits whose instruction comes some samples late."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments.timing.single_cell import RULES
from biorrr.sims.lab import Claim, Job, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.timing import TimingSettings

LONGEST_SEQUENCE = 400_000  # samples that are held in memory
LEARNERS = {"plain": "angle to the fixed point without traces", "traces": "with traces"}  # words of the table
# Bounds, fixed beforehand: degrees between learned filters and the fixed point.
FOUND, LOST = 10.0, 45.0  # with traces at most, without at least


@dataclass(frozen=True)
class Learner:
    """A circuit that learns from instruction ``delay`` samples late, with one rule and from one seed."""

    delay: int
    rule: str
    seed: int


def late_learners(settings: TimingSettings) -> list[Learner]:
    """Return all circuits: two rules with every delay, and the weight-dependent rule without delay."""
    late = [(delay, rule) for rule in LEARNERS for delay in settings.delays]
    return [Learner(delay, rule, seed) for delay, rule in [*late, (0, "weight")] for seed in settings.every_seed]


def learn_late(job: Job, learner: Learner, data: data_sets.Dataset, exact: analysis.Yardstick) -> dict[str, Any]:
    """Return the angle between learned filters and the fixed point, the excess, and the fixed point's residual."""
    settings, data, delay = job.settings, data.centred(), learner.delay
    # A sequence of independent samples, gone through again and again.
    epochs = -(-settings.samples // LONGEST_SEQUENCE)
    order = np.random.default_rng([learner.seed, delay]).integers(len(data.X), size=settings.samples // epochs)
    tau = settings.trace
    departures: list[models.Departure] = []
    if learner.rule == "traces":
        departures = [models.Eligibility(tau, 0.0, tau)]
    elif learner.rule == "weight":
        # Nothing holds these weights back but their bound: with it the output has at most about unit power.
        departures = [models.WeightDependentPlasticity(w_max=0.5 / float(np.sqrt(data.X.var(axis=0).sum())))]
    circuit = settings.make_circuit(k=settings.k, s=0.0, ridge=0.0, seed=learner.seed, departures=departures)
    shown = data.X[order]
    late = np.concatenate([np.zeros((delay, data.Y.shape[1])), data.Y[order][: len(order) - delay]])
    try:
        run = job.run(circuit, shown, late, epochs=epochs, order="sequential", record=(), snapshots=1)
    except circuits.Diverged:
        return {"angle": 90.0, "excess": 1.0, "residual": np.nan}
    trace = analysis.eligibility_trace(shown, tau if learner.rule == "traces" or delay else 0.0)
    C_ex, C_ey = trace.T @ shown / len(order), trace.T @ late / len(order)
    fixed = analysis.traced_fixed_point(C_ex, C_ey, settings.k)
    return {
        "angle": float(analysis.principal_angles(run.Vx, fixed)[0]),
        "excess": min(float(exact.excess(run.Vx)), 1.0),
        "residual": analysis.fixed_point_residual(run.Vx, run.Vy, run.Q, run.R, C_ex, C_ey),
    }


def late_results(settings: TimingSettings, found: Mapping[Any, Mapping[str, Any]]) -> xr.Dataset:
    """Return angle, excess and residual, (learner, delay, seed), and the weight-dependent rule's excess, (seed,)."""
    seeds, delays = [*settings.every_seed], [*settings.delays]

    def of_all(name: str) -> list:
        return [[[float(found[Learner(d, rule, seed)][name]) for seed in seeds] for d in delays] for rule in LEARNERS]

    dims = ("learner", "delay", "seed")
    return xr.Dataset(
        {"angle": (dims, of_all("angle"), {"units": "degrees", "found": FOUND})}
        | {name: (dims, of_all(name)) for name in ("excess", "residual")}
        | {"regression": ("seed", [float(found[Learner(0, "weight", seed)]["excess"]) for seed in seeds])},
        {
            "learner": [*LEARNERS], "delay": delays, "seed": seeds,
            "learner_words": ("learner", [RULES[rule] for rule in LEARNERS]),
        },
    )  # fmt: skip


def late_quantities(
    settings: TimingSettings, results: xr.Dataset, data: data_sets.Dataset, exact: analysis.Yardstick
) -> list[Quantity]:
    """Return angles, excess and residuals by delay, means over seeds; and the weight-dependent rule beside chance."""
    every = results["angle"].sel(learner="traces")
    mean = results[["angle", "excess", "residual"]].mean("seed")
    found = []
    for learner, words in LEARNERS.items():
        for delay in settings.delays:
            here = mean.sel(learner=learner, delay=delay)
            row = f"instruction {delay} samples late"
            found += [
                Quantity(f"angle_{learner}_{delay}", float(here["angle"]), "degrees", words, row=row),
                Quantity(f"excess_{learner}_{delay}", float(here["excess"]), PERCENT),
                Quantity(f"residual_{learner}_{delay}", float(here["residual"])),
            ]
    for delay in settings.delays:
        row, worst = f"instruction {delay} samples late", float(every.sel(delay=delay).max())
        found.append(Quantity(f"angle_traces_{delay}_max", worst, "degrees", "worst seed", row=row))
    found.append(Quantity("angle_traces", float(mean["angle"].sel(learner="traces").max()), "degrees"))
    found.append(Quantity("angle_traces_max", float(every.max()), "degrees", bound=(-math.inf, FOUND)))
    if late := [delay for delay in settings.delays if delay]:
        best = float(mean["angle"].sel(learner="plain", delay=late).min())
        found.append(Quantity("angle_plain_late", best, "degrees", bound=(LOST, math.inf)))
    rng = np.random.default_rng(settings.seed)
    random = [exact.excess(rng.standard_normal((data.X.shape[1], settings.k))) for _ in range(100)]
    row = "weight-dependent, as a learner"
    return [
        *found,
        Quantity("excess_weight_dependent", float(results["regression"].mean()), PERCENT, "excess", row=row),
        Quantity("excess_random_filters", float(np.mean(random)), PERCENT, "random filters", row=row),
    ]


def late_claims(settings: TimingSettings, found: Mapping[str, Quantity]) -> list[Claim]:
    """Judge learning from late instruction, with traces and without."""
    run = f"{settings.samples} samples, {settings.seeds} seeds"
    claims = [
        Claim.about(
            found["angle_traces_max"],
            "with traces the circuit finds the fixed point C_ey Vy = C_ex Vx QR at every delay of instruction",
            run=f"{run}, the largest angle of all seeds",
        )
    ]
    if "angle_plain_late" in found:
        text, how = "without traces late instruction ends learning", f"{run}, the smallest of the mean angles"
        claims.append(Claim.about(found["angle_plain_late"], text, run=how))
    return claims

"""Results at each s: gathered, joined to one dataset, judged and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.experiments.plateau.agreement import (
    COMPARED,
    TOLERATED,
    TRACES,
    WEIGHTS,
    Member,
    Stage,
    at_snapshot,
    compared,
    courses,
    nulls,
    theory,
)
from biorrr.sims.lab import Claim, Figure
from biorrr.sims.lab.training import unjudged_because
from biorrr.sims.lazy import analysis, data_sets, np, xr

SHOWN_SAMPLES, SHOWN_NEURONS = 50, 4  # that fit a page
PLACE = 'Sec. 6, "Interpretation of calcium plateau potential in Bio-RRR"'
EXCESS, WHITENING = 0.03, 0.05  # bounds up to which circuits count as having come to the optimum
TELLING = 0.25  # relative error of the distal current alone, below which the data cannot tell what inhibition does


@dataclass(frozen=True)
class Learner:
    """A circuit that learns."""

    s: float
    seed: int


@dataclass(frozen=True)
class Network:
    """A two-layer network that backprop trains."""

    seed: int


@dataclass(frozen=True)
class At:
    """A circuit as it was at a snapshot of its learning."""

    learner: Learner
    snapshot: int


def gather(
    data: data_sets.Dataset, settings: Any, s: float, found: Mapping[Any, Any], recorded: Mapping[Any, Any], middle: int
) -> Member:
    """Return runs, networks and recorded stages at ``s``."""
    runs = {seed: found[Learner(s, seed)] for seed in settings.every_seed}
    networks = {seed: found[Network(seed)] for seed in settings.every_seed if s == 0}
    last = runs[settings.seed].data.sizes["snapshot"] - 1

    def stage(seed: int, snapshot: int) -> Stage:
        run = at_snapshot(runs[seed], snapshot)
        weights = {name: getattr(run, name) for name in WEIGHTS}
        expected = theory(data, settings.ridge, networks.get(seed), weights)[1]
        return Stage(run.samples, recorded[At(Learner(s, seed), snapshot)], expected)

    before, after = ([stage(seed, snapshot) for seed in runs] for snapshot in (0, last))
    return Member(s, runs, networks, before, after, stage(settings.seed, middle))


def join(data: data_sets.Dataset, settings: Any, member: Member) -> xr.Dataset:
    """Return the runs at one s along a dimension ``seed``, with what was recorded of the first.

    Agreement with theory through learning is (seed, snapshot, pyramidal).
    """
    each_run = [run.data for run in member.runs.values()]
    results = xr.concat(
        each_run,
        dim="seed",
        data_vars=[name for name in each_run[0].data_vars if name != "seen"],
        compat="equals",
        combine_attrs="drop_conflicts",
    )
    results = results.assign_coords(seed=list(member.runs), s=member.s)
    each = [courses(data, settings.ridge, member.networks.get(seed), run) for seed, run in member.runs.items()]
    for name in each[0]:
        for measure in ("correlation", "relative_error"):
            together = np.stack([getattr(course[name], measure) for course in each])
            results[f"{name}_{measure}"] = (("seed", "snapshot", "pyramidal"), together)
    stages = (member.before[0], member.during, member.after[0])
    for name in TRACES:
        recorded = np.stack([stage.recorded[name] for stage in stages])
        results[f"recorded_{name}"] = (("stage", "row", "pyramidal"), recorded)
    results["stage_samples"] = ("stage", [stage.seen for stage in stages])
    return results.assign_coords(
        stage=[f"{stage.seen:,} samples" for stage in stages],
        neuron=("pyramidal", [str(one + 1) for one in range(results.sizes["pyramidal"])]),
        row=range(results.sizes["row"]),
    )


def check_claims(data: data_sets.Dataset, settings: Any, member: Member, exact: analysis.Yardstick) -> list[Claim]:
    """Judge what Secs. 4 and 6 say, neuron by neuron and seed by seed, at one s.

    Plateau and error are equal wherever proximal plasticity has come to rest, whatever Q and R are. A circuit that the
    other rules have led elsewhere is found out by its excess and its whitening error.
    """
    samples = settings.epochs * len(data.X)
    run = f"{data.name}, {settings.k} neurons, {len(member.after)} seeds, {samples:,} samples"
    too_early = unjudged_because(settings, samples)
    claim = partial(Claim, run=run, unjudged=too_early)
    said = f"s = {member.s:g}:"
    excess, whitening = (
        float(np.max([measure(run.Vx) for run in member.runs.values()]))
        for measure in (exact.excess, exact.whitening_error)
    )
    claims = [
        claim(
            text=f"{said} learning ends at the minimum of the objective", place='Sec. 4, "Algorithm derivation"',
            value=excess, low=-1e-9, high=EXCESS, unit="%",
        ),
        claim(
            text=f"{said} the inequality Vx'CxxVx <= I is saturated, ||Vx'CxxVx - I||^2/k = 0", value=whitening,
            place='supplement C, "Saturation of the Bio-RRR inequality constraint"', high=WHITENING,
        ),
    ]  # fmt: skip
    least = min(float(rival.relative_error.min()) for rival in nulls(member.after).values())
    for name in member.after[0].expected:
        agreement, unjudged = compared(member.after, name), too_early
        error, correlation = agreement.relative_error, agreement.correlation
        numbers = {"median": float(np.median(error)), "lowest correlation": float(correlation.min())}
        if name != "inhibition":
            numbers["least error without the right inhibition"] = least
            if least < TELLING:
                unjudged = unjudged or f"these data cannot tell: without inhibition the error would be {least:.0%}"
        claims.append(
            claim(
                text=f"{said} {COMPARED[name].claim}, at the optimum", place=PLACE, value=float(error.max()),
                high=COMPARED[name].tolerated, unit="%", numbers=numbers, unjudged=unjudged,
            )
        )  # fmt: skip
    return claims


def draw(member: Member, every_result: Mapping[str, xr.Dataset], which: str) -> list[Figure]:
    """Return the figures of one s."""
    from biorrr.analysis.figures.agreement import plot_agreement

    results, last = every_result[f"run{which}"], member.after[0]
    shown = {
        "before learning": member.before[0],
        f"halfway: {member.during.seen:,} samples": member.during,
        f"after {last.seen:,} samples": last,
    }
    pairs = {
        name: (COMPARED[name].measured, COMPARED[name].expected, last.recorded[COMPARED[name].trace], signal)
        for name, signal in last.expected.items()
    }
    null, few = nulls(member.after), np.s_[:SHOWN_SAMPLES, :SHOWN_NEURONS]
    rivals = {
        "as it is": compared(member.after, "plateau"),
        "without\ninhibition": null["no_inhibition"],
        "with that of\nother samples": null["other_inhibition"],
    }
    plateaus = partial(
        analysis.plot_plateau,
        {name: {trace: at.recorded[trace][few] for trace in TRACES} for name, at in shown.items()},
        {name: {trace: at.expected[trace][few] for trace in ("plateau", "inhibition")} for name, at in shown.items()},
        unit="sample, learning off",
        notes={name: sizes(at.recorded) for name, at in shown.items()},
    )
    audit = partial(
        plot_agreement,
        pairs,
        results["seen"].values,
        {
            name: (results[f"{name}_correlation"].values, results[f"{name}_relative_error"].values)
            for name in last.expected
        },
        {name: one.relative_error for name, one in rivals.items()},
        TOLERATED,
    )
    apart = which.removeprefix("-")
    return [Figure("plateau", plateaus, apart, charted=True), Figure("audit", audit, apart)]


def sizes(recorded: Mapping[str, np.ndarray]) -> list[str]:
    """Return, for each neuron, the r.m.s. of its plateau and its ratio to that of the distal current, in words."""
    plateau, a = (np.sqrt(np.mean(np.square(recorded[name]), axis=0)) for name in ("plateau", "a"))
    return [
        f"r.m.s. {one:.2g} ({one / other if other else np.nan:.2f} of distal)"
        for one, other in zip(plateau, a, strict=True)
    ]

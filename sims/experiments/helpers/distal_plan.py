"""Power of planned experiments on distal plasticity, and s from a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from biorrr.sims.experiment import Findings, Found, Problem
from biorrr.sims.lab.settings import SettingsError
from biorrr.sims.lazy import analysis, np, xr

# Power curves: what is varied at which values, and what is kept.
CURVES: dict[str, tuple[tuple[int, ...], dict[str, int]]] = {
    "samples": ((5, 10, 20, 50, 100), {"synapses": 20, "neurons": 2, "every": 10}),
    "synapses": ((2, 3, 5, 10, 20), {"samples": 50, "neurons": 2, "every": 10}),
}
NOISES = (0.005, 0.01, 0.02)  # of one look at a weight, over the r.m.s. of the weights
ENOUGH = 0.95  # share of experiments that must tell
MOST = {"samples": 2560, "synapses": 320}  # beyond which a plan looks no further


def power_curve(settings: Any, what: str, values: Sequence[int], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Power, coverage and share of misleading experiments, (values,), where ``what`` is varied; s is 0 and 1."""
    from biorrr.analysis.distal.power import Design, try_design

    outcomes = [
        [
            try_design(Design(**{**kept, what: value}), s, settings.experiments, settings.seed + value)
            for s in (0.0, 1.0)
        ]
        for value in values
    ]
    return {
        "power": np.array([min(one.tells for one in pair) for pair in outcomes]),
        "covers": np.array([np.mean([one.covers for one in pair]) for pair in outcomes]),
        "misleads": np.array([np.mean([one.misleads for one in pair]) for pair in outcomes]),
    }


def planned(settings: Any) -> Any:
    """The design that the settings describe, if it can be simulated."""
    from biorrr.analysis.distal.power import LARGEST, Design, size_of

    design = Design(
        settings.synapses, settings.samples, settings.weight_noise, settings.y_noise, settings.z_noise,
        settings.a_noise, settings.neurons, settings.every,
    )  # fmt: skip
    if size_of(design) > LARGEST:
        raise SettingsError(
            f"plan: synapses (at least 40) times samples times every times neurons must not exceed {LARGEST:,} (got "
            f"{size_of(design):,}); plan a smaller experiment: more can only tell better"
        )
    return design


def plan_parts(settings: Any) -> dict[str, Any]:
    """The planned design at either end of the family, and the smallest numbers that suffice."""
    return {
        "planned-s-0": ("plan", "outcome", 0.0),
        "planned-s-1": ("plan", "outcome", 1.0),
        "smallest-samples": ("plan", "smallest", "samples"),
        "smallest-synapses": ("plan", "smallest", "synapses"),
    }


def run_plan(settings: Any, kind: str, which: Any) -> dict[str, Any]:
    """What comes of a planned design, or the smallest number with which it suffices; -1 where none does."""
    from biorrr.analysis.distal.power import LARGEST, size_of, smallest, try_design

    design = planned(settings)
    if kind == "outcome":
        outcome = try_design(design, which, settings.experiments, settings.seed)
        return {name: getattr(outcome, name) for name in ("tells", "misleads", "covers", "width", "change")}
    most = min(MOST[which], getattr(design, which) * LARGEST // size_of(design))
    found, tried = smallest(design, which, ENOUGH, most, settings.experiments, settings.seed)
    numbers, powers = zip(*sorted(tried.items()), strict=True)
    return {"smallest": -1 if found is None else found, "numbers": np.array(numbers), "powers": np.array(powers)}


def plan_findings(settings: Any, found: Found) -> Findings:
    """Say whether a plan suffices, and what would."""
    from biorrr.analysis.figures.distal import plot_plan

    ends = [found["planned-s-0"], found["planned-s-1"]]
    power = min(float(one["tells"]) for one in ends)
    suffices = power >= ENOUGH
    words = {
        "samples": f"with {settings.synapses} synapses and weights known to {settings.weight_noise:.1%}",
        "synapses": f"with {settings.samples} changes and weights known to {settings.weight_noise:.1%}",
    }
    stated = ("synapses", "samples", "weight_noise", "y_noise", "z_noise", "a_noise", "neurons", "every", "experiments")
    numbers: dict[str, Any] = {name: getattr(settings, name) for name in stated} | {
        "power": power,
        "suffices": suffices,
    }
    rows: dict[str, object] = {}
    curves = {}
    for what, unit in (("samples", "changes of each synapse"), ("synapses", "synapses on each neuron")):
        result = found[f"smallest-{what}"]
        number = int(result["smallest"])
        numbers[f"smallest_{what}"] = number if number > 0 else None
        rows[f"{what} that suffice"] = (
            f"{number} {unit}, {words[what]}" if number > 0
            else f"more than {int(result['numbers'][-1])} {unit}, {words[what]}: lower the noise"
        )  # fmt: skip
        curves[unit] = (result["numbers"], result["powers"], getattr(settings, what))
    rows["change between two looks"] = ", ".join(
        f"{float(one['change']):.1%} of the weights at s = {s}" for s, one in zip((0, 1), ends, strict=True)
    )
    rows["coverage of the 95 % interval"] = ", ".join(
        f"{float(one['covers']):.1%} at s = {s}" for s, one in zip((0, 1), ends, strict=True)
    )
    rows["misleading experiments"] = ", ".join(
        f"{float(one['misleads']):.1%} at s = {s}" for s, one in zip((0, 1), ends, strict=True)
    )
    every = f", weights observed at every {settings.every}th sample" if settings.every > 1 else ""
    title = (
        f"{settings.synapses} synapses on {settings.neurons} neuron{'s' * (settings.neurons > 1)}, {settings.samples} "
        f"changes of each, weights known to {settings.weight_noise:.1%}{every}: "
        + (f"this suffices; {power:.0%} of experiments tell RRMSE from CCA" if suffices
           else f"this does not suffice; only {power:.0%} of experiments tell RRMSE from CCA, and {ENOUGH:.0%} should")
        + f" ({settings.experiments} simulated at each end)"
    )  # fmt: skip
    data = xr.Dataset(
        {f"power_{what}": (what, found[f"smallest-{what}"]["powers"]) for what in ("samples", "synapses")},
        {what: found[f"smallest-{what}"]["numbers"] for what in ("samples", "synapses")},
    )
    return Findings(
        numbers=numbers, title=title, rows=rows, results={"run": data},
        figures={"plan": partial(plot_plan, curves, power, ENOUGH)},
    )  # fmt: skip


def infer_from_record(problem: Problem[Any]) -> dict[str, Any]:
    """Infer s from a record of distal plasticity."""
    settings, recordings = problem.settings, problem.data.recording  # type: ignore[attr-defined]
    found = analysis.infer_s(*recordings, ridge=settings.ridge, noise=settings.known_noise)
    return {
        "s": found.s, "low": found.low, "high": found.high, "noise": found.noise, "unexplained": found.unexplained,
        "can_tell": found.can_tell, "another_rule": found.another_rule, "words": str(found),
        "samples": len(recordings.Vy), "every": recordings.y.shape[1] if recordings.y.ndim == 3 else 1,
        "synapses": int((~np.isnan(recordings.Vy).all(axis=0)).sum()), "neurons": recordings.Vy.shape[2],
    }  # fmt: skip


def recording_findings(problem: Problem[Any], found: Mapping[str, Any]) -> Findings:
    """Say which s a record speaks for."""
    from biorrr.analysis.figures.distal import plot_inferred

    s, low, high = (float(found[name]) for name in ("s", "low", "high"))
    told, another = bool(found["can_tell"]), bool(found["another_rule"])
    value = problem.settings.data
    numbers = {name: found[name].item() for name in found if name != "words"} | {"recording": value.name}
    calcium = "" if value.calcium is None else f", calcium deconvolved with {value.calcium:g} samples"
    every = int(found["every"])
    rows = {
        "observed": f"{int(found['synapses'])} synapses on {int(found['neurons'])} neurons, {int(found['samples'])} "
        f"changes{f', each of {every} samples' if every > 1 else ''}{calcium}",
        "verdict": "another rule" if another else f"s = {s:.3f}" if told else "cannot tell",
        "95 % interval": f"{low:.3f} to {high:.3f}",
        "in words": str(found["words"]),
    }
    data = xr.Dataset({name: float(found[name]) for name in ("s", "low", "high", "noise", "unexplained")})
    return Findings(
        numbers=numbers, title=f"s from {value}", rows=rows, results={"run": data},
        figures={
            "recording": partial(
                plot_inferred, ["recording"], (None,), np.array([s, low, high]).reshape(1, 1, 1, 3)
            )
        },
    )  # fmt: skip

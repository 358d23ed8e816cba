"""Power of experiments on distal plasticity: curves, and a plan of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Figure, Findings, Job, Lab, Quantity, SettingsError
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import data_sets, np, xr

if TYPE_CHECKING:
    from biorrr.analysis.distal.power import Design

NOISES = (0.005, 0.01, 0.02)  # of one look at a weight, over the r.m.s. of the weights
ENOUGH = 0.95  # power that should be reached
ENDS = (0.0, 1.0)  # of the family: an experiment should tell them apart, whichever the circuit follows
FIXED = {"synapses": 20, "samples": 50, "neurons": 2, "every": 10}  # numbers of a design that a curve does not vary
CURVES = {"samples": (5, 10, 20, 50, 100), "synapses": (2, 3, 5, 10, 20)}
WORDS = {"samples": "changes", "synapses": "synapses"}
MOST = {"samples": 2560, "synapses": 320}  # numbers beyond which a plan looks no further


@dataclass(frozen=True)
class PowerCurve:
    """Simulated experiments in which samples or synapses are varied, at one noise of the weights."""

    varied: str
    noise: float

    def run(self, job: Job, data: data_sets.Dataset | None = None) -> dict[str, Any]:
        """Return power, coverage of the confidence interval and share of misleading experiments, (values,)."""
        from biorrr.analysis.distal.power import Design, try_design

        settings, pairs = job.settings, []
        for value in CURVES[self.varied]:
            design = Design(weight_noise=self.noise, **FIXED | {self.varied: value})  # type: ignore[arg-type]
            pairs.append([try_design(design, s, settings.experiments, settings.seed + value) for s in ENDS])
        return {
            "power": np.array([min(one.tells for one in pair) for pair in pairs]),
            "covers": np.array([np.mean([one.covers for one in pair]) for pair in pairs]),
            "misleads": np.array([np.mean([one.misleads for one in pair]) for pair in pairs]),
        }


def kept_on(varied: str) -> str:
    """Return the numbers that a power curve keeps, in words."""
    (other,) = set(CURVES) - {varied}
    return f"{FIXED[other]} {WORDS[other]}, {FIXED['neurons']} neurons, every {FIXED['every']}th sample"


# -- a plan ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlannedExperiment:
    """Simulated experiments of the planned design on circuits that follow one s."""

    s: float

    def run(self, job: Job) -> dict[str, Any]:
        """Return shares of experiments and change between two looks, by name."""
        from biorrr.analysis.distal.power import try_design

        outcome = try_design(planned(job.settings), self.s, job.settings.experiments, job.settings.seed)
        return {name: getattr(outcome, name) for name in ("tells", "misleads", "covers", "change")}


@dataclass(frozen=True)
class SmallestNumber:
    """Search for the smallest number of samples or synapses with which the planned design suffices."""

    varied: str

    def run(self, job: Job) -> dict[str, Any]:
        """Return the smallest number, -1 where none suffices, and all that were tried with their power."""
        from biorrr.analysis.distal.power import LARGEST, size_of, smallest

        settings, design = job.settings, planned(job.settings)
        most = min(MOST[self.varied], getattr(design, self.varied) * LARGEST // size_of(design))
        found, tried = smallest(design, self.varied, ENOUGH, most, settings.experiments, settings.seed)
        numbers, powers = zip(*sorted(tried.items()), strict=True)
        return {"smallest": -1 if found is None else found, "numbers": np.array(numbers), "powers": np.array(powers)}


def simulate_plan(job: Job, item: PlannedExperiment | SmallestNumber) -> dict[str, Any]:
    """Try the planned design, or others like it."""
    return item.run(job)


def planned(settings: Any) -> Design:
    """Return the design that the settings describe; refuse one that is too large to be simulated."""
    from biorrr.analysis.distal.power import LARGEST, Design, size_of

    design = Design(
        settings.synapses, settings.samples, settings.weight_noise, settings.y_noise, settings.z_noise,
        settings.a_noise, settings.neurons, settings.every,
    )  # fmt: skip
    if (size := size_of(design)) > LARGEST:
        raise SettingsError(
            f"plan: synapses (at least 40) times samples times every times neurons must not exceed {LARGEST:,} (got "
            f"{size:,}); plan a smaller experiment: more can only tell better"
        )
    return design


def plan_experiment(lab: Lab, settings: Any) -> Findings:
    """Answer whether a plan suffices, and what would."""
    from biorrr.analysis.figures.distal import plot_power

    ends, searches = [PlannedExperiment(s) for s in ENDS], [SmallestNumber(varied) for varied in CURVES]
    found = lab.map(simulate_plan, [*ends, *searches])
    power = min(float(found[one]["tells"]) for one in ends)
    smallest = {one.varied: int(found[one]["smallest"]) for one in searches}
    known = f"weights known to {settings.weight_noise:.1%}"
    each = {"samples": "changes of each synapse", "synapses": "synapses on each neuron"}
    enough = {
        one.varied: f"{smallest[one.varied]} {each[one.varied]}" if smallest[one.varied] > 0
        else f"more than {found[one]['numbers'][-1]} {each[one.varied]}: lower the noise"
        for one in searches
    }  # fmt: skip
    at_ends = {
        name: ", ".join(f"{float(found[one][name]):.1%} at s = {one.s:g}" for one in ends)
        for name in ("change", "covers", "misleads")
    }
    results = xr.Dataset(
        {f"power_{one.varied}": (("noise", one.varied), found[one]["powers"][None]) for one in searches},
        {one.varied: (one.varied, found[one]["numbers"], {"long_name": each[one.varied], "kept": ""})
         for one in searches} | {"noise": [settings.weight_noise]},
    )  # fmt: skip
    stated = ("synapses", "samples", "weight_noise", "y_noise", "z_noise", "a_noise", "neurons", "every", "experiments")
    every = f", weights observed at every {settings.every}th sample" if settings.every > 1 else ""
    verdict = "this suffices;" if power >= ENOUGH else f"this does not suffice, which takes {ENOUGH:.0%};"
    return Findings(
        title=f"{settings.synapses} synapses on {settings.neurons} neuron{'s' * (settings.neurons > 1)}, "
        f"{settings.samples} changes of each, {known}{every}: {verdict} {power:.0%} of experiments tell RRMSE from CCA "
        f"({settings.experiments} simulated at each end)",
        quantities=[
            *(Quantity(name, getattr(settings, name), PERCENT if "noise" in name else "") for name in stated),
            Quantity("power", power, PERCENT),
            Quantity("suffices", power >= ENOUGH),
            *(Quantity(f"smallest_{name}", number if number > 0 else None) for name, number in smallest.items()),
        ],
        rows={
            f"changes that suffice, {settings.synapses} synapses, {known}": enough["samples"],
            f"synapses that suffice, {settings.samples} changes, {known}": enough["synapses"],
            "change between two looks, over the weights": at_ends["change"],
            "coverage of the 95 % confidence interval": at_ends["covers"],
            "misleading experiments": at_ends["misleads"],
        },
        data={"run": results},
        figures=[Figure("plan", partial(plot_power, results))],
    )

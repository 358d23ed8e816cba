"""Power of experiments on distal plasticity: curves, and a plan of the user's."""

from __future__ import annotations

from collections.abc import Mapping
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


# -- power curves ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Varied:
    """A number of a design that is varied.

    Parameters
    ----------
    field
        Name of the field of :class:`~biorrr.analysis.distal.power.Design`.
    words, each
        What is counted: in short, and of one synapse or neuron.
    most
        Number beyond which a plan looks no further.
    """

    field: str
    words: str
    each: str
    most: int


SAMPLES = Varied("samples", "changes", "changes of each synapse", 2560)
SYNAPSES = Varied("synapses", "synapses", "synapses on each neuron", 320)


@dataclass(frozen=True)
class Curve:
    """A power curve: what is varied at which values, and a number of the other that is kept."""

    varied: Varied
    values: tuple[int, ...]
    other: Varied
    kept: int
    neurons: int = 2
    every: int = 10

    @property
    def fixed(self) -> str:
        """Numbers that are kept, in words."""
        return f"{self.kept} {self.other.words}, {self.neurons} neurons, every {self.every}th sample"


CURVES = (
    Curve(SAMPLES, (5, 10, 20, 50, 100), SYNAPSES, 20),
    Curve(SYNAPSES, (2, 3, 5, 10, 20), SAMPLES, 50),
)


@dataclass(frozen=True)
class PowerCurve:
    """Simulated experiments along a power curve, at one noise of the weights."""

    curve: Curve
    noise: float

    def run(self, job: Job, data: data_sets.Dataset | None = None) -> dict[str, Any]:
        """Return power, coverage of the confidence interval and share of misleading experiments, (values,)."""
        from biorrr.analysis.distal.power import Design, try_design

        settings, curve = job.settings, self.curve
        kept: dict[str, Any] = {curve.other.field: curve.kept, "neurons": curve.neurons, "every": curve.every}
        pairs = []
        for value in curve.values:
            design = Design(**{"weight_noise": self.noise, **kept, curve.varied.field: value})
            pairs.append([try_design(design, s, settings.experiments, settings.seed + value) for s in ENDS])
        return {
            "power": np.array([min(one.tells for one in pair) for pair in pairs]),
            "covers": np.array([np.mean([one.covers for one in pair]) for pair in pairs]),
            "misleads": np.array([np.mean([one.misleads for one in pair]) for pair in pairs]),
        }


# -- a plan ------------------------------------------------------------------------------------------------------------


def planned(settings: Any) -> Design:
    """Return the design that the settings describe."""
    from biorrr.analysis.distal.power import Design

    return Design(
        settings.synapses, settings.samples, settings.weight_noise, settings.y_noise, settings.z_noise,
        settings.a_noise, settings.neurons, settings.every,
    )  # fmt: skip


def check_plan(settings: Any) -> None:
    """Refuse a design that is too large to be simulated."""
    from biorrr.analysis.distal.power import LARGEST, size_of

    size = size_of(planned(settings))
    if size > LARGEST:
        raise SettingsError(
            f"plan: synapses (at least 40) times samples times every times neurons must not exceed {LARGEST:,} (got "
            f"{size:,}); plan a smaller experiment: more can only tell better"
        )


@dataclass(frozen=True)
class PlannedExperiment:
    """Simulated experiments of the planned design on circuits that follow one s."""

    s: float

    def run(self, job: Job) -> dict[str, Any]:
        """Return shares of experiments, width of the interval and change between two looks, by name."""
        from biorrr.analysis.distal.power import try_design

        outcome = try_design(planned(job.settings), self.s, job.settings.experiments, job.settings.seed)
        return {name: getattr(outcome, name) for name in ("tells", "misleads", "covers", "width", "change")}


@dataclass(frozen=True)
class SmallestNumber:
    """Search for the smallest number with which the planned design suffices."""

    varied: Varied

    def run(self, job: Job) -> dict[str, Any]:
        """Return the smallest number, -1 where none suffices, and all that were tried with their power."""
        from biorrr.analysis.distal.power import LARGEST, size_of, smallest

        settings, field = job.settings, self.varied.field
        design = planned(settings)
        most = min(self.varied.most, getattr(design, field) * LARGEST // size_of(design))
        found, tried = smallest(design, field, ENOUGH, most, settings.experiments, settings.seed)
        numbers, powers = zip(*sorted(tried.items()), strict=True)
        return {"smallest": -1 if found is None else found, "numbers": np.array(numbers), "powers": np.array(powers)}


def simulate_plan(job: Job, item: PlannedExperiment | SmallestNumber) -> dict[str, Any]:
    """Try the planned design, or others like it."""
    return item.run(job)


def plan_experiment(lab: Lab, settings: Any) -> Findings:
    """Answer whether a plan suffices, and what would."""
    from biorrr.analysis.figures.distal import plot_plan

    ends, searches = [PlannedExperiment(s) for s in ENDS], [SmallestNumber(one) for one in (SAMPLES, SYNAPSES)]
    found = lab.map(simulate_plan, [*ends, *searches])

    power = min(float(found[one]["tells"]) for one in ends)
    numbers = {one.varied: int(found[one]["smallest"]) for one in searches}
    stated = ("synapses", "samples", "weight_noise", "y_noise", "z_noise", "a_noise", "neurons", "every", "experiments")
    curves = {
        one.varied.each: (found[one]["numbers"], found[one]["powers"], getattr(settings, one.varied.field))
        for one in searches
    }
    return Findings(
        title=plan_title(settings, power),
        quantities=[
            *(Quantity(name, getattr(settings, name), PERCENT if "noise" in name else "") for name in stated),
            Quantity("power", power, PERCENT),
            Quantity("suffices", power >= ENOUGH),
            *(Quantity(f"smallest_{one.field}", number if number > 0 else None) for one, number in numbers.items()),
        ],
        rows={
            **{f"{one.varied.field} that suffice": enough(settings, one.varied, found[one]) for one in searches},
            "change between two looks": at_each_end(found, "change", " of the weights"),
            "coverage of the 95 % confidence interval": at_each_end(found, "covers"),
            "misleading experiments": at_each_end(found, "misleads"),
        },
        data={
            "run": xr.Dataset(
                {f"power_{one.varied.field}": (one.varied.field, found[one]["powers"]) for one in searches},
                {one.varied.field: found[one]["numbers"] for one in searches},
            )
        },
        figures=[Figure("plan", partial(plot_plan, curves, power, ENOUGH))],
    )


def plan_title(settings: Any, power: float) -> str:
    """Return the plan, and whether it suffices, in a sentence."""
    every = f", weights observed at every {settings.every}th sample" if settings.every > 1 else ""
    verdict = (
        f"this suffices; {power:.0%} of experiments tell RRMSE from CCA"
        if power >= ENOUGH
        else f"this does not suffice; only {power:.0%} of experiments tell RRMSE from CCA, and {ENOUGH:.0%} should"
    )
    return (
        f"{settings.synapses} synapses on {settings.neurons} neuron{'s' * (settings.neurons > 1)}, {settings.samples} "
        f"changes of each, weights known to {settings.weight_noise:.1%}{every}: {verdict} ({settings.experiments} "
        "simulated at each end)"
    )


def enough(settings: Any, varied: Varied, found: Mapping[str, Any]) -> str:
    """Return how many samples or synapses suffice, in words."""
    other = SYNAPSES if varied is SAMPLES else SAMPLES
    kept = f"with {getattr(settings, other.field)} {other.words} and weights known to {settings.weight_noise:.1%}"
    number = int(found["smallest"])
    if number > 0:
        return f"{number} {varied.each}, {kept}"
    return f"more than {int(found['numbers'][-1])} {varied.each}, {kept}: lower the noise"


def at_each_end(found: Mapping[Any, Any], name: str, ending: str = "") -> str:
    """Return a share of the planned experiments at either end of the family, in words."""
    return ", ".join(f"{float(found[PlannedExperiment(s)][name]):.1%}{ending} at s = {s:g}" for s in ENDS)

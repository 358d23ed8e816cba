"""Ask whether dendrites carry teaching signals, in circuits whose answers are known or in your own recording.

Four questions to somas and dendrites imaged together: is what the dendrite says beyond the somas (a) specific to the
neuron, (b) informative of the task's error, (c) signed by the neuron's causal role, (d) predictive of the later change
of its activity? Without --data, circuits that learn are imaged, and controls of which the answers are known;
error rates and power are measured. The analysis was written from the published abstract of Francioni et al. (Nature
2026) and has not seen their data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Dendrites, Samples
from biorrr.sims.experiment import Experiment, Findings, Found, Problem
from biorrr.sims.experiments.helpers.imaged_circuits import FRAMES, MUST, NULL, RATE, learn, observe
from biorrr.sims.experiments.helpers.imaged_circuits_results import (
    ASKED,
    NOISES,
    ORIGIN,
    SIZES,
    check_claims,
    joined,
    plain,
    summary,
)
from biorrr.sims.experiments.helpers.recording_answers import answered, signals
from biorrr.sims.lab.circuits import compiled_if_possible
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, ExperimentSettings, option
from biorrr.sims.lazy import data_sets, np
from biorrr.sims.page.views import Chart, View

BATCH = 10  # experiments in a part
EXAMPLES = 40  # experiments in which all controls are asked, and in which power is measured
POWER_TRIALS = 500  # of each experiment in which power is measured: in all of them it would be 1 nearly everywhere
QUICK_EXPERIMENTS = 4
OTHER = 10_000  # between the seeds of a circuit and of one that has nothing to do with it


@dataclass(frozen=True, kw_only=True)
class InstructiveSettings(ExperimentSettings):
    """What can be set of ``biorrr instructive``."""

    data: Dendrites | None = option(
        None, "your own recording of somas and dendrites (.npz, .nc, .nwb), in place of circuits", metavar="FILE"
    )
    decay: float = option(0.5, "seconds within which the indicator decays", at_least=0, at_most=60)
    task: Samples = option("digits", f"what circuits learn: {DATA_HELP}", metavar=DATA_FORM)
    k: int = option(8, "pyramidal neurons of each circuit", short="k", at_least=4)
    ridge: float | None = option(None, "added to Cxx, 0.1 * trace(Cxx)/m by default", at_least=0)
    stimuli: int = option(60, "samples of the data that are shown, each many times", at_least=2)
    trials: int = option(2000, f"trials in an experiment, {FRAMES} frames at {RATE:g} Hz each", at_least=200)
    noise: float = option(1.0, "imaging noise, over the signal's standard deviation", at_least=0)
    experiments: int = option(500, "experiments in which chance decides, for the error rates", at_least=2)
    quick: bool = option(False, f"{QUICK_EXPERIMENTS} experiments: a first look, without verdicts")

    @property
    def every_data(self) -> tuple[Any, ...]:
        """The recording, or what circuits learn."""
        return (self.data or self.task,)


class Instructive(Experiment[InstructiveSettings]):
    """``biorrr instructive``: whether dendrites carry teaching signals."""

    settings = InstructiveSettings
    shows = "[do dendrites teach?](docs/instructive.md) Four questions to somas and dendrites, of circuits or your own"
    takes = "1.2 min"
    paper = "beyond it"
    measure = "error_rate_max"
    figures = {
        "signals": "What is analysed, of three neurons: fluorescence of soma and dendrite, what the dendrite says "
        "beyond the somas (residual, black), and the task's error as weighted by the neuron's causal role (grey), "
        "where it is known: what back-propagation would send to it. All are over their standard deviation.",
        "answers": "Effect sizes, one dot per experiment, filled where the answer is yes (p <= 0.05), with what the "
        "dendrite carries on the left. On the right, the share of experiments that say yes; in bold where theory "
        "says what it must be. Only circuits that learn say yes to all four questions.",
        "power": f"Share of experiments that say yes in {POWER_TRIALS} trials, against imaging noise, for different "
        "numbers of imaged neurons: circuits that learn (lines, power) and dendrites for which chance decides (dashed, "
        "which should lie near 5 %, the grey line). Black dots with bars are error rates over all experiments, with "
        "all trials and with 95 % intervals.",
        "neurons": "Effect in each neuron. Filled dots are neurons that say yes on their own, corrected for their "
        "number. The band is the effect over all neurons with its 95 % interval: their mean, but for (a), where it is "
        "that of the combination of neurons that says most.",
    }
    charts = (
        Chart(
            "Power and error rate",
            (
                View(
                    "share that says yes",
                    {"power": ""},
                    {"noise": "imaging noise / signal"},
                    along=("noise",),
                    choose=("question",),
                    percent=True,
                    name="power",
                ),
                View(
                    "share that says yes where chance decides",
                    {"mistaken": ""},
                    {"noise": "imaging noise / signal"},
                    along=("noise",),
                    choose=("question",),
                    percent=True,
                    name="error rate",
                ),
            ),
        ),
    )

    # -- before anything is written ------------------------------------------------------------------------------------

    def check(self, settings: InstructiveSettings) -> InstructiveSettings:
        """Settle how many experiments, and the engine."""
        experiments = min(settings.experiments, QUICK_EXPERIMENTS) if settings.quick else settings.experiments
        engine = settings.engine if settings.data else compiled_if_possible(settings.engine)
        return replace(settings, experiments=experiments, engine=engine)

    def fit(self, settings: InstructiveSettings, data: data_sets.Dataset) -> InstructiveSettings:
        """Work out the ridge, and refuse more neurons than the data allow."""
        return settings if settings.data else super().fit(settings, data)

    # -- for each data set ---------------------------------------------------------------------------------------------

    def prepare(self, settings: InstructiveSettings, data: data_sets.Dataset) -> Problem[InstructiveSettings]:
        """Nothing is solved exactly here."""
        return Problem(settings, data, None)  # type: ignore[arg-type]

    def parts(self, problem: Problem[InstructiveSettings], found: Found) -> dict[str, Any]:
        """Experiments by their seeds, some in each part: where chance decides, the controls, and power."""
        settings = problem.settings
        if settings.data:
            return {}
        parts: dict[str, Any] = {}
        seeds = range(settings.seed, settings.seed + settings.experiments)
        for kind, chosen in (("chance", seeds), ("controls", seeds[:EXAMPLES]), ("power", seeds[:EXAMPLES])):
            for first in range(0, len(chosen), BATCH):
                parts[f"{kind}-{first}"] = (kind, chosen[first : first + BATCH])
        return parts

    def run_part(self, problem: Problem[InstructiveSettings], part: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Let circuits learn, image them, and ask."""
        kind, seeds = part
        rows = [
            {"chance": by_chance, "controls": with_controls, "power": at_each_noise}[kind](problem, s) for s in seeds
        ]
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    def conclude(self, problem: Problem[InstructiveSettings], found: Found) -> Findings:
        """Count the answers, or give those of the recording."""
        settings = problem.settings
        if settings.data:
            return answered(problem)
        from biorrr.analysis.figures import instructive as figures

        results = joined(settings, found)
        numbers = summary(settings, results)
        rows: dict[str, object] = {}
        for carries in MUST:
            rows[f"says yes: {carries}"] = ", ".join(
                f"{ASKED[question][:3]} {numbers[f'{plain(carries)}_{question}_yes']:.0%}"
                f"{'' if must is None else ' (must be yes)' if must else ' (must be no)'}"
                for question, must in MUST[carries].items()
            )
        rows["error rate"] = ", ".join(f"{ASKED[q][:3]} {numbers[f'error_rate_{q}']:.1%}" for q in ASKED)
        rows["origin"] = ORIGIN
        return Findings(
            numbers=numbers,
            title=f"{problem.data.name}: circuits of {settings.k} neurons, {settings.trials} trials, imaging noise "
            f"{settings.noise:g}; shares of {results.sizes['example']} experiments, error rates of "
            f"{settings.experiments}",
            rows=rows,
            results={"run": results},
            figures={
                "signals": partial(figures.plot_signals, *example(problem)),
                "answers": partial(figures.plot_answers, ASKED, MUST, results["effect"].values, results["yes"].values),
                "power": partial(
                    figures.plot_power,
                    ASKED,
                    results["noise"].values,
                    results["neurons"].values,
                    results["power"].values,
                    results["mistaken"].values,
                    results["error_rate"].values,
                    settings.experiments,
                    settings.noise,
                ),
            },
            own_tests=check_claims(settings, numbers),
        )


# -- one experiment ----------------------------------------------------------------------------------------------------


def by_chance(problem: Problem[InstructiveSettings], seed: int) -> dict[str, Any]:
    """Whether each question is answered with yes where chance decides, for all neurons and for any one of them."""
    from biorrr.analysis.instructive import LEVEL, ask_one

    settings = problem.settings
    learner, other = learn(problem, seed), learn(problem, OTHER + seed)
    answers = []
    for question in ASKED:
        if learner is None or other is None:
            answers.append((np.nan, np.nan))
            continue
        imaged = observe(learner, NULL[question], settings.noise, settings.decay, (seed, 0), other)
        answer = ask_one(question, imaged, settings.decay)
        answers.append((float(bool(answer.yes)), float((answer.p_neurons <= LEVEL).any())))
    return {"yes": np.array(answers)}


def with_controls(problem: Problem[InstructiveSettings], seed: int) -> dict[str, Any]:
    """Effect, interval and p-value of each question, whatever dendrites carry, (kinds, questions, 4)."""
    from biorrr.analysis.instructive import ask

    settings = problem.settings
    learners = {frozen: learn(problem, seed, frozen) for frozen in (False, True)}
    found = np.full((len(MUST), len(ASKED), 4), np.nan)
    for row, carries in enumerate(MUST):
        learner = learners[carries == "frozen Q"]
        if learner is not None:
            answers = ask(observe(learner, carries, settings.noise, settings.decay, (seed, 1)), settings.decay)
            found[row] = [(one.effect, one.low, one.high, one.p) for one in answers.values()]
    return {"answer": np.round(found, 10)}  # beyond which sums depend on where in memory their terms lie


def at_each_noise(problem: Problem[InstructiveSettings], seed: int) -> dict[str, Any]:
    """Whether each question is answered with yes, (2, noises, neurons, questions): circuits that learn, and chance."""
    from biorrr.analysis.instructive import ask_one

    settings = problem.settings
    learner, other = learn(problem, seed), learn(problem, OTHER + seed)
    if learner is not None and other is not None:
        learner, other = learner.first(POWER_TRIALS), other.first(POWER_TRIALS)
    yes = np.full((2, len(NOISES), len(SIZES), len(ASKED)), np.nan)
    for i, noise in enumerate(NOISES):
        for j, neurons in enumerate(SIZES):
            if learner is None or other is None or neurons > settings.k:
                continue
            imaged = {
                carries: observe(learner, carries, noise, settings.decay, (seed, 2, i, j), other, neurons)
                for carries in {"circuit", *NULL.values()}
            }
            for q, question in enumerate(ASKED):
                for row, carries in enumerate(("circuit", NULL[question])):
                    yes[row, i, j, q] = bool(ask_one(question, imaged[carries], settings.decay).yes)
    return {"yes": yes}


def example(problem: Problem[InstructiveSettings]) -> tuple:
    """Signals of the first experiment, for the figure."""
    settings = problem.settings
    learner = learn(problem, settings.seed)
    if learner is None:
        raise data_sets.DataError(f"{problem.data.name}: the circuit diverged; choose other data or fewer neurons")
    return signals(observe(learner, "circuit", settings.noise, settings.decay, (settings.seed, 1)), settings.decay)


EXPERIMENT = Instructive()

"""Ask whether dendrites carry teaching signals, in circuits whose answers are known or in your own
recording.

Four questions to somas and dendrites imaged together: is what the dendrite says beyond the somas
(a) specific to the neuron, (b) informative of the task's error, (c) signed by the neuron's causal
role, (d) predictive of the later change of its activity? Without --data, circuits that learn are
imaged, and controls of which the answers are known; false-positive rates and power are measured.
The analysis was written from the published abstract of Francioni et al. (Nature 2026) and has not
seen their data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import SMALL_DATA, Dendrites, Samples
from biorrr.sims.experiments.instructive.answer_rates import join, judge, summary
from biorrr.sims.experiments.instructive.imaged_circuits import FRAMES, RATE
from biorrr.sims.experiments.instructive.own_recording import answer_recording
from biorrr.sims.experiments.instructive.simulated_experiments import (
    EXAMPLES,
    POWER_TRIALS,
    ask_controls,
    ask_under_null,
)
from biorrr.sims.lab import (
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    compiled_if_possible,
    data_option,
    experiment,
    option,
)
from biorrr.sims.lab.training import check_rank, default_ridge

QUICK_EXPERIMENTS = 4


@dataclass(frozen=True, kw_only=True)
class InstructiveSettings(ExperimentSettings):
    """Settings of ``biorrr instructive``."""

    data: Dendrites | None = option(
        None,
        "your own recording of somas and dendrites (.npz, .nwb), in place of circuits",
        metavar="FILE",
    )
    decay: float = option(0.5, "seconds within which the indicator decays", at_least=0, at_most=60)
    task: Samples = data_option("digits", "what circuits learn")
    k: int = option(8, "pyramidal neurons of each circuit", short="k", at_least=4)
    ridge: float | None = option(None, "added to Cxx, 0.1 * trace(Cxx)/m by default", at_least=0)
    stimuli: int = option(60, "samples of the data that are shown, each many times", at_least=2)
    trials: int = option(
        2000, f"trials in an experiment, {FRAMES} frames at {RATE:g} Hz each", at_least=200
    )
    noise: float = option(1.0, "imaging noise, over the signal's standard deviation", at_least=0)
    experiments: int = option(
        500, "experiments under the null hypothesis, for the false-positive rates", at_least=2
    )
    quick: bool = option(False, f"{QUICK_EXPERIMENTS} experiments: a first look, without verdicts")


CAPTIONS = {
    "answers": (
        "Effect sizes, one dot per experiment, filled where the answer is yes (p <= 0.05), with"
        " what the dendrite carries on the left. On the right, the share of experiments that say"
        " yes; in bold where theory says what it must be. Only circuits that learn say yes to all"
        " four questions."
    ),
    "power": (
        f"Power: share of circuits that learn that say yes in {POWER_TRIALS} trials, against"
        " imaging noise. Black dots with bars are false-positive rates with all trials, with 95 %"
        " confidence intervals; they should not exceed 5 % (grey line)."
    ),
    "neurons": (
        "Effect in each neuron. The band is the effect over all neurons with its 95 % confidence"
        " interval: their mean, but for (a), where it is the second canonical correlation."
    ),
}


@experiment(
    shows=(
        "[do dendrites teach?](docs/instructive.md) Four questions to somas and dendrites, of"
        " circuits or your own"
    ),
    takes="1.2 min",
    paper="beyond it",
    measure="error_rate_max",
    captions=CAPTIONS,
    small={
        "task": SMALL_DATA,
        "k": 4,
        "ridge": 0.0,  # no replay
        "stimuli": 20,
        "trials": 200,
        "experiments": 2,
        "engine": "numpy",
    },
)
def instructive(lab: Lab, settings: InstructiveSettings) -> Findings:
    """Ask a recording, or circuits and controls whose answers are known."""
    from biorrr.analysis.figures.instructive import plot_answers, plot_power

    if settings.data:
        return answer_recording(lab.load(settings.data), settings.decay)
    if settings.quick:
        settings = lab.set(experiments=min(settings.experiments, QUICK_EXPERIMENTS))
    settings = lab.set(engine=compiled_if_possible(settings.engine))
    data = lab.load(settings.task)
    check_rank(settings.k, data)
    settings = lab.fill_in(ridge=default_ridge(data))

    seeds = range(settings.seed, settings.seed + settings.experiments)
    null = lab.each(ask_under_null, seeds, data)
    controls = lab.each(ask_controls, seeds[:EXAMPLES], data)

    results = join(settings, null=[*null.values()], controls=[*controls.values()])
    quantities = {one.name: one for one in summary(settings, results)}
    return Findings(
        title=(
            f"{data.name}: circuits of {settings.k} neurons, {settings.trials} trials, imaging"
            f" noise {settings.noise:g}; shares of {len(controls)} experiments, false-positive"
            f" rates of {settings.experiments}"
        ),
        quantities=[*quantities.values()],
        data={"run": results},
        figures=[
            Figure("answers", partial(plot_answers, results)),
            Figure("power", partial(plot_power, results)),
        ],
        own_tests=judge(quantities),
    )

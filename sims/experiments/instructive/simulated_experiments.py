"""Simulated experiments of ``biorrr instructive``: with controls, and under the null hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from biorrr.sims.experiments.instructive.imaged_circuits import CIRCUIT, DENDRITES, NULL, learn, observe
from biorrr.sims.experiments.instructive.own_recording import ASKED
from biorrr.sims.lab import Job
from biorrr.sims.lazy import data_sets, np

EXAMPLES = 40  # experiments in which all controls are asked, and in which power is measured
POWER_TRIALS = 500  # of each experiment in which power is measured: in all of them it would be 1 nearly everywhere
NOISES = (0.5, 1.0, 2.0, 4.0)  # noise over signal at which power is measured
OTHER = 10_000  # between the seeds of a circuit and of an unrelated one


@dataclass(frozen=True)
class NullExperiment:
    """Dendrites under the null hypothesis of each question."""

    seed: int

    def run(self, job: Job, data: data_sets.Dataset) -> dict[str, Any]:
        """Return True where the answer is yes, (questions,)."""
        from biorrr.analysis.instructive import ask

        settings = job.settings
        learner, other = (learn(settings, data, seed) for seed in (self.seed, OTHER + self.seed))
        yes = np.full(len(ASKED), np.nan)
        if learner is not None and other is not None:
            for row, question in enumerate(ASKED):
                imaged = observe(learner, NULL[question], settings.noise, settings.decay, (self.seed, 0), other)
                yes[row] = bool(ask(imaged, settings.decay, [question])[question].yes)
        return {"yes": yes}


@dataclass(frozen=True)
class ControlExperiment:
    """A circuit that learns and the controls, asked all four questions."""

    seed: int

    def run(self, job: Job, data: data_sets.Dataset) -> dict[str, Any]:
        """Return answers and power.

        ``answer`` (dendrites, questions, 4) is the effect, the ends of its confidence interval and the p-value;
        ``power`` (noises, questions) is 1 where a short recording of the circuit says yes.
        """
        from biorrr.analysis.instructive import ask

        settings, decay = job.settings, job.settings.decay
        answer = np.full((len(DENDRITES), len(ASKED), 4), np.nan)
        power = np.full((len(NOISES), len(ASKED)), np.nan)
        if (learner := learn(settings, data, self.seed)) is not None:
            for row, dendrite in enumerate(DENDRITES):
                answers = ask(observe(learner, dendrite, settings.noise, decay, (self.seed, 1)), decay)
                answer[row] = [(one.effect, one.low, one.high, one.p) for one in answers.values()]
            for row, noise in enumerate(NOISES):
                imaged = observe(learner.first(POWER_TRIALS), CIRCUIT, noise, decay, (self.seed, 2, row))
                power[row] = [bool(one.yes) for one in ask(imaged, decay).values()]
        return {"answer": np.round(answer, 10), "power": power}  # sums differ beyond, by where terms lie in memory


def simulate(job: Job, item: NullExperiment | ControlExperiment, data: data_sets.Dataset) -> dict[str, Any]:
    """Let circuits learn, image them, and ask."""
    return item.run(job, data)

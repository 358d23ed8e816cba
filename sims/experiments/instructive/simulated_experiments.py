"""Simulated experiments of ``biorrr instructive``: under the null hypothesis, with controls, and of less power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from biorrr.sims.experiments.instructive.imaged_circuits import (
    CIRCUIT,
    DENDRITES,
    NULL,
    Learner,
    learn,
    observe,
)
from biorrr.sims.experiments.instructive.own_recording import ASKED, signals
from biorrr.sims.lab import Job
from biorrr.sims.lazy import data_sets, np

EXAMPLES = 40  # experiments in which all controls are asked, and in which power is measured
POWER_TRIALS = 500  # of each experiment in which power is measured: in all of them it would be 1 nearly everywhere
NOISES, SIZES = (0.5, 1.0, 2.0, 4.0), (4, 6, 8)  # noise over signal, and neurons imaged, of which power is measured
OTHER = 10_000  # between the seeds of a circuit and of an unrelated one


@dataclass(frozen=True)
class NullExperiment:
    """Dendrites under the null hypothesis of each question."""

    seed: int

    def run(self, job: Job, data: data_sets.Dataset) -> dict[str, Any]:
        """Return whether the answer is yes, (questions, 2): of all neurons together, and of any one on its own."""
        from biorrr.analysis.instructive import LEVEL, ask_one

        settings = job.settings
        yes = np.full((len(ASKED), 2), np.nan)
        if (pair := unrelated_pair(settings, data, self.seed)) is not None:
            learner, other = pair
            for row, question in enumerate(ASKED):
                imaged = observe(learner, NULL[question], settings.noise, settings.decay, (self.seed, 0), other)
                answer = ask_one(question, imaged, settings.decay)
                yes[row] = bool(answer.yes), (answer.p_neurons <= LEVEL).any()
        return {"yes": yes}


@dataclass(frozen=True)
class ControlExperiment:
    """A circuit that learns and the controls, asked all four questions."""

    seed: int

    def run(self, job: Job, data: data_sets.Dataset) -> dict[str, Any]:
        """Return effect, ends of its confidence interval and p-value, (dendrites, questions, 4)."""
        from biorrr.analysis.instructive import ask

        settings = job.settings
        learners = {frozen: learn(settings, data, self.seed, frozen) for frozen in (False, True)}
        found = np.full((len(DENDRITES), len(ASKED), 4), np.nan)
        for row, dendrite in enumerate(DENDRITES):
            if (learner := learners[dendrite.frozen]) is not None:
                imaged = observe(learner, dendrite, settings.noise, settings.decay, (self.seed, 1))
                answers = ask(imaged, settings.decay)
                found[row] = [(one.effect, one.low, one.high, one.p) for one in answers.values()]
        return {"answer": np.round(found, 10)}  # beyond which sums depend on where in memory their terms lie


@dataclass(frozen=True)
class PowerExperiment:
    """A short recording of a circuit that learns, and of dendrites under the null hypothesis, at every noise."""

    seed: int

    def run(self, job: Job, data: data_sets.Dataset) -> dict[str, Any]:
        """Return whether the answer is yes, (2, noises, neurons, questions): circuits that learn, null hypothesis."""
        from biorrr.analysis.instructive import ask_one

        settings = job.settings
        yes = np.full((2, len(NOISES), len(SIZES), len(ASKED)), np.nan)
        if (pair := unrelated_pair(settings, data, self.seed)) is None:
            return {"yes": yes}
        learner, other = (one.first(POWER_TRIALS) for one in pair)
        for i, noise in enumerate(NOISES):
            for j, neurons in enumerate(SIZES):
                if neurons > settings.k:
                    continue
                imaged = {
                    dendrite: observe(learner, dendrite, noise, settings.decay, (self.seed, 2, i, j), other, neurons)
                    for dendrite in {CIRCUIT, *NULL.values()}
                }
                for q, question in enumerate(ASKED):
                    for row, dendrite in enumerate((CIRCUIT, NULL[question])):
                        yes[row, i, j, q] = bool(ask_one(question, imaged[dendrite], settings.decay).yes)
        return {"yes": yes}


@dataclass(frozen=True)
class ExampleSignals:
    """Signals of the first circuit that learns, for the figure."""

    seed: int

    def run(self, job: Job, data: data_sets.Dataset) -> dict[str, Any]:
        """Return the arguments of the figure, by name."""
        settings = job.settings
        if (learner := learn(settings, data, self.seed)) is None:
            raise data_sets.DataError(f"{data.name}: the circuit diverged; choose other data or fewer neurons")
        return signals(observe(learner, CIRCUIT, settings.noise, settings.decay, (self.seed, 1)), settings.decay)


def simulate(
    job: Job, item: NullExperiment | ControlExperiment | PowerExperiment | ExampleSignals, data: data_sets.Dataset
) -> dict[str, Any]:
    """Let circuits learn, image them, and ask."""
    return item.run(job, data)


def unrelated_pair(settings: Any, data: data_sets.Dataset, seed: int) -> tuple[Learner, Learner] | None:
    """Let two circuits learn that have nothing to do with each other; return None if one diverges."""
    learner, other = learn(settings, data, seed), learn(settings, data, OTHER + seed)
    return None if learner is None or other is None else (learner, other)

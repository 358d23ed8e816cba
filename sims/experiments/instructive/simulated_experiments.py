"""Simulated experiments of ``biorrr instructive``: with controls, and under the null hypothesis."""

from __future__ import annotations

from typing import Any

from biorrr.sims.experiments.instructive.imaged_circuits import (
    CIRCUIT,
    DENDRITES,
    NULL,
    learn,
    observe,
)
from biorrr.sims.experiments.instructive.own_recording import ASKED
from biorrr.sims.lab import Task
from biorrr.sims.lazy import data_sets, instructive, np

EXAMPLES = 40  # experiments in which all controls are asked, and in which power is measured
# of each experiment in which power is measured: in all of them it would be 1 nearly everywhere
POWER_TRIALS = 500
NOISES = (0.5, 1.0, 2.0, 4.0)  # noise over signal at which power is measured
OTHER = 10_000  # between the seeds of a circuit and of an unrelated one


def ask_under_null(task: Task, seed: int, data: data_sets.Dataset) -> dict[str, Any]:
    """Return True where the answer is yes under the null hypothesis of each question,
    (questions,).
    """
    settings = task.settings
    learner, other = (learn(settings, data, one) for one in (seed, OTHER + seed))
    yes = np.full(len(ASKED), np.nan)
    if learner is not None and other is not None:
        for row, question in enumerate(ASKED):
            imaged = observe(
                learner, NULL[question], settings.noise, settings.decay, (seed, 0), other
            )
            yes[row] = bool(instructive.ask(imaged, settings.decay, [question])[question].yes)
    return {"yes": yes}


def ask_controls(task: Task, seed: int, data: data_sets.Dataset) -> dict[str, Any]:
    """Ask a circuit that learns and the controls all four questions.

    ``answer`` (dendrites, questions, 4) is the effect, the ends of its confidence interval and the
    p-value; ``power`` (noises, questions) is 1 where a short recording of the circuit says yes.
    """
    settings, decay = task.settings, task.settings.decay
    answer = np.full((len(DENDRITES), len(ASKED), 4), np.nan)
    power = np.full((len(NOISES), len(ASKED)), np.nan)
    if (learner := learn(settings, data, seed)) is not None:
        for row, dendrite in enumerate(DENDRITES):
            answers = instructive.ask(
                observe(learner, dendrite, settings.noise, decay, (seed, 1)), decay
            )
            answer[row] = [(one.effect, one.low, one.high, one.p) for one in answers.values()]
        for row, noise in enumerate(NOISES):
            imaged = observe(learner.first(POWER_TRIALS), CIRCUIT, noise, decay, (seed, 2, row))
            power[row] = [bool(one.yes) for one in instructive.ask(imaged, decay).values()]
    return {
        "answer": np.round(answer, 10),
        "power": power,
    }  # sums differ beyond, by where terms lie in memory

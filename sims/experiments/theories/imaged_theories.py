"""Theories that are imaged while they learn, and asked the four questions of ``biorrr
instructive``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from biorrr.sims.experiments.instructive.imaged_circuits import (
    CIRCUIT,
    Learner,
    draw_trials,
    learner_of,
    observe,
)
from biorrr.sims.experiments.theories.contests import RIDGE, rate_of, run_theory
from biorrr.sims.lab import Job, Lab
from biorrr.sims.lazy import data_sets, instructive, np, theories, xr

QUESTIONS = ("specific", "informative", "signed", "predictive")
NOISES = (1.0, 2.0, 4.0)  # imaging noise over signal
SHORTER = 4  # part of the trials that a shorter recording has
DECAY = 0.5  # of the indicator, in seconds
RATE = 0.1  # constant, relative as in a contest
STIMULI = 60  # samples of the data that are shown, each many times


@dataclass(frozen=True)
class ImagedTheory:
    """A theory that learns a few stimuli from one seed, at a constant rate."""

    theory: theories.Theory
    seed: int


def image_each(lab: Lab, every: list[theories.Theory], data: data_sets.Dataset) -> xr.Dataset:
    """Image every theory while it learns the data, and return its answers; see :func:`shares`."""
    settings = lab.settings
    cells = min(settings.imaged_k, data.X.shape[1], data.Y.shape[1])
    seeds = range(settings.seed, settings.seed + settings.imaged)
    items = [ImagedTheory(replace(one, k=cells), seed) for one in every for seed in seeds]
    yes = np.array([one["yes"] for one in lab.map(image, items, data).values()])
    return shares(
        [one.name for one in every],
        lengths(settings.trials),
        yes.reshape(len(every), -1, *yes.shape[1:]),
    )


def lengths(trials: int) -> tuple[int, int]:
    """Return the trials of a shorter and of the whole recording."""
    return trials // SHORTER, trials


def image(job: Job, item: ImagedTheory, data: data_sets.Dataset) -> dict[str, Any]:
    """Return the answers, 1 for yes, (lengths, noises, questions).

    An answer is NaN where the theory diverged or the question could not be asked.
    """
    learner = _learn(job, item, data)
    yes = np.full((2, len(NOISES), len(QUESTIONS)), np.nan)
    if learner is not None:
        for row, trials in enumerate(lengths(job.settings.trials)):
            for column, noise in enumerate(NOISES):
                imaged = observe(
                    learner.first(trials), CIRCUIT, noise, DECAY, (item.seed, row, column)
                )
                answers = instructive.ask(imaged, DECAY)
                yes[row, column] = [
                    np.nan if answers[one].unasked else bool(answers[one].yes) for one in QUESTIONS
                ]
    return {"yes": yes}


def _learn(job: Job, item: ImagedTheory, data: data_sets.Dataset) -> Learner | None:
    """Return the activity of the theory in each trial; None if it diverged.

    The outcome is what the readout makes of the output, and the error what it misses of y.
    """
    X, Y, order = draw_trials(data, STIMULI, job.settings.trials, item.seed)
    theory = replace(item.theory, rate=rate_of(RATE, data), ridge=RIDGE)
    run = run_theory(
        theory,
        X,
        Y,
        job.settings.engine,
        item.seed,
        order=order,
        centre=True,
        every=1,
        record=("y", "z", theory.apical, theory.readout),
    )
    return None if run is None else learner_of(run, theory.apical, theory.readout)


def shares(names: list[str], trials: tuple[int, int], yes: np.ndarray) -> xr.Dataset:
    """Return the share of yes by theory, trials, noise and question, and the number of pairs that
    are separated.

    ``yes`` is (theories, experiments, lengths, noises, questions). A share is NaN where all
    circuits diverged. A question separates two theories where their shares differ by Fisher's exact
    test (p <= 0.05).
    """
    from scipy.stats import fisher_exact

    asked, said = np.isfinite(yes).sum(axis=1), np.nansum(yes, axis=1)
    tables = np.stack(
        [said, asked - said], axis=-1
    )  # (theories, lengths, noises, questions, yes or no)
    pairs = np.zeros(asked.shape[1:], dtype=int)
    for one, other in combinations(tables, 2):
        for place in np.ndindex(pairs.shape):
            pairs[place] += fisher_exact([one[place], other[place]]).pvalue <= 0.05
    axes = ("trials", "noise", "question")
    return xr.Dataset(
        {
            "yes": (("theory", *axes), np.where(asked, said / np.maximum(asked, 1), np.nan)),
            "separated": (axes, pairs),
        },
        {
            "theory": names,
            "trials": list(trials),
            "noise": list(NOISES),
            "question": list(QUESTIONS),
        },
    )

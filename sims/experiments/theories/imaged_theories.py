"""Theories that are imaged while they learn, and asked the four questions of ``biorrr instructive``."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments.instructive.imaged_circuits import CIRCUIT, WARM_UP, Learner, observe
from biorrr.sims.experiments.theories.contests import RIDGE
from biorrr.sims.lab import Job
from biorrr.sims.lazy import circuits, data_sets, models, np

if TYPE_CHECKING:
    from biorrr.models.theories import Theory

QUESTIONS = ("specific", "informative", "signed", "predictive")
NOISES = (1.0, 2.0, 4.0)  # imaging noise over signal
SHORTER = 4  # part of the trials that a shorter recording has
DECAY = 0.5  # of the indicator, in seconds
STIMULI = 60  # samples of the data that are shown, each many times


@dataclass(frozen=True)
class ImagedTheory:
    """A theory that learns a few stimuli from one seed, at a constant rate of ``relative``/m."""

    theory: Theory
    relative: float
    seed: int


def lengths(trials: int) -> tuple[int, int]:
    """Return the trials of a shorter and of the whole recording."""
    return trials // SHORTER, trials


def image(job: Job, item: ImagedTheory, data: data_sets.Dataset) -> dict[str, Any]:
    """Return the answers, 1 for yes, (lengths, noises, questions).

    An answer is NaN where the theory diverged or the question could not be asked.
    """
    from biorrr.analysis.instructive import ask

    learner = _learn(job, item, data)
    yes = np.full((2, len(NOISES), len(QUESTIONS)), np.nan)
    if learner is not None:
        for row, trials in enumerate(lengths(job.settings.trials)):
            for column, noise in enumerate(NOISES):
                answers = ask(observe(learner.first(trials), CIRCUIT, noise, DECAY, (item.seed, row, column)), DECAY)
                yes[row, column] = [np.nan if answers[one].unasked else bool(answers[one].yes) for one in QUESTIONS]
    return {"yes": yes}


def _learn(job: Job, item: ImagedTheory, data: data_sets.Dataset) -> Learner | None:
    """Return the activity of the theory in each trial; None if it diverged.

    The outcome is what the readout makes of the output, and the error what it misses of y.
    """
    rng = np.random.default_rng(item.seed)
    rows = rng.permutation(len(data.X))[:STIMULI]
    order = rng.integers(len(rows), size=WARM_UP + job.settings.trials)
    m, n = data.X.shape[1], data.Y.shape[1]
    theory = replace(item.theory, rate=models.Rate(item.relative / m), ridge=RIDGE)
    circuit = circuits.Circuit(**theory.layout(n), engine=job.settings.engine, seed=item.seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pixels that are the same in all stimuli
            run = circuit.run(
                data.X[rows], data.Y[rows], order=order, record=("y", "z", theory.apical, theory.readout), every=1,
                snapshots=1, centre=True, progress=False, weights=theory.start(m, n, item.seed),
            )  # fmt: skip
    except circuits.Diverged:
        return None
    y, z, apical = (run.data[name].values for name in ("y", "z", theory.apical))
    readout = run.data[f"{theory.readout}_trace"].values
    error = y - np.einsum("tnk,tk->tn", readout, z)
    z, apical, error, stimulus = (one[WARM_UP:] for one in (z, apical, error, run.data["data_row"].values))
    return Learner(z, apical, error, readout[-1].T, stimulus)

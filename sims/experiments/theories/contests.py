"""Theories that learn the same samples, each at the best of the same few rates."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from biorrr.sims.lab import Lab, Task, completed
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np, theories, xr

RIDGE = 0.1  # of data of mean square 1, as noise of the fibres
NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given
SEARCH_SEEDS = (
    1000,
    1001,
)  # beyond the seed of the experiment: the search has not seen the runs that are judged
MEASURES = ("excess", "law", "participation", "whitening")


def every_theory(k: int) -> list[theories.Theory]:
    """Return the contestants, each with ``k`` cells."""
    t = theories
    feedbacks = [
        t.FeedbackAlignment(k=k, feedback=kind) for kind in ("backprop", "learned", "fixed")
    ]  # type: ignore
    return [
        *feedbacks,
        t.Sacramento(k=k),
        t.Sacramento(k=k, learned=False),
        t.BurstDependent(k=k),
        t.BurstDependent(k=k, cancelling=False),
        t.UrbanczikSenn(k=k),
        t.UrbanczikSenn(k=k, teacher="Hebbian"),
        t.BioCCA(k=k),
        t.BioRRR(k=k),
    ]


@dataclass(frozen=True)
class Contest:
    """A theory that learns from one seed, for a number of samples, at a relative rate at first; see
    ``rate_of``.
    """

    theory: theories.Theory
    relative: float
    samples: int
    seed: int


def scaled(data: data_sets.Dataset) -> data_sets.Dataset:
    """Return the data, centred and of mean square 1."""
    X, Y = (
        one - one.mean(axis=0)
        for one in (np.asarray(data.X, dtype=float), np.asarray(data.Y, dtype=float))
    )
    return replace(data, X=X / np.sqrt(np.square(X).mean()), Y=Y / np.sqrt(np.square(Y).mean()))


def rate_of(relative: float, data: data_sets.Dataset, halving: float = float("inf")) -> models.Rate:
    """Return the rate: ``relative`` over the number of features of x or of y, whichever is
    larger.
    """
    return models.Rate(relative / max(data.X.shape[1], data.Y.shape[1]), halving)


def best_rates(
    lab: Lab, every: list[theories.Theory], data: data_sets.Dataset
) -> dict[theories.Theory, float]:
    """Return the rate, of the same candidates for every theory, that comes nearest to what is
    predicted of it.

    The worse of two seeds counts, and neither is among those that are judged.
    """
    settings = lab.settings
    tries = [
        Contest(theory, rate, settings.samples, settings.seed + seed)
        for theory, rate, seed in product(every, settings.rates, SEARCH_SEEDS)
    ]
    distances = [one["distance"] for one in lab.each(try_rate, tries, data).values()]
    worse = np.reshape(distances, (len(every), len(settings.rates), len(SEARCH_SEEDS))).max(axis=2)
    return {
        theory: settings.rates[place]
        for theory, place in zip(every, worse.argmin(axis=1), strict=True)
    }


def learn(
    task: Task, contest: Contest, data: data_sets.Dataset
) -> tuple[theories.Theory, circuits.Run | None]:
    """Return the theory at its rate and its run; None if it diverged."""
    rate = rate_of(contest.relative, data, contest.samples / 20)
    theory = replace(contest.theory, rate=rate, ridge=RIDGE)
    order = np.random.default_rng(contest.seed).integers(len(data.X), size=contest.samples)
    circuit = circuits.Circuit(
        **theory.layout(data.Y.shape[1]), engine=task.settings.engine, seed=contest.seed
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constant columns: the same for all theories
            run = circuit.run(data.X, data.Y, order=order, snapshots=1, record=(), progress=False)
            return theory, completed(run)
    except circuits.Diverged:
        return theory, None


def predicted(contest: Contest, data: data_sets.Dataset) -> float:
    """Return the excess that law 1 predicts where feedback is fixed; NaN for other theories."""
    if "fixed" not in contest.theory.name:
        return float("nan")
    B = contest.theory.start(data.X.shape[1], data.Y.shape[1], contest.seed)["B"]
    return analysis.fixed_feedback_law(B, data.X, data.Y, RIDGE).excess


def excess_of(theory: theories.Theory, run: circuits.Run | None, data: data_sets.Dataset) -> float:
    """Return the excess of the learned filters, at most that of filters that explain nothing."""
    if run is None:
        return NOT_LEARNED
    exact = analysis.ExactSolution(data.X, data.Y, theory.s, RIDGE)
    return min(float(exact.excess(run.weights[theory.filters])), NOT_LEARNED)


def try_rate(task: Task, contest: Contest, data: data_sets.Dataset) -> dict[str, Any]:
    """Return how far a theory ends from its prediction: from law 1 where that holds, else from the
    optimum.
    """
    excess = excess_of(*learn(task, contest, data), data)
    return {"distance": abs(excess - np.nan_to_num(predicted(contest, data)))}


def measure(task: Task, contest: Contest, data: data_sets.Dataset) -> dict[str, Any]:
    """Return the scores of a theory after learning, by name; NaN where it diverged."""
    theory, run = learn(task, contest, data)
    scores = dict.fromkeys(MEASURES, float("nan"))
    scores |= {"excess": excess_of(theory, run, data), "law": predicted(contest, data)}
    if run is None:
        return scores
    exact = analysis.ExactSolution(data.X, data.Y, theory.s, RIDGE)
    filters = run.weights[theory.filters]
    return scores | {
        "participation": analysis.participation_ratio(exact.gram(filters)),
        "whitening": float(exact.whitening_error(filters)),
    }


def compete(lab: Lab, every: list[theories.Theory], data: data_sets.Dataset) -> xr.Dataset:
    """Let each theory learn the data at its best rate, and return all scores by theory and seed."""
    seeds = lab.settings.every_seed
    best = best_rates(lab, every, data)
    contests = [
        Contest(one, best[one], lab.settings.samples, seed) for one in every for seed in seeds
    ]
    found = [*lab.each(measure, contests, data).values()]
    scores = {
        name: (("theory", "seed"), np.reshape([one[name] for one in found], (len(every), -1)))
        for name in MEASURES
    }
    return xr.Dataset(
        scores | {"rate": ("theory", [*best.values()])},
        {"theory": [one.name for one in every], "seed": [*seeds]},
    )

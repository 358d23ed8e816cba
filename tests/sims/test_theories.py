"""The experiment on rival theories: the same samples for all, predictions of law 1, verdicts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from biorrr.analysis import ExactSolution, fixed_feedback_law
from biorrr.models import Rate
from biorrr.models.theories import BioRRR, FeedbackAlignment, UrbanczikSenn
from biorrr.sims.data import load
from biorrr.sims.experiments.theories import (
    NAMES,
    TheoriesSettings,
    contests,
    theories,
    verdicts,
)
from biorrr.sims.lab import SettingsError, Task


@pytest.fixture(scope="module")
def data():
    return contests.scaled(load('{name="synthetic", samples=200, m=6, n=4, latents=3}'))


@pytest.fixture
def job():
    return Task(SimpleNamespace(engine="numpy"))


def test_data_are_centred_and_of_mean_square_one(data):
    for one in (data.X, data.Y):
        assert np.abs(one.mean(axis=0)).max() < 1e-12
        assert np.square(one).mean() == pytest.approx(1)


def test_law_1_is_predicted_for_fixed_feedback_alone(data):
    fixed = contests.Contest(FeedbackAlignment(feedback="fixed"), 0.1, 100, seed=3)
    B = fixed.theory.start(6, 4, 3)["B"]
    assert (
        contests.predicted(fixed, data)
        == fixed_feedback_law(B, data.X, data.Y, contests.RIDGE).excess
        > 0.02
    )
    assert np.isnan(contests.predicted(contests.Contest(BioRRR(), 0.1, 100, 3), data))
    bounded = [name for name in NAMES if "fixed" in name]
    assert all(verdicts.EXCESS[name] == (0.02, np.inf) for name in bounded)
    assert len(bounded) == 3


def test_a_theory_that_diverges_has_learned_nothing(job, data):
    found = contests.measure(job, contests.Contest(FeedbackAlignment(), 1e6, 100, 0), data)
    assert found["excess"] == contests.NOT_LEARNED
    assert np.isnan(found["participation"])
    assert np.isnan(found["whitening"])


def test_scores_are_those_of_the_learned_filters(job, data):
    contest = contests.Contest(BioRRR(), 0.1, 3000, 0)
    found = contests.measure(job, contest, data)
    Vx = contests.learn(job, contest, data)[1].Vx
    power = Vx.T @ (data.X.T @ data.X / len(data.X) + contests.RIDGE * np.eye(6)) @ Vx
    assert found["participation"] == pytest.approx(power.trace() ** 2 / np.square(power).sum())
    assert found["whitening"] == pytest.approx(np.square(power - np.eye(2)).sum() / 2)
    assert found["excess"] == ExactSolution(data.X, data.Y, 0, contests.RIDGE).excess(Vx) < 0.5


def test_the_worse_of_two_seeds_chooses_the_rate(data):
    """A rate that is best with one seed and worst with the other is not taken."""
    settings = SimpleNamespace(samples=10, seed=0, rates=(0.1, 0.2))
    distances = {(0.1, 1000): 0.0, (0.1, 1001): 0.5, (0.2, 1000): 0.2, (0.2, 1001): 0.3}

    def answer(function, items, data):
        return {item: {"distance": distances[item.relative, item.seed]} for item in items}

    lab = SimpleNamespace(settings=settings, each=answer)
    assert contests.best_rates(lab, [BioRRR()], data) == {BioRRR(): 0.2}


def test_y_may_have_more_features_than_x(job):
    """The full regression of y on x has more columns than there can be filters."""
    wide = contests.scaled(load('{name="synthetic", samples=100, m=4, n=9, latents=2}'))
    found = contests.measure(job, contests.Contest(BioRRR(), 0.1, 500, 0), wide)
    assert np.isfinite(found["excess"])


def test_an_unknown_theory_is_refused():
    with pytest.raises(
        SettingsError, match=r"theories: must be one of all, backprop, .* \(got 'phlogiston'\)"
    ):
        TheoriesSettings(theories=("phlogiston",))
    assert TheoriesSettings(theories=("Bio-RRR", "bursts")).chosen == ("bursts", "Bio-RRR")
    assert TheoriesSettings().chosen == NAMES


def test_a_circuit_of_one_s_own_is_refused():
    with pytest.raises(
        SettingsError, match=r"circuit: theories bring their own circuits \(got 'own.py:make'\)"
    ):
        theories(None, TheoriesSettings(circuit="own.py:make"))


def test_bounds_are_judged_once_learning_has_converged(data):
    theory = "Urbanczik-Senn, Hebbian"
    settings = SimpleNamespace(samples=10, every_seed=(0,), seed=0, rates=(0.1,))
    scores = dict.fromkeys(contests.MEASURES, 0.0) | {"law": np.nan}

    def answer(function, items, data):
        return {item: scores | {"distance": 0.0} for item in items}

    for participation, samples, verdict in (
        (1.05, 300_000, True),
        (1.2, 300_000, False),
        (1.05, 1000, None),
    ):
        scores["participation"] = participation
        joined = contests.compete(
            SimpleNamespace(settings=settings, each=answer),
            [UrbanczikSenn(teacher="Hebbian")],
            data,
        )
        results = joined.expand_dims(data=["digits"]).assign_attrs(k=2, samples=samples)
        found = {("digits", theory): [*verdicts.measured(results, "digits", theory)]}
        (claim,) = verdicts.judge(results, found)
        assert claim.holds is verdict


def test_the_rate_heeds_the_larger_of_both_views(data):
    """Synapses of n top cells take n steps of one sample, as those of m inputs do."""
    wide = replace(data, X=data.X[:, :2])
    assert contests.rate_of(0.1, data) == Rate(0.1 / 6)
    assert contests.rate_of(0.1, wide) == Rate(0.1 / 4)

"""The experiment on rival theories: the same samples for all, predictions of law 1, verdicts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import biorrr.sims.experiments.theories as module
from biorrr.analysis import ExactSolution, fixed_feedback_law
from biorrr.circuit import Circuit
from biorrr.models import Rate
from biorrr.sims.data import load
from biorrr.sims.experiments.theories import (
    RIDGE,
    THEORIES,
    TheoriesSettings,
    compete,
    judge,
    learn,
    make,
    measured,
    predicted,
    rate_of,
    scaled,
)
from biorrr.sims.lab import SettingsError, Task
from biorrr.sims.lab.items import Grid, as_result


@pytest.fixture(scope="module")
def data():
    return scaled(load('{name="synthetic", samples=200, m=6, n=4, latents=3}'))


def task(samples):
    return Task(SimpleNamespace(engine="numpy", k=2, samples=samples))


class Answers:
    """A lab in which ``answer`` is the excess of a theory at a rate from a seed."""

    def __init__(self, answer, **settings):
        self.settings, self.answer = TheoriesSettings(**settings), answer

    def map(self, function, over, data):
        grid = Grid.over(over)
        scores = dict.fromkeys(("participation", "whitening", "correlation", "law"), np.nan)
        found = []
        for item in grid.items:
            excess = self.answer(**item)
            found.append(as_result("", scores | {"excess": excess, "own_excess": excess}))
        return grid.join(found)


def test_data_are_centred_and_of_mean_square_one(data):
    for one in (data.X, data.Y):
        assert np.abs(one.mean(axis=0)).max() < 1e-12
        assert np.square(one).mean() == pytest.approx(1)


def test_law_1_is_predicted_for_fixed_feedback_alone(data):
    fixed = make("fixed feedback", 2)
    law = fixed_feedback_law(fixed.start(6, 4, 3)["B"], data.X, data.Y, RIDGE)
    assert predicted(fixed, 3, data) == law.excess > 0.02
    assert np.isnan(predicted(make("Bio-RRR", 2), 3, data))
    bounded = [bound for name, (*_, bound) in THEORIES.items() if "fixed" in name]
    assert bounded == [(0.02, np.inf)] * 2


def test_law_1_predicts_those_whose_feedback_is_called_fixed(data):
    predictions = {name: predicted(make(name, 2), 3, data) for name in THEORIES}
    assert all(np.isfinite(law) == ("fixed" in name) for name, law in predictions.items())


def test_a_theory_that_diverges_has_learned_nothing(data):
    found = learn(task(100), data, theory="learned feedback", relative=1e6, seed=0)
    assert found["excess"] == found["own_excess"] == module.NOT_LEARNED
    assert np.isnan(found["participation"])
    assert np.isnan(found["whitening"])


@pytest.mark.parametrize(("theory", "s"), [("Bio-RRR", 0.0), ("Bio-CCA", 1.0)])
def test_scores_are_those_of_the_learned_filters(data, theory, s):
    found = learn(task(3000), data, theory=theory, relative=0.1, seed=0)
    one = make(theory, 2, rate_of(0.1, data, 150))
    order = np.random.default_rng(0).integers(200, size=3000)
    circuit = Circuit(**one.layout(4), engine="numpy", seed=0)
    Vx = circuit.run(data.X, data.Y, order=order, progress=False).weights[one.filters]
    power = Vx.T @ (data.X.T @ data.X / len(data.X) + RIDGE * np.eye(6)) @ Vx
    assert found["participation"] == pytest.approx(power.trace() ** 2 / np.square(power).sum())
    assert found["whitening"] == pytest.approx(np.square(power - np.eye(2)).sum() / 2)
    correlation = abs(power[0, 1]) / np.sqrt(power[0, 0] * power[1, 1])
    assert found["correlation"] == pytest.approx(correlation)
    assert found["excess"] == ExactSolution(data.X, data.Y, 0, RIDGE).excess(Vx)
    assert found["own_excess"] == ExactSolution(data.X, data.Y, s, RIDGE).excess(Vx)


def test_the_worse_of_two_seeds_chooses_the_rate(data):
    """A rate that is best with one seed and worst with the other is not taken."""
    excess = {(0.1, 1000): 0.0, (0.1, 1001): 0.5, (0.2, 1000): 0.2, (0.2, 1001): 0.3}
    lab = Answers(
        lambda theory, relative, seed: excess.get((relative, seed), 0.1),
        theories=("Bio-RRR",),
        rates=(0.1, 0.2),
    )
    assert compete(lab, data)["rate"].values.tolist() == [0.2]


def test_rates_of_fixed_feedback_are_chosen_by_excess(data):
    """Not by nearness to law 1: that would make the law hold by choice."""
    law = predicted(make("fixed feedback", 2), 0, data)
    lab = Answers(
        lambda theory, relative, seed: law if relative == 0.1 else law / 2,
        theories=("fixed feedback",),
        rates=(0.1, 0.2),
        draws=7,
        simulated_draws=3,
    )
    found = compete(lab, data)
    assert found["rate"].values.tolist() == [0.2]
    assert found["drawn_law"].sizes == {"draw": 7}
    assert found["drawn_law"][0] == law
    assert found["drawn_excess"].sizes == {"simulated": 3}


def test_y_may_have_more_features_than_x():
    """The full regression of y on x has more columns than there can be filters."""
    wide = scaled(load('{name="synthetic", samples=100, m=4, n=9, latents=2}'))
    assert np.isfinite(learn(task(500), wide, theory="Bio-RRR", relative=0.1, seed=0)["excess"])


def test_an_unknown_theory_is_refused():
    with pytest.raises(
        SettingsError, match=r"theories: must be one of all, backprop, .* \(got 'phlogiston'\)"
    ):
        TheoriesSettings(theories=("phlogiston",))
    assert TheoriesSettings(theories=("Bio-RRR", "bursts")).chosen == ("bursts", "Bio-RRR")
    assert TheoriesSettings().chosen == tuple(THEORIES)


@pytest.mark.parametrize(
    ("excess", "samples", "verdict"),
    [(0.01, 300_000, True), (0.03, 300_000, False), (0.01, 1000, None)],
)
def test_bounds_are_judged_once_learning_has_converged(data, excess, samples, verdict):
    lab = Answers(lambda theory, relative, seed: excess, theories=("Bio-RRR",))
    results = compete(lab, data).expand_dims(data=["digits"])
    results = results.assign_attrs(k=2, samples=samples)
    found = {("digits", "Bio-RRR"): [*measured(results, "digits", "Bio-RRR")]}
    (claim,) = judge(results, found)
    assert claim.holds is verdict


def test_the_seed_that_is_farthest_from_law_1_counts(data):
    law = predicted(make("fixed feedback", 2), 0, data)
    lab = Answers(
        lambda theory, relative, seed: law + 0.01 * seed, theories=("fixed feedback",), draws=2
    )
    results = compete(lab, data).expand_dims(data=["digits"])
    results["law"] = results["excess"] - xr.DataArray([0.001, -0.04, 0.02], dims="seed")
    found = {one.name: one for one in measured(results, "digits", "fixed feedback")}
    assert found["digits_fixed_feedback_from_law"].value == pytest.approx(0.04)
    assert found["digits_fixed_feedback_from_law"].spread is None
    assert found["digits_fixed_feedback_excess"].value == pytest.approx(law + 0.01)
    assert found["digits_fixed_feedback_excess"].spread == pytest.approx(0.01)


def test_bio_cca_is_judged_on_its_own_problem(data):
    lab = Answers(lambda theory, relative, seed: 0.5, theories=("Bio-CCA",))
    results = compete(lab, data).expand_dims(data=["digits"])
    results["own_excess"] = xr.full_like(results["own_excess"], 0.001)
    results = results.assign_attrs(k=2, samples=300_000)
    found = {one.name: one for one in measured(results, "digits", "Bio-CCA")}
    assert found["digits_bio_cca_excess"].bound is None
    assert found["digits_bio_cca_excess"].value == 0.5
    assert found["digits_bio_cca_own_excess"].bound == (-np.inf, 0.01)
    assert [
        claim.holds for claim in judge(results, {("digits", "Bio-CCA"): [*found.values()]})
    ] == [True]


def test_the_rate_heeds_the_larger_of_both_views(data):
    """Synapses of n top cells take n steps of one sample, as those of m inputs do."""
    wide = replace(data, X=data.X[:, :2])
    assert rate_of(0.1, data) == Rate(0.1 / 6)
    assert rate_of(0.1, wide) == Rate(0.1 / 4)

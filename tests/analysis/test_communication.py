"""Prediction between populations from moments: the same as from the data, and controls that say no
when they should.
"""

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis
from sklearn.model_selection import PredefinedSplit

from biorrr.analysis import RankCV
from biorrr.analysis.communication import (
    FoldMoments,
    lagged,
    matched_units,
    predict_held_out,
    removed_dimensions,
    shared_dimensionality,
    shuffled_trials,
    trial_folds,
)
from biorrr.analysis.communication.controls import fit_factors, log_likelihood

TRIALS, BINS, M, N = 60, 5, 12, 7


@pytest.fixture(scope="module")
def data():
    """X, Y, trials, strata: three conditions with means of their own, and two dimensions that X and
    Y share.
    """
    rng = np.random.default_rng(0)
    trials = np.repeat(np.arange(TRIALS), BINS)
    condition = np.resize([0, 1, 2], TRIALS)[trials]
    strata = condition * BINS + np.tile(np.arange(BINS), TRIALS)
    X = rng.standard_normal((TRIALS * BINS, M))
    Y = X @ rng.standard_normal((M, 2)) @ rng.standard_normal((2, N)) / 2 + 3 * rng.standard_normal(
        (len(X), N)
    )
    means = 5 * rng.standard_normal((strata.max() + 1, M + N))
    return X + means[strata, :M], Y + means[strata, M:], trials, strata


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("residual", [False, True])
def test_moments_give_what_the_data_give(data, s, ridge, residual):
    X, Y, trials, strata = data
    strata = strata if residual else None
    folds = trial_folds(
        trials, 5, conditions=None if strata is None else strata // BINS, random_state=0
    )
    from_data = RankCV(s=s, ridge=ridge, cv=PredefinedSplit(folds)).fit(X, Y, strata=strata)
    moments = FoldMoments.of(X, Y, folds, strata)
    found = predict_held_out(moments, range(M), range(M, M + N), s=s, ridge=ridge)
    np.testing.assert_allclose(found.r2_folds, from_data.r2_folds_, rtol=1e-9)
    np.testing.assert_allclose(found.r2, from_data.r2_, rtol=1e-9)
    assert found.rank == from_data.k_


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_moments_of_units_that_say_the_same(data, ridge):
    """Covariances are then singular: what cannot be told apart must not be divided by."""
    X, Y, trials, _ = data
    X = np.hstack([X, X[:, :3] + X[:, 3:6]])
    folds = trial_folds(trials, 5, random_state=0)
    from_data = RankCV(ridge=ridge, cv=PredefinedSplit(folds)).fit(X, Y)
    found = predict_held_out(
        FoldMoments.of(X, Y, folds), range(M + 3), range(M + 3, M + 3 + N), ridge=ridge
    )
    np.testing.assert_allclose(found.r2, from_data.r2_, rtol=1e-6)


def test_moments_of_some_units_are_those_of_data_without_the_others(data):
    X, Y, trials, strata = data
    folds = trial_folds(trials, 4, random_state=0)
    source, target = [0, 3, 4, 9], [1, 5]
    some = FoldMoments.of(X[:, source], Y[:, target], folds, strata)
    expected = predict_held_out(some, range(4), range(4, 6), ridge=0.1)
    found = predict_held_out(
        FoldMoments.of(X, Y, folds, strata), source, [M + unit for unit in target], ridge=0.1
    )
    np.testing.assert_allclose(found.r2, expected.r2, rtol=1e-10)


def test_residuals_know_nothing_of_held_out_trials(data):
    """Means of all trials would: held-out residuals are then too small, and predicted too well."""
    X, Y, trials, strata = data
    folds = trial_folds(trials, 5, conditions=strata // BINS, random_state=0)
    moments = FoldMoments.of(X, Y, folds, strata)
    for fold in moments.folds:
        train, test = folds != fold, folds == fold
        expected = np.hstack([X, Y])
        expected = expected[test] - np.stack(
            [expected[train & (strata == one)].mean(axis=0) for one in strata[test]]
        )
        np.testing.assert_allclose(
            moments.held_out(fold)[0], expected.T @ expected, rtol=1e-9, atol=1e-9
        )


def test_a_stratum_with_one_sample_in_the_training_data_has_that_as_its_mean():
    X, Y = np.array([[1.0], [2.0], [5.0], [9.0]]), np.array([[0.0], [1.0], [4.0], [2.0]])
    products, count = FoldMoments.of(X, Y, folds=[0, 1, 0, 1], strata=[0, 0, 1, 1]).held_out(0)
    residual = np.array([[-1.0, -1.0], [-4.0, 2.0]])
    np.testing.assert_allclose(products, residual.T @ residual)
    assert count == 2


def test_folds_keep_trials_together_and_spread_conditions(data):
    _, _, trials, strata = data
    folds = trial_folds(trials, 7, conditions=strata // BINS, random_state=1)
    assert all(len(set(folds[trials == trial])) == 1 for trial in np.unique(trials))
    for condition in range(3):
        sizes = np.bincount(folds[strata // BINS == condition], minlength=7) // BINS
        assert sizes.max() - sizes.min() <= 1
    with pytest.raises(
        ValueError, match=r"folds: must lie between 2 and the number of trials, 60 \(got 61\)"
    ):
        trial_folds(trials, 61)


def test_a_condition_with_one_trial_is_refused():
    with pytest.raises(ValueError, match="each must have samples in at least two folds"):
        FoldMoments.of(np.ones((4, 2)), np.ones((4, 2)), [0, 0, 1, 1], [0, 1, 0, 0]).held_out(0)


def test_shuffled_trials_stay_whole_and_within_their_condition(data):
    X, Y, trials, strata = data
    order = shuffled_trials(trials, np.random.default_rng(0), strata // BINS)
    assert sorted(order) == list(range(len(trials)))
    assert (strata[order] == strata).all()
    assert (trials[order] != trials).mean() > 0.9
    assert all(len(set(trials[order][trials == trial])) == 1 for trial in np.unique(trials))
    folds = trial_folds(trials, 5, conditions=strata // BINS, random_state=0)
    told = predict_held_out(FoldMoments.of(X, Y, folds, strata), range(M), range(M, M + N))
    null = predict_held_out(FoldMoments.of(X, Y[order], folds, strata), range(M), range(M, M + N))
    assert told.r2[1] > 0.2 > 0 > null.r2[1]


def test_matched_units_fire_like_the_target():
    rng = np.random.default_rng(0)
    source = np.exp(rng.normal(2.0, 1.0, 100))
    target = np.exp(rng.normal(1.0, 0.5, 20))  # slower
    draws = [matched_units(source, target, np.random.default_rng(seed)) for seed in range(20)]
    for one in draws:
        assert len(one.within) == len(one.across) == 20
        assert sorted([*one.source, *one.within]) == list(range(100))
    matched = np.mean([np.log(source[one.within]).mean() for one in draws])
    at_random = np.log(source).mean()
    assert abs(matched - np.log(target).mean()) < 0.2 < abs(at_random - np.log(target).mean())
    assert len({tuple(one.within) for one in draws}) > 10
    few = matched_units(source[:10], target, rng)
    assert (len(few.source), len(few.within), len(few.across)) == (5, 5, 5)
    assert [len(units) for units in matched_units(source[:2], target, rng)] == [1, 1, 1]
    with pytest.raises(
        ValueError,
        match=r"source: must have at least two units for a within-area control \(got 1\)",
    ):
        matched_units(source[:1], target, rng)


def test_lags_are_found():
    rng = np.random.default_rng(0)
    trials, bins, lag = 80, 12, 2
    X = rng.standard_normal((trials, bins, 6))
    Y = np.roll(X[..., :4], lag, axis=1) + rng.standard_normal((trials, bins, 4))
    found = []
    for one in range(-3, 4):
        here, there = lagged(bins, one, 3)
        rows = np.repeat(np.arange(trials), bins - 6)
        moments = FoldMoments.of(X[:, here].reshape(-1, 6), Y[:, there].reshape(-1, 4), rows % 5)
        found.append(predict_held_out(moments, range(6), range(6, 10)).r2[-1])
    assert np.argmax(found) - 3 == lag
    with pytest.raises(ValueError, match="must be fewer than half of the 6 bins"):
        lagged(6, 1, 3)


def test_removing_predictive_dimensions_removes_what_they_predict(data):
    X, Y, trials, strata = data
    moments = FoldMoments.of(
        X, Y, trial_folds(trials, 5, conditions=strata // BINS, random_state=0), strata
    )
    source, target = np.arange(M), np.arange(M, M + N)
    own = removed_dimensions(moments, source, target, 4, ridge=0.1)
    full = predict_held_out(moments, source, target, ridge=0.1)
    assert own.r2[0] == pytest.approx(full.r2[-1], rel=1e-9)
    assert own.r2[2] < 0.05 < 0.2 < own.r2[0]


def test_factor_analysis_is_that_of_scikit_learn(rng):
    X = rng.standard_normal((2000, 3)) @ rng.standard_normal((3, 12)) + rng.uniform(
        0.5, 2, 12
    ) * rng.standard_normal((2000, 12))
    X -= X.mean(axis=0)
    loadings, private = fit_factors(X.T @ X / len(X), 3)
    by_em = FactorAnalysis(3, tol=1e-8, max_iter=5000).fit(X)
    assert log_likelihood(
        X.T @ X / len(X), loadings @ loadings.T + np.diag(private)
    ) == pytest.approx(by_em.score(X), abs=1e-3)
    np.testing.assert_allclose(
        loadings @ loadings.T + np.diag(private), by_em.get_covariance(), atol=0.02
    )


@pytest.mark.parametrize("dimensions", [0, 1, 4])
def test_shared_dimensionality(dimensions, rng):
    shared = rng.standard_normal((3000, dimensions)) @ rng.standard_normal((dimensions, 20))
    X = shared + rng.uniform(0.5, 1.5, 20) * rng.standard_normal((3000, 20))
    moments = FoldMoments.of(X, X[:, :0], np.arange(3000) % 5)
    assert shared_dimensionality(moments, range(20)) == dimensions

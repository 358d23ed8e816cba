"""Rank by cross-validation: on data whose rank is known, and on V1 and V2."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.stats import sem
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from biorrr.analysis import RankCV, ReducedRankRegression


@pytest.mark.parametrize("s", [0.0, 1.0])
@pytest.mark.parametrize("rank", [1, 3])
def test_finds_the_rank_that_made_the_data(s, rank, rng):
    X = rng.standard_normal((1500, 10))
    Y = X @ rng.standard_normal((10, rank)) @ rng.standard_normal((rank, 8)) + rng.standard_normal(
        (1500, 8)
    )
    chosen = RankCV(s=s, random_state=0).fit(X, Y)
    assert chosen.k_ == rank
    np.testing.assert_array_equal(chosen.Vx_, ReducedRankRegression(rank, s=s).fit(X, Y).Vx_)


def test_the_smallest_rank_within_one_standard_error_of_the_best(rng):
    X, Y = rng.standard_normal((120, 6)), rng.standard_normal((120, 5))
    cv = RankCV(cv=5, random_state=0).fit(X, Y)
    assert cv.r2_folds_.shape == (5, 5)
    best = cv.r2_mean_.argmax()
    good_enough = cv.r2_mean_ >= cv.r2_mean_[best] - cv.r2_sem_[best]
    assert cv.k_ == cv.ks_[good_enough].min()


def test_held_out_r2_is_that_of_separate_fits(rng):
    X = rng.standard_normal((90, 6)) + 2
    Y = X[:, :3] + rng.standard_normal((90, 3)) - 1
    groups = np.repeat(np.arange(30), 3)
    splitter = GroupKFold(3)
    cv = RankCV(ks=[1, 3], s=0.5, ridge=0.1, cv=splitter).fit(X, Y, groups)
    for i, k in enumerate([1, 3]):
        errors = deviations = 0.0
        for fold, (train, test) in enumerate(splitter.split(X, Y, groups)):
            rrr = ReducedRankRegression(k, s=0.5, ridge=0.1).fit(X[train], Y[train])
            assert cv.r2_folds_[fold, i] == pytest.approx(rrr.score(X[test], Y[test]))
            errors += np.square(Y[test] - rrr.predict(X[test])).sum()
            deviations += np.square(Y[test] - Y[train].mean(axis=0)).sum()
        assert cv.r2_[i] == pytest.approx(1 - errors / deviations)
    np.testing.assert_allclose(cv.r2_sem_, sem(cv.r2_folds_))


def test_groups_are_held_out_whole():
    # Y repeats within a group and has nothing to do with X: only a model that saw the group can
    # predict it.
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 10)
    X = rng.standard_normal((40, 30))[groups] + 0.01 * rng.standard_normal((400, 30))
    Y = rng.standard_normal((40, 3))[groups]
    assert RankCV(ks=[3], cv=4, random_state=0).fit(X, Y).r2_[0] > 0.5
    assert RankCV(ks=[3], cv=4, random_state=0).fit(X, Y, groups).r2_[0] < 0


def test_a_seed_fixes_the_folds(rng):
    X, Y = rng.standard_normal((60, 4)), rng.standard_normal((60, 3))
    first, again, other = (RankCV(random_state=seed).fit(X, Y).r2_ for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_data_without_variance_is_refused(rng):
    with pytest.raises(
        ValueError, match=r"y: must vary in at least two held-out folds \(got 0 of 10\); lower cv"
    ):
        RankCV().fit(rng.standard_normal((30, 4)), np.ones((30, 2)))


@parametrize_with_checks([RankCV(cv=3, ridge=0.01, random_state=0)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def visual_cortex():
    folder = os.environ.get("BIORRR_DATA")
    if not folder or not (Path(folder) / "v1v2" / "sample_data.mat").exists():
        pytest.skip("needs v1v2/sample_data.mat of Semedo et al. (2019) in $BIORRR_DATA")
    recording = loadmat(Path(folder) / "v1v2" / "sample_data.mat")
    return {name: recording[name].astype(float) for name in ("X", "Y_V1", "Y_V2")}


TRIALS = np.repeat(np.arange(400), 10)  # 400 trials of 10 time bins, trial-major


@pytest.mark.parametrize(
    ("groups", "published"),
    [(None, [0.107, 0.125, 0.127, 0.127, 0.118]), (TRIALS, [0.106, 0.125, 0.126, 0.126, 0.118])],
    ids=["shuffled rows", "whole trials"],
)
def test_V1_predicts_V2_through_two_to_four_dimensions(visual_cortex, groups, published):
    cv = RankCV(random_state=0).fit(visual_cortex["X"], visual_cortex["Y_V2"], groups)
    np.testing.assert_allclose(cv.r2_[[0, 1, 2, 3, -1]], published, atol=0.005)
    assert 2 <= cv.k_ <= 4


def test_V1_predicts_V1_through_more_dimensions_than_V2(visual_cortex):
    ranks = {
        area: RankCV(random_state=0).fit(visual_cortex["X"], visual_cortex[area], TRIALS).k_
        for area in ("Y_V1", "Y_V2")
    }
    assert ranks["Y_V1"] > ranks["Y_V2"]


def test_two_folds_are_enough(rng):
    fitted = RankCV(cv=2).fit(rng.standard_normal((30, 3)), rng.standard_normal((30, 2)))
    assert fitted.r2_folds_.shape == (2, 2)

"""The ridge that predicts held-out samples best."""

import numpy as np
import pytest

from biorrr.analysis import OnlineBioRRR, ReducedRankRegression, choose_ridge


def noisy(rng, n_samples=80):
    X = rng.standard_normal((n_samples, 30)) * np.geomspace(3, 0.3, 30)
    return (
        X + 1,
        X[:, :2] @ rng.standard_normal((2, 5)) + 5 * rng.standard_normal((n_samples, 5)) - 3,
    )


@pytest.mark.parametrize("s", [0.0, 0.4, 1.0])
def test_scores_from_moments_are_those_of_fitting_each_fold(rng, s):
    X, Y = noisy(rng)
    ridges = [0.0, 0.3, 2.0]
    choice = choose_ridge(X, Y, 2, s, ridges=ridges, folds=4)
    fold_of = np.random.default_rng(0).permutation(len(X)) % 4
    for ridge, r2 in zip(ridges, choice.r2, strict=True):
        errors = deviations = 0.0
        for fold in range(4):
            train, test = fold_of != fold, fold_of == fold
            fitted = ReducedRankRegression(2, s=s, ridge=ridge).fit(X[train], Y[train])
            errors += np.square(Y[test] - fitted.predict(X[test])).sum()
            deviations += np.square(Y[test] - Y[train].mean(axis=0)).sum()
        assert r2 == pytest.approx(1 - errors / deviations, abs=1e-9)
    assert choice.best == choice.ridges[choice.r2.argmax()]


def test_trials_are_held_out_whole(rng):
    """Samples of a trial are copies: held out one by one, copies left behind would make the
    smallest ridge best.
    """
    X, Y = (np.repeat(view, 4, axis=0) for view in noisy(rng))
    trials = np.repeat(np.arange(80), 4)
    assert choose_ridge(X, Y, 2, groups=trials).best > choose_ridge(X, Y, 2).best
    alone = choose_ridge(X[::4], Y[::4], 2, ridges=[0.5], folds=4).r2
    assert choose_ridge(X, Y, 2, ridges=[0.5], folds=4, groups=trials).r2 == pytest.approx(alone)


def test_it_predicts_new_samples_better_than_no_ridge(rng):
    X, Y = noisy(rng, 2080)
    few, many = slice(80), slice(80, None)
    chosen = ReducedRankRegression(2, ridge="cv").fit(X[few], Y[few])
    plain = ReducedRankRegression(2).fit(X[few], Y[few])
    assert chosen.ridge == "cv"
    assert chosen.ridge_ > 0
    assert plain.ridge_ == 0
    assert chosen.score(X[many], Y[many]) > plain.score(X[many], Y[many]) + 0.05
    given = ReducedRankRegression(2, ridge=chosen.ridge_).fit(X[few], Y[few])
    np.testing.assert_allclose(chosen.Vx_, given.Vx_)


def test_learners_take_the_same_ridge(rng):
    X, Y = noisy(rng)
    chosen = OnlineBioRRR(2, ridge="cv", steps=2000, random_state=0).fit(X, Y)
    assert chosen.ridge_ == ReducedRankRegression(2, ridge="cv").fit(X, Y).ridge_
    given = OnlineBioRRR(2, ridge=chosen.ridge_, steps=2000, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(chosen.Vx_, given.Vx_)
    with pytest.raises(ValueError, match=r'ridge: "cv" needs all samples at once .*; use fit'):
        OnlineBioRRR(2, ridge="cv").partial_fit(X, Y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": 1}, r"folds: must lie between 2 and the number of samples, 80 \(got 1\)"),
        ({"ridges": [-1.0]}, "ridge: must be a number >= 0"),
        ({"s": 2.0}, r"s: must lie in \[0, 1\]"),
    ],
)
def test_errors_say_what_was_expected(rng, arguments, message):
    X, Y = noisy(rng)
    with pytest.raises(ValueError, match=message):
        choose_ridge(X, Y, 2, **arguments)
    with pytest.raises(
        ValueError, match='ridge: must be a number >= 0, a pair of them for Cxx and Cyy, or "cv"'
    ):
        ReducedRankRegression(2, ridge="best").fit(X, Y)

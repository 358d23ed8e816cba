"""A communication subspace that was planted is found, and nothing is found where there is none."""

import numpy as np
import pytest

from biorrr.analysis.communication import (
    FoldMoments,
    matched_units,
    predict_held_out,
    shuffled_trials,
    trial_folds,
)
from biorrr.sims.data import DataError, load


def examined(seed, **options):
    """Prediction, prediction with shuffled trials, and what one needs for more, of a planted
    recording.
    """
    data = load("planted", seed=seed, **options)
    m, n = data.X.shape[1], data.Y.shape[1]
    folds = trial_folds(data.groups, 10, conditions=np.zeros(len(data.X)), random_state=seed)
    ridge = 0.1 * data.X.var(axis=0).mean()
    moments = FoldMoments.of(data.X, data.Y, folds, data.strata)
    order = shuffled_trials(data.groups, np.random.default_rng(seed))
    shuffled = FoldMoments.of(data.X, data.Y[order], folds, data.strata)
    target = np.arange(m, m + n)
    told, null = (
        predict_held_out(one, range(m), target, ridge=ridge) for one in (moments, shuffled)
    )
    return data, moments, ridge, told, null


def agree(draws):
    """What must hold of any number of draws."""
    ranks, r2, nulls, within_ranks, within_r2 = [], [], [], [], []
    for seed in range(draws):
        data, moments, ridge, told, null = examined(seed)
        ranks.append(told.rank)
        r2.append(told.r2[2])
        nulls.append(null.r2[2])
        units = matched_units(data.x_rates, data.y_rates, np.random.default_rng(seed))
        within = predict_held_out(moments, units.source, units.within, ridge=ridge)
        within_ranks.append(within.rank)
        within_r2.append(within.r2[within.rank - 1])
    return tuple(map(np.array, (ranks, r2, nulls, within_ranks, within_r2)))


def test_cortical_rates():
    data = load("planted")
    assert (data.X.shape, data.Y.shape) == ((4000, 80), (4000, 30))
    assert 5 < np.median(data.x_rates) < 12
    assert (data.X.round() == data.X).all()
    with pytest.raises(DataError, match=r"planted rank: must lie between 0 and 8 \(got 9\)"):
        load("planted", rank=9)


def test_a_few_draws():
    ranks, r2, nulls, within_ranks, _ = agree(4)
    assert (ranks == 3).sum() >= 3
    assert ((r2 > 0.06) & (r2 < 0.16)).all()
    assert (nulls < 0).all()
    assert (within_ranks > 3).all()  # the source's own units share eight dimensions


@pytest.mark.slow
def test_the_planted_rank_is_found_in_nine_of_ten_draws():
    ranks, r2, nulls, within_ranks, within_r2 = agree(50)
    assert (ranks == 3).mean() >= 0.9
    assert 0.08 < r2.mean() < 0.13
    assert nulls.mean() <= 2 * nulls.std() / np.sqrt(len(nulls))
    assert (
        np.median(within_ranks) >= 6
    )  # eight were made; one standard error leaves out the weakest
    assert within_r2.mean() > r2.mean()


def test_nothing_is_found_where_nothing_was_planted():
    for seed in range(3):
        *_, told, null = examined(seed, rank=0)
        assert told.r2.max() < 2 * told.r2_sem.max()
        assert told.r2[2] == pytest.approx(null.r2[2], abs=0.01)

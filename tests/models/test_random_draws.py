"""Random numbers that depend on where they are drawn alone."""

import math

import numpy as np
import pytest
from scipy import stats

from biorrr.models import gaussian_draw, poisson_draw, uniform_draw


def test_uniform_draws_are_uniform_and_depend_on_every_word():
    draws = uniform_draw(1, 2, 3, np.arange(20_000))
    assert stats.kstest(draws, "uniform").pvalue > 1e-3
    for other in ((2, 2, 3), (1, 3, 3), (1, 2, 4)):
        assert abs(
            np.corrcoef(draws, uniform_draw(*other, np.arange(20_000)))[0, 1]
        ) < 4 / math.sqrt(20_000)


def test_gaussian_draws_are_gaussian():
    assert stats.kstest(gaussian_draw(1, 2, np.arange(20_000), 5), "norm").pvalue > 1e-3


@pytest.mark.parametrize("mean", [0.05, 3.0, 40.0, 900.0])
def test_poisson_draws_have_the_poisson_distribution(mean):
    draws = poisson_draw(mean, 1, 2, np.arange(5000), 0).astype(int)
    edges = np.unique(stats.poisson.ppf([0.02, 0.2, 0.4, 0.6, 0.8, 0.98], mean))
    probabilities = np.diff([0, *stats.poisson.cdf(edges, mean), 1])
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(probabilities))
    assert stats.chisquare(counts, probabilities * len(draws)).pvalue > 1e-3


def test_poisson_draws_of_large_mean_have_its_mean_and_variance():
    draws = poisson_draw(4e6, 1, 2, np.arange(5000), 0)
    assert draws.mean() == pytest.approx(4e6, abs=4 * math.sqrt(4e6 / 5000))
    assert draws.var() == pytest.approx(4e6, rel=4 * math.sqrt(2 / 5000))


def test_poisson_of_nothing_is_nothing_and_of_nan_is_nan():
    assert poisson_draw(0.0, 1, 2, 3, 0) == 0
    assert np.isnan(poisson_draw(np.nan, 1, 2, 3, 0))

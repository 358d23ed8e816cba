"""Departures as descriptions: the chance they share, the units they take, the values they refuse."""

import math

import brian2
import numpy as np
import pytest
from scipy import stats

from biorrr.models import (
    AllOrNone,
    DalesLaw,
    Freeze,
    Leaky,
    PyramidalNeurons,
    Rectified,
    Silence,
    SparseConnections,
    Spiking,
    chance,
)


def test_uniform_draws_are_uniform_and_depend_on_every_word():
    draws = chance.uniform_draw(1, 2, 3, np.arange(20_000))
    assert stats.kstest(draws, "uniform").pvalue > 1e-3
    for other in ((2, 2, 3), (1, 3, 3), (1, 2, 4)):
        assert abs(np.corrcoef(draws, chance.uniform_draw(*other, np.arange(20_000)))[0, 1]) < 4 / math.sqrt(20_000)


def test_gaussian_draws_are_gaussian():
    assert stats.kstest(chance.gaussian_draw(1, 2, np.arange(20_000), 5), "norm").pvalue > 1e-3


@pytest.mark.parametrize("mean", [0.05, 3.0, 40.0, 900.0])
def test_poisson_draws_have_the_poisson_distribution(mean):
    draws = chance.poisson_draw(mean, 1, 2, np.arange(5000), 0).astype(int)
    edges = np.unique(stats.poisson.ppf([0.02, 0.2, 0.4, 0.6, 0.8, 0.98], mean))
    probabilities = np.diff([0, *stats.poisson.cdf(edges, mean), 1])
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(probabilities))
    assert stats.chisquare(counts, probabilities * len(draws)).pvalue > 1e-3


def test_poisson_draws_of_large_mean_have_its_mean_and_variance():
    draws = chance.poisson_draw(4e6, 1, 2, np.arange(5000), 0)
    assert draws.mean() == pytest.approx(4e6, abs=4 * math.sqrt(4e6 / 5000))
    assert draws.var() == pytest.approx(4e6, rel=4 * math.sqrt(2 / 5000))


def test_poisson_of_nothing_is_nothing_and_of_nan_is_nan():
    assert chance.poisson_draw(0.0, 1, 2, 3, 0) == 0
    assert np.isnan(chance.poisson_draw(np.nan, 1, 2, 3, 0))


def test_altered_parts_are_equal_when_their_texts_are():
    cells = PyramidalNeurons(3)
    assert cells.extended(update="\nz = 0") == cells.extended(update="\nz = 0")
    assert cells.extended(update="\nz = 0") != cells
    assert cells.extended(update="\nz = 0").update.startswith(cells.update)


def test_times_are_quantities_or_milliseconds():
    assert Leaky(tau_soma=0.02 * brian2.second, hold=100 * brian2.ms) == Leaky(tau_soma=20, hold=100)
    assert Leaky(hold=100, dt=2).held == 50
    with pytest.raises(ValueError, match=r"Leaky.tau_soma: must be a time \(got .*\); write for example 10\*ms"):
        Leaky(tau_soma=3 * brian2.mV)
    with pytest.raises(ValueError, match=r"Leaky.hold: must be a whole number of ticks of dt = 3 ms \(got 100 ms\)"):
        Leaky(hold=100, dt=3)


def test_raster_has_every_spike_once():
    counts = np.array([[3, 0], [1, 200]])
    ticks, cells = Spiking(population=10).raster(counts)
    for tick in range(2):
        for population in range(2):
            assert np.sum((ticks == tick) & (cells // 10 == population)) == counts[tick, population]
    assert np.bincount(cells[ticks == 1][1:] % 10, minlength=10).max() < 20 + 4 * math.sqrt(20)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: AllOrNone(0.0), r"AllOrNone.amplitude: must be finite and at least .*Graded\(\)"),
        (lambda: Rectified(-1.0), "Rectified.baseline: must be finite and at least 0"),
        (lambda: Spiking(0), "Spiking.population: must be a whole number, at least 1"),
        (lambda: SparseConnections(1.2, 1.0), r"SparseConnections.proximal: must lie in \[0, 1\] \(got 1.2\)"),
        (lambda: DalesLaw(("P",)), "dale: must name matrices among 'Vx', 'Vy', 'Q', 'R' .got 'P'"),
        (lambda: Freeze(10, "W"), "Freeze.weight: must be one of 'Vx', 'Vy', 'Q', 'R'"),
        (lambda: Silence(-1), "Silence.at: must be a whole number, at least 0"),
    ],
)
def test_errors_say_what_to_do(make, text):
    with pytest.raises(ValueError, match=text):
        make()

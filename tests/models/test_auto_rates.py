"""What the policy of rates "auto" knows of the data beforehand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biorrr.models.auto_rates import Drive, plan


def test_what_the_policy_knows_of_the_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 6)) * [3, 1, 1, 1, 1, 0]
    Y = rng.standard_normal((4000, 3)) * [1, 2, 1]
    drive = Drive.of(X, Y, (0.0, 0.0))
    assert drive.power_x == pytest.approx(13, rel=0.05)
    assert drive.channel_y == pytest.approx(2, rel=0.05)
    assert drive.dimension_x == pytest.approx(13**2 / 85, rel=0.1)
    assert drive.strongest_y == pytest.approx(4, rel=0.1)
    # The ridge counts as input: of power 2 in each of six directions.
    ridged = Drive.of(X, Y, (2.0, 1.0))
    assert ridged.power_x == pytest.approx(13 + 12, rel=0.05)
    assert ridged.dimension_x == pytest.approx(25**2 / (11**2 + 4 * 3**2 + 2**2), rel=0.1)
    assert (ridged.strongest_y, ridged.ridge_y) == (drive.strongest_y, 1.0)
    # White data have as many directions as inputs, though there are far fewer samples than that.
    assert Drive.of(rng.standard_normal((60, 300)), Y[:60], (0, 0)).dimension_x == pytest.approx(
        300, rel=0.15
    )
    assert Drive.of(X[:1], Y[:1], (0, 0)).dimension_x == 6
    assert Drive.of(0 * X, 0 * Y, (0, 0)) == Drive(1.0, 1 / 3, 6.0, 1.0)


def test_rates_heed_events_that_are_rare_but_not_outliers():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((5000, 20)), rng.standard_normal((5000, 3))
    bursts = X * (np.arange(5000)[:, None] % 100 < 5)
    outliers = X * np.where(np.arange(5000)[:, None] % 1000, 1, 1000)
    drives = {
        name: Drive.of(x, Y, (0.0, 0.0))
        for name, x in (("even", X), ("rare", bursts), ("outliers", outliers))
    }
    assert drives["even"].tail_x == pytest.approx(1, abs=0.05)
    assert drives["rare"].tail_x == pytest.approx(1 / 0.05, rel=0.1)
    assert drives["outliers"].tail_x == pytest.approx(1, abs=0.1)
    # A ridge is input that all samples share.
    assert Drive.of(bursts, Y, (1.0, 0.0)).tail_x < 2
    even, rare = (plan(2, 0.0, replace(drives["even"], tail_x=tail)) for tail in (5.0, 20.0))
    assert rare["base_x"] == pytest.approx(even["base_x"] / 4)
    assert rare["base_q"] == pytest.approx(even["base_q"] / 4)
    assert rare["base_y"] == pytest.approx(even["base_y"])
    assert rare["single_q"] == pytest.approx(4 * even["single_q"])


def test_short_runs_hurry_and_long_runs_are_exact():
    """Q and Vy learn faster in short runs, Vx more slowly in long ones; both within limits."""
    names = ("base_x", "base_y", "base_q")
    usual = np.array([plan(2, 0.0, Drive.white(10), 1e5)[name] for name in names])
    expected = {1e3: (1, 5, 5), 1e4: (1, 10**0.4, 10**0.4), 1e6: (0.1**0.4, 1, 1), 1e9: (0.2, 1, 1)}
    for last, factors in expected.items():
        rates = np.array([plan(2, 0.0, Drive.white(10), last)[name] for name in names])
        np.testing.assert_allclose(rates / usual, factors)


@pytest.mark.parametrize("s", [0.0, 1.0])
@pytest.mark.parametrize("last", [1000.0, math.inf])
def test_rates_have_the_units_of_the_data(s, last):
    """With X times c and Y times d, Vx is 1/c of what it was, Vy d times at s = 0 and 1/d at s = 1,
    and Q d times at s = 0.
    """
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((500, 6)), rng.standard_normal((500, 4)) * [3, 1, 1, 0.5]
    c, d = 100.0, 0.01
    size_y, size_q = (1 / d, 1.0) if s else (d, d)
    before = Drive.of(X, Y, (0.1, 0.1))
    after = Drive.of(c * X, d * Y, (0.1 * c**2, 0.1 * d**2))
    one, other = (plan(3, s, drive, last) for drive in (before, after))
    factors = {"base_x": c**-2, "base_y": 1 / d**2 if s else 1.0, "least_gain": size_q**2}
    for name, value in one.items():
        assert other[name] == pytest.approx(value * factors.get(name, 1.0), rel=1e-9), name
    sizes = np.array([1 / c, size_y, size_q])
    np.testing.assert_allclose(after.start(s), sizes * before.start(s), rtol=1e-9)


def test_a_ridge_on_y_counts_at_s_above_0_alone():
    """One ridge for both, of the size of x: beside it y may be small."""
    rng = np.random.default_rng(0)
    X, Y = 1e3 * rng.standard_normal((500, 6)), rng.standard_normal((500, 4))
    plain, ridged = (Drive.of(X, Y, (1e5, ridge_y)) for ridge_y in (0.0, 1e5))
    assert plain.start(0.0) == ridged.start(0.0)
    assert plan(2, 0.0, plain) == plan(2, 0.0, ridged)
    assert ridged.start(1.0)[2] < 0.01 * plain.start(1.0)[2]  # the eigenvalues of M are as small

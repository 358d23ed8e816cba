"""What the policy of rates "auto" knows of the data beforehand."""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.models.auto_rates import ANNOUNCED, OPEN_ENDED, Drive


def test_what_the_policy_knows_of_the_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 6)) * [3, 1, 1, 1, 1, 0]
    Y = rng.standard_normal((4000, 3)) * [1, 2, 1]
    drive = Drive.of(X + 5, Y, (0.0, 0.0), (5.0, 0.0))
    assert drive.power_x == pytest.approx(13, rel=0.05)
    assert drive.power_y == pytest.approx(6, rel=0.05)
    assert drive.dimension_x == pytest.approx(13**2 / 85, rel=0.1)
    assert drive.strongest_y == pytest.approx(4, rel=0.1)
    # The ridge counts as input: of power 2 in each of six directions.
    ridged = Drive.of(X, Y, (2.0, 1.0))
    assert ridged.power_x == pytest.approx(13 + 12, rel=0.05)
    assert ridged.dimension_x == pytest.approx(25**2 / (11**2 + 4 * 3**2 + 2**2), rel=0.1)
    assert ridged.strongest_y == pytest.approx(5, rel=0.1)
    # White data have as many directions as inputs, though there are far fewer samples than that.
    assert Drive.of(rng.standard_normal((60, 300)), Y[:60], (0, 0)).dimension_x == pytest.approx(
        300, rel=0.15
    )
    assert Drive.of(X[:1], Y[:1], (0, 0)).dimension_x == 6
    assert Drive.of(0 * X, 0 * Y, (0, 0)) == Drive(1.0, 1.0, 6.0, 1.0)


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
    even, rare = (
        ANNOUNCED.plan(2, 0.0, replace(drives["even"], tail_x=tail)) for tail in (5.0, 20.0)
    )
    assert rare["base_x"] == pytest.approx(even["base_x"] / 4)
    assert rare["base_q"] == pytest.approx(even["base_q"] / 4)
    assert rare["base_q"] * rare["ratio_y"] == pytest.approx(even["base_q"] * even["ratio_y"])
    assert rare["single_q"] == pytest.approx(4 * even["single_q"])
    assert OPEN_ENDED.plan(2, 0.0, drives["even"]) == OPEN_ENDED.plan(
        2, 0.0, replace(drives["even"], tail_x=16.0)
    )

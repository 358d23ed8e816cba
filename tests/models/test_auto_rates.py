"""What the policy of rates "auto" knows of the data beforehand."""

import numpy as np
import pytest

from biorrr.models.auto_rates import Drive


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
    assert Drive.of(rng.standard_normal((60, 300)), Y[:60], (0, 0)).dimension_x == pytest.approx(300, rel=0.15)
    assert Drive.of(X[:1], Y[:1], (0, 0)).dimension_x == 6
    assert Drive.of(0 * X, 0 * Y, (0, 0)) == Drive(1.0, 1.0, 6.0, 1.0)

"""Learning rates as the paper writes them."""

import math

import numpy as np
import pytest

from biorrr.models import Rate, Rates


def test_a_rate_decays_hyperbolically():
    """eta(t) = eta0 / (1 + t/N) (supplement E, "Numerical experiment details")."""
    t = np.array([0, 1, 50, 100, 10**6])
    np.testing.assert_allclose(Rate(0.3, 100)(t), 0.3 / (1 + t / 100), rtol=1e-15)
    assert Rate(0.3, 100)(100) == pytest.approx(0.15)


def test_a_rate_without_N_is_constant():
    assert math.inf == Rate(0.3).N
    np.testing.assert_array_equal(Rate(0.3)(np.arange(5)), 0.3)


def test_scaled_rates_keep_their_decay():
    rates = Rates(Rate(1.0, 10), Rate(2.0, 20), Rate(3.0, 30)).scaled(0.5)
    assert (rates.x, rates.y, rates.q, rates.r) == (
        Rate(0.5, 10),
        Rate(1.0, 20),
        Rate(1.5, 30),
        Rate(1.5, 30),
    )


def test_R_learns_as_fast_as_Q_unless_told():
    """Only then does the theory promise R -> Q'."""
    assert Rates(Rate(1), Rate(1), Rate(0.2, 5)).r == Rate(0.2, 5)
    assert Rates(Rate(1), Rate(1), Rate(0.2, 5), r=Rate(0.1)).r == Rate(0.1)

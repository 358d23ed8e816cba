"""Learning rates as the paper writes them."""

import math

import numpy as np
import pytest

from biorrr.errors import InputError, InputTypeError
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
    rates = Rates(Rate(1.0, 10), Rate(2.0, 20), Rate(3.0, 30)).times(0.5)
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


def test_numbers_are_constant_rates():
    assert Rates(0.01) == Rates(Rate(0.01), Rate(0.01), Rate(0.01), Rate(0.01))
    assert Rates(0.1, q=0.02) == Rates(Rate(0.1), Rate(0.1), Rate(0.02), Rate(0.02))
    assert Rates(0.01, start=(0.1, 0.2, 0.3)).times(2) == Rates(0.02, start=(0.1, 0.2, 0.3))
    with pytest.raises(
        InputTypeError, match=r"Rates.y: must be a number \(got 'a'\); a rate that falls is Rate\("
    ):
        Rates(0.1, "a")
    with pytest.raises(InputError, match=r"Rates.x: must be finite and at least 0 \(got -1\)"):
        Rates(-1)


def related(rng, tails=False):
    """Return X (1000, 8) and Y (1000, 5) that have three latents in common."""
    latents = rng.standard_t(3, (1000, 3)) if tails else rng.standard_normal((1000, 3))
    X = latents @ rng.standard_normal((3, 8)) + 0.5 * rng.standard_normal((1000, 8))
    return X, latents @ rng.standard_normal((3, 5)) + 0.5 * rng.standard_normal((1000, 5))


@pytest.mark.parametrize("s", [0.0, 1.0])
def test_suggested_rates_have_the_units_of_the_data(s):
    """With X times c and Y times d the optimal Vx is 1/c of what it was, and at s = 0 Vy is d times
    as large, at s = 1 1/d; what a rate multiplies scales along.
    """
    X, Y = related(np.random.default_rng(0))
    c, d, ridge = 100.0, 0.01, 0.2
    once = Rates.suggested(X, Y, 2, s, ridge)
    scaled = Rates.suggested(c * X, d * Y, 2, s, (ridge * c**2, ridge * d**2))
    # QQ' has the units of M: those of Cyy at s = 0, none at s = 1.
    m = d**2 if s == 0 else 1.0
    by = {"x": 1 / (c**2 * m), "y": 1 / d**2 if s else 1.0, "q": 1.0, "r": 1.0}
    for path, factor in by.items():
        before, after = getattr(once, path).eta0, getattr(scaled, path).eta0
        assert after == pytest.approx(factor * before, rel=1e-9), path
    starts = once.start[0] / c, once.start[1] * math.sqrt(m) / (d if s else 1), once.start[2]
    assert scaled.start == pytest.approx((*starts[:2], starts[2] * math.sqrt(m)), rel=1e-9)


def test_suggested_rates_heed_strong_samples_and_noise():
    rng = np.random.default_rng(0)
    X, Y = related(rng)
    even = Rates.suggested(X, Y)
    tailed = Rates.suggested(*related(np.random.default_rng(0), tails=True))
    assert tailed.q.eta0 < even.q.eta0
    noisy = Rates.suggested(X, Y + 10 * rng.standard_normal(Y.shape))
    assert noisy.x.eta0 < even.x.eta0 / 3
    assert noisy.q.eta0 < even.q.eta0


def test_rates_are_suggested_for_data_that_say_something():
    X, Y = related(np.random.default_rng(0))
    for k in (1, 5):  # more cells than there are latents, and directions in which y is zero
        assert Rates.suggested(np.hstack([X, 0 * X]), Y[:, [0, 1, 1, 1, 1]], k).x.eta0 > 0
    with pytest.raises(InputError, match="X, Y: must be correlated, or there is nothing to learn"):
        Rates.suggested(X, 0 * Y)
    with pytest.raises(InputError, match="X, Y: must have as many samples as each other"):
        Rates.suggested(X, Y[1:])
    with pytest.raises(InputError, match=r"X: must be a table of finite numbers, .* \(got shape"):
        Rates.suggested(X[None], Y)
    with pytest.raises(InputError, match="k: must be a whole number, at most 5"):
        Rates.suggested(X, Y, 6)

"""Alg. 2: the compiled loop against the paper's equations, the ridge, R beside Q, the paper's rates
on real data.
"""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biorrr.analysis import ExactSolution, OnlineBioRRR
from biorrr.analysis.algorithms.estimator import shuffled_passes
from biorrr.models.rates import Rate, Rates

EXPLICIT = Rates(x=Rate(0.05, 300), y=Rate(0.02, 500), q=Rate(0.01, 1000), r=Rate(0.03))


def outer(a, b):
    return np.outer(a, b)


def twin(X, Y, Vx, Vy, Q, R, s, ridge_x, ridge_y, rates, last=None, known=None):
    """Alg. 2 in plain NumPy, as the docstring of OnlineBioRRR writes it; returns the weights after
    the last sample.

    Rates "auto" know the samples ``known`` (those presented unless given) and the end ``last``
    beforehand.
    """
    (m, k), (presented_x, presented_y), (X, Y) = Vx.shape, (X, Y), known or (X, Y)
    Cxx, Cyy = X.T @ X / len(X), Y.T @ Y / len(Y)
    Cxx_ridged, strongest = Cxx + ridge_x * np.eye(m), np.linalg.eigvalsh(Cyy)[-1]
    # trace(Cxx^2) from pairs of different samples
    squares = (np.sum((X @ X.T) ** 2) - np.sum(np.sum(X**2, axis=1) ** 2)) / (len(X) * (len(X) - 1))
    D = np.clip(np.trace(Cxx) ** 2 / squares, 1, m)
    D = np.trace(Cxx_ridged) ** 2 / (
        np.trace(Cxx) ** 2 / D + 2 * ridge_x * np.trace(Cxx) + m * ridge_x**2
    )
    power = 0.0
    for t, (x, y) in enumerate(zip(presented_x, presented_y, strict=True)):
        z, a = Vx.T @ x, Vy.T @ y
        n = R @ z
        if rates == "auto":
            x2, y2 = x @ x + m * ridge_x, y @ y + ridge_y
            left = 1 / (1 + t / 10_000) if last is None else 1 - t / last
            hurry = 1.0 if last is None else min((1e5 / last) ** 0.4, 5)
            power += (z @ z / k - power) / 400
            wanted = left * np.clip(power, min(0.13 * hurry, 1), 1)
            wanted *= hurry * (0.0023 + 0.003 * s) / k**0.25 / (1 + k**0.75 * D / 200)
            b = (np.trace(Cyy) / len(Cyy)) ** 0.4 * strongest**0.6 + ridge_y
            eta_x = min(
                left**1.5 * 1.4 / np.trace(Cxx_ridged), left**0.5 * min(1.2, 0.4 * k) / x2
            ) / np.trace(Q @ Q.T)
            eta_y = min(
                (0.47 + 0.33 * s) / k**0.75 * wanted / (1 - s + s * b),
                left**0.5 * 0.1 / (1 - s + s * y2),
            )
            eta_q = eta_r = min(wanted, left**0.5 * 0.1 / (z @ z))
        else:
            eta_x, eta_y, eta_q, eta_r = rates.x(t), rates.y(t), rates.q(t), rates.r(t)
        gram = Vx.T @ Vx
        Vx, Vy, Q, R = (
            Vx + eta_x * (outer(x, a - Q @ n) - ridge_x * Vx @ (Q @ R).T),
            Vy + eta_y * (outer(y, z - s * a) - (1 - s) * Vy - s * ridge_y * Vy),
            Q + eta_q * (outer(z, n) - Q + ridge_x * gram @ R.T),
            R + eta_r * (outer(n, z) - R + ridge_x * R @ gram),
        )
    return Vx, Vy, Q, R


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([(0.0, 0.0), (0.1, 0.1), (0.3, 0.05)]),
    st.sampled_from([EXPLICIT, "auto"]),
)
@settings(max_examples=40, deadline=None)
def test_the_compiled_loop_is_the_papers_algorithm(seed, s, ridge, rates):
    rng = np.random.default_rng(seed)
    m, n, n_samples = rng.integers(1, 9), rng.integers(1, 9), 120
    k = rng.integers(1, min(m, n) + 1)
    l = k + rng.integers(0, 3)
    X, Y = rng.standard_normal((n_samples, m)), rng.standard_normal((n_samples, n))
    starts = {
        "Vx0": rng.standard_normal((m, k)) / 10,
        "Vy0": rng.standard_normal((n, k)) / 10,
        "Q0": np.eye(k, l) / 2,
        "R0": np.eye(l, k) / 3,
    }
    bio = OnlineBioRRR(int(k), s=s, ridge=ridge, rates=rates, **starts).partial_fit(X, Y)
    for learned, expected in zip(
        (bio.Vx_, bio.Vy_, bio.Q_, bio.R_),
        twin(X, Y, *starts.values(), s, *ridge, rates),
        strict=True,
    ):
        np.testing.assert_allclose(learned, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_fit_knows_its_end_and_cools_down(rng, s):
    X, Y = rng.standard_normal((2, 150, 5))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    starts = {"Vx0": rng.standard_normal((5, 2)) / 10, "Vy0": rng.standard_normal((5, 2)) / 10}
    starts |= {"Q0": np.eye(2) / 2, "R0": np.eye(2) / 3}
    bio = OnlineBioRRR(2, s=s, ridge=0.1, steps=400, random_state=4, **starts).fit(X, Y)
    order = shuffled_passes(len(X), 400, np.random.RandomState(4))
    expected = twin(
        X[order], Y[order], *starts.values(), s, 0.1, 0.1, "auto", last=400, known=(X, Y)
    )
    for learned, weights in zip((bio.Vx_, bio.Vy_, bio.Q_, bio.R_), expected, strict=True):
        np.testing.assert_allclose(learned, weights, rtol=1e-9, atol=1e-12)


def test_q_is_shared_unless_r_is_its_own(rng):
    X, Y = rng.standard_normal((2, 400, 4))
    rates = Rates(Rate(0.02), Rate(0.02), Rate(0.01, 1000))
    shared = OnlineBioRRR(k=2, ridge=0.1, rates=rates, random_state=0).partial_fit(X, Y)
    np.testing.assert_array_equal(shared.R_, shared.Q_.T)
    # R meets Q' as supplement D says: the distance shrinks by 1 - eta at each sample, whatever the
    # data and the ridge.
    Q0, R0 = np.eye(2) / 3, np.array([[0.5, 0.1], [-0.1, 0.4]])
    apart = OnlineBioRRR(k=2, ridge=0.1, rates=rates, random_state=0, Q0=Q0, R0=R0).partial_fit(
        X, Y
    )
    left = np.prod(1 - rates.q(np.arange(400)))
    np.testing.assert_allclose(apart.Q_.T - apart.R_, left * (Q0.T - R0), rtol=1e-9)


def test_the_ridge_is_that_of_the_objective(rng):
    X = rng.standard_normal((2000, 6)) * [3, 2, 1, 0.5, 0.3, 0.1]
    Y = X @ rng.standard_normal((6, 5)) + rng.standard_normal((2000, 5))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    for ridge in (1.0, (2.0, 0.1)):
        learned = [
            OnlineBioRRR(k=2, s=0.7, ridge=ridge, random_state=seed).fit(X, Y).Vx_
            for seed in range(3)
        ]
        assert ExactSolution(X, Y, 0.7, ridge).excess(learned).max() < 0.005
        assert ExactSolution(X, Y, 0.7, ridge).whitening_error(learned).mean() < 0.01
        assert ExactSolution(X, Y, 0.7, 0.0).excess(learned).min() > 0.01  # and of no other


def test_divergence_is_an_error_that_says_what_to_do(rng):
    X, Y = rng.standard_normal((2, 500, 4))
    with pytest.raises(
        FloatingPointError, match=r"OnlineBioRRR: .* diverged by t = \d+\); lower the rates"
    ):
        OnlineBioRRR(rates=Rates(Rate(50), Rate(50), Rate(50)), random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rates": "fast"}, r"rates: must be a Rates or \"auto\" \(got 'fast'\)"),
        ({"rates": 0.1}, r"rates: must be a Rates or \"auto\" \(got 0.1\)"),
        ({"s": 1.5}, r"s: must lie in \[0, 1\] \(got 1.5\)"),
        (
            {"Vx0": np.ones((3, 1))},
            r"Vx0: must be finite, of shape \(4, 1\) \(got shape \(3, 1\)\)",
        ),
        ({"Q0": np.ones((2, 1))}, r"Q0: must be finite, of shape \(1, 1\)"),
        ({"R0": np.ones((1, 2))}, r"R0: must be finite, of shape \(1, 1\)"),
    ],
)
def test_errors_say_what_was_expected(rng, parameters, message):
    X, Y = rng.standard_normal((2, 20, 4))
    with pytest.raises(ValueError, match=message):
        OnlineBioRRR(**parameters).fit(X, Y)


def test_silent_inputs_do_no_harm(rng):
    X, Y = rng.standard_normal((2, 300, 3))
    X[:50] = Y[:70] = 0
    bio = OnlineBioRRR(k=2, random_state=0).partial_fit(X, Y)
    assert np.isfinite(bio.Vx_).all()


@pytest.mark.skipif(
    "BIORRR_DATA" not in os.environ, reason="needs MediaMill: set BIORRR_DATA to the data folder"
)
@pytest.mark.parametrize("s", [0, 1])
@pytest.mark.parametrize(("k", "bound", "seeds"), [(1, 0.001, 3), (2, 0.001, 5), (4, 0.005, 9)])
def test_the_papers_rates_reach_the_optimum_on_mediamill(s, k, bound, seeds):
    from biorrr.sims.data import load

    data = load("mediamill").centred()
    solution = ExactSolution(data.X, data.Y, s, ridge=0.1)
    rates = Rates.paper("mediamill", s, k)
    runs = [
        OnlineBioRRR(k, s=s, ridge=0.1, rates=rates, random_state=seed).fit(data.X, data.Y)
        for seed in range(seeds)
    ]
    excess = [solution.excess(run.Vx_) for run in runs]
    # At these rates a weak component's inhibition sometimes dies out early and takes longer than
    # 1e5 samples to return: of 60 seeds, 2 (s = 0) and 5 (s = 1) stay above the bound at k = 4, and
    # 3 and 2 at k = 2. Hence the median.
    assert np.median(excess) < bound
    if k == 1:
        assert max(excess) < bound

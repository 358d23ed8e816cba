"""Alg. 1: the paper's equations, its rates on real data, and what ends it."""

import os

import numpy as np
import pytest

from biorrr.analysis import ExactSolution, OfflineBioRRR
from biorrr.analysis.regression.exact_solution import covariances, sigma_inverse
from biorrr.models.rates import Rate, Rates


@pytest.fixture
def data(rng):
    X = rng.standard_normal((500, 5))
    Y = X @ rng.standard_normal((5, 4)) + rng.standard_normal((500, 4))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def test_three_iterations_by_hand(data, rng):
    X, Y = data
    rates = Rates(Rate(0.1, 10), Rate(0.05), Rate(0.02, 5))
    Vx, Vy, Q = (
        rng.standard_normal((5, 2)),
        rng.standard_normal((4, 2)),
        rng.standard_normal((2, 3)),
    )
    starts = {"Vx0": Vx, "Vy0": Vy, "Q0": Q}
    bio = OfflineBioRRR(k=2, s=0.3, ridge=(0.1, 0.2), rates=rates, steps=3, **starts).fit(X, Y)
    Cxx, Cxy, Cyy = covariances(X, Y, (0.1, 0.2))
    for t in range(3):
        Vx = Vx + rates.x(t) * (Cxy @ Vy - Cxx @ Vx @ Q @ Q.T)
        Vy = Vy + rates.y(t) * (Cxy.T @ Vx - sigma_inverse(Cyy, 0.3) @ Vy)
        Q = Q + rates.q(t) * (Vx.T @ Cxx @ Vx - np.eye(2)) @ Q
    for learned, expected in zip((bio.Vx_, bio.Vy_, bio.Q_), (Vx, Vy, Q), strict=True):
        np.testing.assert_allclose(learned, expected, rtol=1e-12)


def test_it_stops_where_supplement_c_says_the_optimum_is(data):
    X, Y = data
    bio = OfflineBioRRR(k=2, s=0.5, ridge=0.1, random_state=0).fit(X, Y)
    assert bio.path_.t[-1] < bio.steps
    Cxx, Cxy, Cyy = covariances(X, Y, 0.1)
    np.testing.assert_allclose(Cxy @ bio.Vy_, Cxx @ bio.Vx_ @ bio.Q_ @ bio.Q_.T, atol=1e-6)
    np.testing.assert_allclose(Cxy.T @ bio.Vx_, sigma_inverse(Cyy, 0.5) @ bio.Vy_, atol=1e-6)
    np.testing.assert_allclose(bio.Vx_.T @ Cxx @ bio.Vx_, np.eye(2), atol=1e-6)
    eigenvalues = np.linalg.eigvalsh(bio.Q_ @ bio.Q_.T)[::-1]
    np.testing.assert_allclose(
        eigenvalues, ExactSolution(X, Y, 0.5, 0.1).eigenvalues[:2], rtol=1e-6
    )
    assert OfflineBioRRR(k=2, steps=1500, tol=0, random_state=0).fit(X, Y).path_.t.tolist() == [
        1500
    ]


@pytest.mark.skipif(
    "BIORRR_DATA" not in os.environ, reason="needs MediaMill: set BIORRR_DATA to the data folder"
)
@pytest.mark.parametrize("s", [0, 1])
@pytest.mark.parametrize("k", [1, 2, pytest.param(4, marks=pytest.mark.slow)])
def test_the_papers_rates_reach_the_optimum_on_mediamill(s, k):
    from biorrr.sims.data import load

    data = load("mediamill").centred()
    rates = Rates.paper("mediamill", s, k, "offline")
    bio = OfflineBioRRR(k, s=s, ridge=0.1, rates=rates, random_state=0).fit(data.X, data.Y)
    assert ExactSolution(data.X, data.Y, s, ridge=0.1).excess(bio.Vx_) < 1e-9

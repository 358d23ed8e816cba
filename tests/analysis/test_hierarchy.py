"""Areas with apical feedback, solved exactly: the eigenproblem, the hierarchy, and scores that can
say no.
"""

import numpy as np
import pytest
from scipy import linalg

from biorrr.analysis import ExactHierarchy, ReducedRankRegression, plateau_theory
from biorrr.models import AreaWeights, settled_filters


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6)) @ rng.standard_normal((6, 6))
    Y = X @ rng.standard_normal((6, 4)) / 3 + 1.5 * rng.standard_normal((300, 4))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


@pytest.mark.parametrize(("c", "rho", "ridge"), [(0.3, 1.0, 0.0), (2.0, 0.7, 0.5)])
def test_one_area_is_an_eigenproblem(c, rho, ridge, data):
    """Written out in the space of samples: Z is sqrt(rho T) times eigenvectors of YY'/T + (rho/c)
    P_X.
    """
    X, Y, T, k = *data, len(data[0]), 2
    tall = np.vstack([X, np.sqrt(T * ridge) * np.eye(6)])
    taught = np.vstack([Y, np.zeros((6, 4))])
    U = linalg.orth(tall)
    eigenvalues, vectors = linalg.eigh(taught @ taught.T / T + rho / c * U @ U.T)
    solution = ExactHierarchy(X, Y, (1, c), rho, ridge=ridge)
    best = solution.solve((k,))
    assert best.objective == pytest.approx((c / rho * eigenvalues[-k:] - 1).sum())
    Z = np.hstack([tall, taught]) @ best.filters[0]
    np.testing.assert_allclose(Z.T @ Z / T, rho * np.eye(k), atol=1e-10)
    assert linalg.subspace_angles(Z, vectors[:, -k:]).max() < 1e-6


def test_without_feedback_it_is_reduced_rank_regression(data):
    weak = ExactHierarchy(*data, gains=(1, 1e-7)).solve((2,))
    plain = ReducedRankRegression(2).fit(*data)
    assert linalg.subspace_angles(weak.filters[0][:6], plain.Vx_).max() < 1e-5
    strong = ExactHierarchy(*data, gains=(1, 2))
    # Where feedback is strong the feed-forward solution is not the optimum, and the score says so.
    forward = np.vstack([plain.Vx_, np.zeros((4, 2))])
    assert strong.excess([forward]) > 0.03


@pytest.mark.parametrize("areas", [(3, 2), (2, 2), (2, 3), (4, 3, 2)])
def test_every_start_leads_to_the_same_value_and_nothing_near_is_better(areas, data):
    gains = (*(1.0, 0.8, 1.3, 0.5)[: len(areas)], 0.6)
    solution = ExactHierarchy(*data, gains=gains)
    best = solution.solve(areas, starts=8)
    assert np.ptp(best.starts) < 1e-9 * best.objective
    assert solution.excess(best.filters, best) == pytest.approx(0, abs=1e-9)
    rng = np.random.default_rng(1)
    for size in (1e-3, 0.03, 1.0):
        other = [
            f + size * np.abs(f).max() * rng.standard_normal(f.shape) * (np.abs(f).sum(0) > 0)
            for f in best.filters
        ]
        assert solution.excess(other, best) > 0


def test_a_direction_below_the_threshold_is_silent(data):
    """With more cells than the area below offers, a weak y cannot pay for the rest."""
    solution = ExactHierarchy(*data, gains=(1, 1, 0.05))
    best = solution.solve((2, 3))
    assert best.above_threshold == [2, 2]
    assert np.linalg.matrix_rank(best.filters[1]) == 2
    strong = ExactHierarchy(*data, gains=(1, 1, 5)).solve((2, 3))
    assert strong.above_threshold == [2, 3]


@pytest.mark.parametrize("areas", [(2,), (3, 2)])
def test_weights_at_the_optimum_settle_to_it_and_stay(areas, data):
    """At the fixed point A meets W', and plateaus are uncorrelated with their input and are what
    theory says.
    """
    X, Y = data
    gains = (1.0, 0.8, 1.3)[: len(areas) + 1]
    solution = ExactHierarchy(X, Y, gains, rho=0.9)
    best = solution.solve(areas)
    weights = solution.weights(best.filters)
    settled = settled_filters([AreaWeights(**one, R=one["Q"].T) for one in weights], gains)
    chain = [X, *(np.hstack([X, Y]) @ filters for filters in settled), Y]
    for i, w in enumerate(weights):
        below, z, above = chain[i : i + 3]
        np.testing.assert_allclose(np.hstack([X, Y]) @ best.filters[i], z, atol=1e-6)
        plateau = above @ w["A"] - z @ w["Q"] @ w["Q"].T
        assert np.abs(below.T @ plateau).max() / len(X) < 1e-6
        np.testing.assert_allclose(above.T @ z / len(X), 0.9 * w["A"], atol=1e-6)
        c = gains[i + 1] / gains[i]
        np.testing.assert_allclose(
            plateau_theory(w["A"], w["Q"], c, below, above), plateau, atol=1e-5
        )
        assert not np.allclose(
            plateau_theory(w["A"], w["Q"], 2 * c, below, above), plateau, atol=1e-3
        )
    if len(areas) == 2:
        np.testing.assert_allclose(weights[0]["A"].T, weights[1]["W"], atol=1e-6)


def test_untrained_outputs_score_as_untrained(data):
    solution = ExactHierarchy(*data, gains=(1, 1, 1))
    drawn = np.random.default_rng(2).standard_normal((6, 2))
    passed = np.vstack([drawn, np.zeros((4, 2))])
    white = passed @ linalg.inv(linalg.sqrtm(drawn.T @ data[0].T @ data[0] @ drawn / len(data[0])))
    assert solution.excess([white, white]) > 0.3


@pytest.mark.parametrize(
    ("areas", "given", "said"),
    [
        (
            (3, 2),
            {"gains": (1, 1)},
            "gains: must be 3 numbers, one for each link from x to the first of 2 areas up to y",
        ),
        ((3, 2), {"gains": (1, -1, 1)}, "gains: must be positive numbers"),
        ((3, 0), {}, "areas: must be the number of cells of each area"),
        ((30, 2), {}, "areas: no area can have more cells than x and y have directions, 10"),
        ((3, 2), {"rho": 0}, "rho: must be a positive number"),
    ],
)
def test_what_cannot_be(areas, given, said, data):
    with pytest.raises(ValueError, match=said):
        ExactHierarchy(*data, **{"gains": (1, 1, 1)} | given).solve(areas)

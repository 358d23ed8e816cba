"""Metrics: each against its formula written out, and against what the theory says of it."""

import os

import numpy as np
import pytest
from scipy import linalg

from biorrr.analysis import (
    ExactSolution,
    baselines,
    excess,
    objective,
    principal_angles,
    r2,
    whitening_error,
)
from biorrr.analysis.plateau import backpropagated_error
from biorrr.analysis.regression.exact_solution import covariances, sigma_inverse, symmetric_power
from biorrr.sims.data import load

RIDGE = (0.2, 0.3)


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 7)) @ rng.standard_normal((7, 7)) + 1
    return X, X[:, :3] @ rng.standard_normal((3, 5)) + rng.standard_normal((80, 5))


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_objective_is_the_quantity_the_paper_plots(data, s, rng):
    X, Y = data
    C = covariances(X, Y, RIDGE)
    Vx = rng.standard_normal((7, 3))
    white = Vx @ symmetric_power(Vx.T @ C.xx @ Vx, -0.5)
    expected = -np.trace(white.T @ C.xy @ linalg.solve(sigma_inverse(C.yy, s), C.xy.T) @ white)
    assert objective(Vx, X, Y, s, RIDGE) == pytest.approx(expected, rel=1e-12)
    optimum = ExactSolution(X, Y, s, RIDGE).optimum(3)
    assert excess(Vx, X, Y, s, RIDGE) == pytest.approx(
        (expected - optimum) / abs(optimum), rel=1e-12
    )


def test_objective_sees_the_span_alone(data, rng):
    solution = ExactSolution(*data, 0.5, RIDGE)
    Vx = rng.standard_normal((7, 3))
    assert solution.objective(Vx @ rng.standard_normal((3, 3))) == pytest.approx(
        solution.objective(Vx), rel=1e-10
    )
    # A filter repeated adds nothing, and one that is silent neither.
    assert solution.objective(Vx[:, [0, 1, 1]]) == pytest.approx(
        solution.objective(Vx[:, :2]), rel=1e-10
    )
    assert solution.objective(Vx * [1, 1, 0]) == pytest.approx(
        solution.objective(Vx[:, :2]), rel=1e-10
    )


def test_snapshots_score_as_they_do_one_by_one(data, rng):
    solution = ExactSolution(*data, 1.0, RIDGE)
    Vx = rng.standard_normal((4, 7, 2))
    for score in (
        solution.objective,
        solution.excess,
        solution.whitening_error,
    ):
        np.testing.assert_allclose(score(Vx), [score(V) for V in Vx], rtol=1e-12)


def test_a_diverged_snapshot_scores_nan_and_leaves_the_others_alone(data, rng):
    solution = ExactSolution(*data)
    Vx = rng.standard_normal((3, 7, 2))
    before = solution.excess(Vx)
    Vx[1, 0, 0] = np.inf
    np.testing.assert_array_equal(solution.excess(Vx), [before[0], np.nan, before[2]])
    assert np.isnan(solution.whitening_error(Vx)).tolist() == [False, True, False]
    assert solution.whitening_error(1e100 * Vx[0]) == np.inf


def test_untrained_filters_and_unpredictable_data(data, rng):
    X, Y = data
    assert excess(np.zeros((7, 2)), X, Y) == 1  # nothing learned
    assert excess(rng.standard_normal((7, 2)), X, np.zeros_like(Y)) == 0  # nothing to learn


def test_whitening_error(data, rng):
    X, Y = data
    Vx = rng.standard_normal((7, 3))
    expected = linalg.norm(Vx.T @ covariances(X, Y, RIDGE).xx @ Vx - np.eye(3)) ** 2 / 3
    assert whitening_error(Vx, X, RIDGE) == pytest.approx(expected, rel=1e-12)
    assert ExactSolution(X, Y, ridge=RIDGE).whitening_error(Vx) == pytest.approx(
        expected, rel=1e-10
    )
    assert whitening_error(ExactSolution(X, Y, ridge=RIDGE).Vx(3), X, RIDGE) < 1e-20


def test_principal_angles_in_the_two_metrics(rng):
    theta = 0.3
    A, B = np.eye(4)[:, :2], np.eye(4)[:, :2].copy()
    B[:, 1] = np.cos(theta) * np.eye(4)[1] + np.sin(theta) * np.eye(4)[2]
    np.testing.assert_allclose(
        principal_angles(A, B @ rng.standard_normal((2, 2))), [np.degrees(theta), 0], atol=1e-5
    )
    # Where the input varies tenfold along the first axis, the same two filters have nearly the same
    # output.
    X = linalg.qr(rng.standard_normal((50, 2)), mode="economic")[0] * [10, 1]
    first, diagonal = [[1.0], [0.0]], [[1.0], [1.0]]
    assert principal_angles(first, diagonal) == pytest.approx([45])
    assert principal_angles(first, diagonal, X) == pytest.approx(np.degrees(np.arctan(0.1)))
    assert principal_angles(first, diagonal, 1e-9 * X, ridge=1.0) == pytest.approx([45])


def test_aligning_undoes_a_rotation_and_nothing_else(data, rng):
    X, Y = data
    solution = ExactSolution(X, Y, ridge=RIDGE)
    exact = solution.Vx(3)
    rotation = linalg.qr(rng.standard_normal((3, 3)))[0]
    np.testing.assert_allclose(solution.aligned(exact @ rotation), exact, atol=1e-12)
    learned = exact @ rotation + 0.1 * rng.standard_normal(exact.shape)
    aligned = solution.aligned(learned)
    assert whitening_error(aligned, X, RIDGE) == pytest.approx(whitening_error(learned, X, RIDGE))

    def distance(V):
        return np.trace((V - exact).T @ covariances(X, Y, RIDGE).xx @ (V - exact))

    others = [learned @ linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(50)]
    assert all(distance(aligned) <= distance(V) for V in others)


def test_r2_pools_responses():
    Y = np.array([[1.0, 10.0], [3.0, 10.0]])
    assert r2(Y, Y) == 1
    assert r2(Y, Y.mean(axis=0) + np.zeros((2, 2))) == 0
    assert r2(Y, [[1, 11], [3, 10]]) == 1 - 1 / 2
    assert r2(Y, [[1, 11], [3, 10]], baseline=[0, 0]) == 1 - 1 / 210
    with pytest.raises(
        ValueError, match=r"predicted: must have the shape of Y, \(2, 2\) \(got \(2, 1\)\)"
    ):
        r2(Y, Y[:, :1])


def test_errors_name_what_came_and_what_was_expected(data):
    X, Y = data
    with pytest.raises(
        ValueError, match=r"Vx: must have shape \(..., 7, k\) with k from 1 to 5 \(got \(6, 2\)\)"
    ):
        objective(np.ones((6, 2)), X, Y)
    with pytest.raises(
        ValueError, match=r"Y: must have a row for each of the 80 rows of X \(got 79\)"
    ):
        objective(np.ones((7, 2)), X, Y[1:])
    with pytest.raises(
        ValueError, match=r"X: must be two-dimensional.*\(got shape \(80,\)\); one channel is X"
    ):
        objective(np.ones((1, 1)), X[:, 0], Y)
    with pytest.raises(ValueError, match=r"Y: must be finite \(got 1 NaN or infinite values\)"):
        objective(np.ones((7, 2)), X, np.where(Y[0, 0] == Y, np.nan, Y))
    with pytest.raises(
        ValueError,
        match=r"V: must have a row for each of the 7 columns of X \(got shape \(6, 2\)\)",
    ):
        principal_angles(np.ones((6, 2)), np.ones((7, 2)), X)


def test_masked_values_are_refused(data, rng):
    X, Y = data
    Vx, masked = rng.standard_normal((7, 3)), np.ma.masked_greater(X, X.max() - 0.1)
    for score in (
        lambda: objective(Vx, masked, Y),
        lambda: excess(Vx, masked, Y),
        lambda: whitening_error(Vx, masked),
        lambda: principal_angles(Vx, Vx, masked),
        lambda: r2(masked, X),
        lambda: backpropagated_error(masked, Y, Vx, Y.T[:, :3], Vx),
    ):
        with pytest.raises(
            ValueError,
            match=r"[XY]: must have no masked values, .* \(got 1\); drop or fill them first",
        ):
            score()


def test_baselines_are_the_excess_of_the_filters_that_they_name(data, rng):
    X, Y = data
    exact = ExactSolution(X, Y, 0.5, RIDGE)
    found = baselines(exact, k=2)
    first = exact.Vx(3)
    planes = [first @ rng.standard_normal((3, 2)) for _ in range(4000)]
    assert found.random_plane == pytest.approx(exact.excess(np.stack(planes)).mean(), rel=0.05)
    components = linalg.eigh(X.T @ X, subset_by_index=(5, 6))[1]
    assert found.principal_components == pytest.approx(exact.excess(components), rel=1e-9)
    assert found.exchange == pytest.approx(exact.excess(first[:, [0, 2]]), rel=1e-9)


def test_baselines_where_there_is_no_further_filter(data):
    X, Y = data
    assert baselines(ExactSolution(X[:, :3], Y), k=3) == (0, 0, 0)  # any three filters span x
    one_target = baselines(ExactSolution(X, Y[:, :1]), k=1)
    assert (one_target.random_plane, one_target.exchange) == (0.5, 1)


@pytest.mark.parametrize(
    ("name", "expected"), [("digits", (2.3, 11.9, 1.3)), ("v1v2", (31.2, 34.1, 13.7))]
)
def test_baselines_of_data(name, expected):
    if name == "v1v2" and not os.environ.get("BIORRR_DATA"):
        pytest.skip("needs v1v2/sample_data.mat of Semedo et al. (2019) in $BIORRR_DATA")
    data = load(name).centred()
    found = baselines(ExactSolution(data.X, data.Y, 0.0, 0.1 * np.square(data.X).mean()), k=2)
    assert [round(100 * excess, 1) for excess in found] == [*expected]

"""Plateau, multiplier and symmetry: exact where the theory is exact, and seen to fail where it
should.
"""

import tracemalloc

import numpy as np
import pytest
from scipy import linalg

from biorrr.analysis import Agreement, ExactSolution, audit_plateau, symmetry_decay
from biorrr.models import Rate

FAMILY = [(0.0, 0.0), (0.4, 0.0), (1.0, 0.0), (0.0, 0.1), (0.4, (0.2, 0.1)), (1.0, 0.1)]


@pytest.fixture
def data(rng):
    X = rng.standard_normal((300, 8))
    return X, X[:, :4] @ rng.standard_normal((4, 6)) + rng.standard_normal((300, 6))


def optimum(X, Y, s, ridge, k=3):
    """Vx, Vy and Q at the optimum, turned by a rotation of the neurons that theory leaves free."""
    solution = ExactSolution(X, Y, s, ridge)
    turn, mix = (
        linalg.qr(np.random.default_rng(seed).standard_normal((k, k)))[0] for seed in (1, 2)
    )
    Q = turn.T @ np.diag(np.sqrt(solution.eigenvalues[:k])) @ mix
    return solution.Vx(k) @ turn, solution.Vy(k) @ turn, Q


@pytest.mark.parametrize(("s", "ridge"), FAMILY)
def test_at_the_optimum_the_plateau_is_the_backpropagated_error(data, s, ridge):
    audit = audit_plateau(*data, *optimum(*data, s, ridge), ridge=ridge)
    for agreement in (
        audit.plateau_and_error,
        Agreement.between(audit.inhibition, audit.prediction),
    ):
        np.testing.assert_allclose(agreement.correlation, 1, atol=1e-10)
        np.testing.assert_allclose(agreement.relative_error, 0, atol=1e-10)


def test_the_regression_is_written_out(data):
    X, Y = data
    Vx, Vy, Q = optimum(X, Y, 0.0, 0.1)
    audit = audit_plateau(X, Y, Vx, Vy, Q, ridge=0.1)
    y_tilde = X @ linalg.solve(X.T @ X / 300 + 0.1 * np.eye(8), X.T @ Y / 300)
    np.testing.assert_allclose(audit.error, (Y - y_tilde) @ Vy, atol=1e-10)
    np.testing.assert_allclose(audit.plateau, Y @ Vy - X @ Vx @ Q @ Q.T, atol=1e-10)


def test_away_from_the_optimum_it_is_not(data, rng):
    Vx, Vy, Q = optimum(*data, 0.0, 0.0)
    strayed = audit_plateau(*data, Vx + 0.5 * rng.standard_normal(Vx.shape), Vy, Q)
    assert (strayed.plateau_and_error.correlation < 0.99).all()
    assert (strayed.plateau_and_error.relative_error > 0.1).all()
    uncoupled = audit_plateau(*data, Vx, Vy, Q, R=-Q.T)
    np.testing.assert_allclose(uncoupled.inhibition, -audit_plateau(*data, Vx, Vy, Q).inhibition)


def test_snapshots_are_audited_together(data, rng):
    weights = [np.stack([W, W + rng.standard_normal(W.shape)]) for W in optimum(*data, 0.0, 0.0)]
    audit = audit_plateau(*data, *weights)
    assert audit.plateau.shape == (2, 300, 3)
    assert audit.plateau_and_error.correlation.shape == (2, 3)
    last = audit_plateau(*data, *(W[1] for W in weights))
    np.testing.assert_allclose(
        audit.plateau_and_error.correlation[1], last.plateau_and_error.correlation
    )


def test_a_silent_neuron_agrees_with_nothing(data):
    Vx, Vy, Q = optimum(*data, 0.0, 0.0)
    audit = audit_plateau(*data, Vx * [0, 1, 1], Vy * [0, 1, 1], Q)
    assert np.isnan(audit.plateau_and_error.correlation).tolist() == [True, False, False]


@pytest.fixture
def interneurons(rng):
    """Snapshots of unrelated Q and R under the Hebbian rules of supplement D, driven by random
    activity.
    """

    def learn(rate, T, first=0):
        Q, R = rng.standard_normal((2, 3)), rng.standard_normal((3, 2))
        seen, kept = [first], [(Q, R)]
        for t in range(first, first + T):
            z, n = rng.standard_normal(2), rng.standard_normal(3)
            Q, R = Q + rate(t) * (np.outer(z, n) - Q), R + rate(t) * (np.outer(n, z) - R)
            if t % 7 == 0:
                seen.append(t + 1)
                kept.append((Q, R))
        return *map(np.array, zip(*kept, strict=True)), np.array(seen)

    return learn


@pytest.mark.parametrize("rate", [Rate(0.02), Rate(0.1, 50)])
@pytest.mark.parametrize("first", [0, 1000])
def test_R_meets_the_transpose_of_Q_at_the_predicted_rate(interneurons, rate, first):
    Q, R, seen = interneurons(rate, 400, first)
    decay = symmetry_decay(Q, R, seen, rate)
    assert decay.relative_error < 1e-9
    assert decay.measured[-1] < decay.measured[0]
    assert symmetry_decay(Q, R, seen, Rate(0.5 * rate.eta0, rate.N)).relative_error > 0.01


def test_rounding_is_told_from_deviation(interneurons):
    Q, R, seen = interneurons(Rate(0.5), 300)
    decay = symmetry_decay(Q, R, seen, 0.5)
    assert decay.predicted[-1] < 1e-80 < decay.measured[-1] + decay.rounding[-1]
    assert decay.relative_error < 1e-3


def test_runaway_weights_are_infinitely_far_apart():
    grown = np.array([1.0, 1e200])[:, None, None] * np.eye(2)
    decay = symmetry_decay(grown, -grown, [0, 10], 0.1)
    assert np.isinf(decay.measured[-1])
    assert decay.relative_error == 0  # of the first snapshot; the other is not resolved


def test_a_prediction_of_zero_is_not_compared():
    still = np.ones((2, 1, 1))
    assert symmetry_decay(still, 2 * still, [0, 10_000], 0.5).relative_error == 0


def test_symmetry_errors(interneurons):
    Q, R, seen = interneurons(Rate(0.1), 30)
    with pytest.raises(
        ValueError,
        match=r"must have shapes \(S, k, l\), \(S, l, k\) and \(S,\) \(got .*\); S counts",
    ):
        symmetry_decay(Q, Q, seen, 0.1)
    with pytest.raises(ValueError, match="samples: must not decrease"):
        symmetry_decay(Q, R, seen[::-1], 0.1)


def test_the_theory_of_symmetry_needs_no_memory_for_samples():
    """Two thousand million samples would be 15 GiB; 16 million, which take no time, would be 130
    MB.
    """
    Q, seen = np.ones((3, 2, 2)), [0, 1000, 2 * 10**9]
    samples = np.linspace(0, 2 * 10**9, 100).astype(int)
    tracemalloc.start()
    symmetry_decay(Q, -Q, [0, 1000, 2**24], lambda t: np.interp(t, samples, np.full(100, 1e-9)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert symmetry_decay(Q, -Q, seen, 1e-9).predicted[-1] == pytest.approx(
        4 * np.exp(-2), rel=1e-6
    )
    assert peak < 8e6


def test_rates_of_one_and_above():
    Q = np.ones((3, 1, 1))
    for eta, expected in ((1.0, [1, 0, 0]), (1.5, [1, 0.5, 0.25])):
        for rate in (eta, lambda t, eta=eta: np.full(len(t), eta)):
            decay = symmetry_decay(Q, -Q, [0, 1, 2], rate)
            np.testing.assert_allclose(decay.predicted / 2, expected)

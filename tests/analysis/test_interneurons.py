"""Theory of inhibition by interneurons and of direct inhibition."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from biorrr.analysis import interneurons as theory
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.models import Rates

VALUES = np.array([4.0, 2.5, 1.2, 0.6, 0.1])
BOTH = pytest.mark.parametrize("direct", [False, True])


def norm_modes(rates, eigenvalue, direct=False):
    """Return the eigenvalues p of the norm of an output, against its inhibition and Vy.

    R may have a rate of its own. Then g is l ((q + r) p + 2 q r) / (p + q).
    """
    x, y, q, r = (getattr(rates, path).eta0 for path in "xyqr")
    filters = Polynomial([0, 0, y + x * eigenvalue, 1])
    if direct:
        return (filters + 2 * q * x * Polynomial([y, 1])).roots()
    inhibition = 2 * eigenvalue * x * Polynomial([2 * q * r, q + r])
    return (filters * Polynomial([q, 1]) + inhibition * Polynomial([y, 1])).roots()


def pair_modes(rates, first, second, direct=False):
    """Return the eigenvalues p of a pair of outputs; the rotation of both, 0, is left out.

    R may have a rate of its own. Then each output has a g of its own (times p + q here).
    """
    x, y, q, r = (getattr(rates, path).eta0 for path in "xyqr")
    both, d = first + second, x * y * (first - second)
    one, other = Polynomial([-d, y + x * second, 1]), Polynomial([d, y + x * first, 1])
    if direct:
        inhibition = q * x * Polynomial([y, 1]) * Polynomial([2 * y + x * both, 2])
        return (one * other + inhibition).roots()
    g_one = Polynomial([q * r * both, q * first + r * second])
    g_other = Polynomial([q * r * both, q * second + r * first])
    inhibition = x * Polynomial([y, 1]) * (g_one * other + g_other * one)
    whole = Polynomial([0, q, 1]) * one * other + inhibition
    return Polynomial(whole.coef[1:]).roots()


def exchange_modes(rates, inside, outside):
    """Return the eigenvalues p of the exchange of an output for a direction outside."""
    x, y = rates.x.eta0, rates.y.eta0
    return Polynomial([x * y * (inside - outside), y + x * inside, 1]).roots()


def white(values, m=6):
    """Return data with Cxx = I and M = diag(values), as exact as floating point is."""
    X, n = np.vstack([np.eye(m), -np.eye(m)]) * np.sqrt(m), len(values)
    return X, X[:, :n] * np.sqrt(values)


def noisy(seed, gains=(2.2, 1.6, 1.1, 0.4), noise=0.5, samples=2000, m=8, n=6):
    rng = np.random.default_rng(seed)
    A, B = (np.linalg.qr(rng.standard_normal((size, len(gains))))[0] for size in (m, n))
    X = rng.standard_normal((samples, m)) @ (np.eye(m) + 0.1 * rng.standard_normal((m, m)))
    Y = X @ A * gains @ B.T + noise * rng.standard_normal((samples, n))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


@BOTH
@pytest.mark.parametrize(
    "rates",
    [Rates(1e-3, 3e-3, 7e-4), Rates(3e-3, 1e-2, 2e-4), Rates(1e-3, 3e-3, 7e-4, 2e-4)],
)
def test_blocks_hold_all_modes_of_white_inputs(direct, rates):
    k, (X, Y) = 3, white(VALUES)
    blocks = [norm_modes(rates, one, direct) for one in VALUES[:k]]
    blocks += [pair_modes(rates, VALUES[i], VALUES[j], direct) for i in range(k) for j in range(i)]
    blocks += [exchange_modes(rates, i, j) for i in VALUES[:k] for j in VALUES[k:]]
    found = np.linalg.eigvals(theory.jacobian(X, Y, k, rates, direct))
    for p in np.concatenate(blocks):
        assert abs(found - p).min() < 1e-9
    rest = [p for p in found if abs(np.concatenate(blocks) - p).min() > 1e-9]
    # rotations; the sixth input, which says nothing of y; decay of Q - R', and of M that is not
    # symmetric
    known = np.array([0, -rates.q.eta0, *(-rates.x.eta0 * VALUES[:k])])
    assert all(abs(known - p).min() < 1e-9 for p in rest)


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_pairs_settle_above_the_least_inhibition_and_not_below(direct, seed):
    rng = np.random.default_rng(seed)
    values, (x, y) = rng.uniform(0.1, 6, 3), 10 ** rng.uniform(-4, -2, 2)
    least = theory.least_inhibition(values, x, y, direct)

    def fastest(q):
        pairs = [(0, 1), (0, 2), (1, 2)]
        rates = Rates(x, y, q)
        return max(pair_modes(rates, values[i], values[j], direct).real.max() for i, j in pairs)

    assert fastest(1.02 * least) < 0 < fastest(0.98 * least)


def test_interneurons_as_fast_as_distal_synapses_always_settle():
    for values in np.random.default_rng(0).uniform(0, 20, (50, 4)):
        assert theory.least_inhibition(values, x=1.0, y=0.001) < 0.001


@BOTH
def test_norm_settles_at_any_rates_but_the_slower_the_faster_distal_synapses_are(direct):
    slowest = [norm_modes(Rates(1e-3, y, 1e-3), 2.0, direct).real.max() for y in (1e-2, 1e-1, 1)]
    assert slowest[0] < slowest[1] < slowest[2] < 0
    x, y, q, value = 1e-4, 1e-2, 1e-4, 2.0
    g = q if direct else 2 * value * q
    p = max(norm_modes(Rates(x, y, q), value, direct), key=lambda p: p.imag)
    assert p.real == pytest.approx(-g * x**2 * value / (y + x * value) ** 2, rel=0.02)
    assert p.imag == pytest.approx(np.sqrt(2 * g * x * y / (y + x * value)), rel=0.02)


def fastest(rates, values, m=4):
    """Return the largest real part of all modes, by the Jacobian."""
    return np.linalg.eigvals(theory.jacobian(*white(values, m), len(values), rates)).real.max()


@pytest.mark.parametrize(("ratio", "settles"), [(0.03, True), (0.9, True), (1.1, False)])
def test_r_must_not_be_faster_than_q_where_distal_synapses_are_at_their_optimum(ratio, settles):
    assert (norm_modes(Rates(1e-3, 1e6, 1e-3, ratio * 1e-3), 2.0).real.max() < 0) == settles
    assert (fastest(Rates(1e-3, 1.0, 1e-3, ratio * 1e-3), VALUES[1:3]) < 1e-12) == settles


@pytest.mark.parametrize("ratio", [0.1, 0.8])
def test_with_slower_r_pairs_need_twice_the_inhibition_where_distal_synapses_are_fast(ratio):
    x, y, (first, second) = 1e-3, 10.0, VALUES[[0, 2]]
    least = theory.least_inhibition([first, second], x, y)
    assert least == pytest.approx(x * (first - second) ** 2 / (first + second) / 2, rel=1e-3)
    for q, settles in ((1.95 * least, False), (2.05 * least, True)):
        assert (fastest(Rates(x, y, q, ratio * q), [first, second]) < 1e-12) == settles
    assert fastest(Rates(x, y, 1.05 * least), [first, second]) < 1e-12  # R as fast as Q


def test_at_any_rates_circuits_settle_with_twice_that_inhibition_and_r_at_most_as_fast_as_q():
    rng = np.random.default_rng(1)
    for _ in range(300):
        first, second = sorted(10 ** rng.uniform(-1, 1, 2))[::-1]
        x, y = 10 ** rng.uniform(-5, -1, 2)
        q = 1.001 * x * (first - second) ** 2 / (first + second)
        rates = Rates(x, y, q, q * 10 ** rng.uniform(-2, 0))
        for p in (pair_modes(rates, first, second), norm_modes(rates, first)):
            assert p.real.max() < 0


@BOTH
def test_jacobian_is_the_derivative_of_the_mean_change_which_is_zero_at_the_optimum(direct):
    X, Y = noisy(0)
    rates, best = Rates(1e-3, 2e-3, 3e-3, 4e-3), theory.optimum(X, Y, 3, direct)

    def mean_change(vector):
        weights = theory.unflatten(vector[None], best)
        changes = theory.sample_changes(weights, X, Y, rates, direct)
        return theory.flatten([change.mean(axis=0) for change in changes])

    start = theory.flatten(best)
    np.testing.assert_allclose(mean_change(start), 0, atol=1e-12)
    found = theory.jacobian(X, Y, 3, rates, direct)
    for way in np.random.default_rng(1).standard_normal((5, start.size)):
        slope = (mean_change(start + 1e-4 * way) - mean_change(start - 1e-4 * way)) / 2e-4
        np.testing.assert_allclose(found @ way, slope, atol=1e-7)


@pytest.mark.parametrize(("direct", "q"), [(False, 0.002), (False, 0.02), (True, 0.02)])
def test_noise_of_single_samples_keeps_up_the_expected_excess(direct, q):
    X, Y = noisy(2)
    k, rates, rng = 3, Rates(0.003, 0.004, q), np.random.default_rng(3)
    replicas, steps = 300, 3000
    weights = [np.repeat(w[None], replicas, axis=0) for w in theory.optimum(X, Y, k, direct)]
    exact, measured = ExactSolution(X, Y), []
    for step in range(steps):
        rows = rng.integers(len(X), size=replicas)
        changes = theory.sample_changes(weights, X[rows], Y[rows], rates, direct)
        weights = [w + change for w, change in zip(weights, changes, strict=True)]
        if step >= steps // 2 and step % 100 == 0:
            measured.append(np.mean(exact.excess(weights[0])))
    expected = theory.expected_excess(X, Y, k, rates, direct)
    assert expected == pytest.approx(np.mean(measured), rel=0.2)
    if not direct and q > rates.x.eta0:  # fluctuations of inhibition are no small part of it
        assert theory.expected_excess(X, Y, k, rates, direct, rounds=1) < 0.5 * expected


def test_no_excess_is_expected_where_a_pair_does_not_settle():
    X, Y = noisy(2)
    assert theory.expected_excess(X, Y, 3, Rates(1e-3, 1e-3, 1e-4), direct=True) == np.inf


@BOTH
def test_rotated_weights_are_aligned_with_the_optimum(direct):
    X, Y = white(VALUES)
    best, rng = theory.optimum(X, Y, 3, direct), np.random.default_rng(4)
    turn, relabel = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    Vx, Vy, *inhibition = best
    turned = [turn.T @ inhibition[0] @ (turn if direct else relabel)]
    turned += [] if direct else [turned[0].T]
    aligned = theory.align([w[None] for w in (Vx @ turn, Vy @ turn, *turned)], best)
    for one, other in zip(aligned, best, strict=True):
        np.testing.assert_allclose(one[0], other, atol=1e-12)

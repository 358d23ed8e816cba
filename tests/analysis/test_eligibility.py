"""What eligibility traces teach, in closed form, against plain sums."""

import math

import numpy as np
import pytest

from biorrr.analysis import (
    ReducedRankRegression,
    eligibility_trace,
    field_place_and_width,
    fit_time_constants,
    learned_weights,
    pairing_curve,
    principal_angles,
    traced_fixed_point,
)

LAGS = np.arange(-4, 4.01, 0.25)
PULSES = 0.05 * np.arange(10)


def test_a_trace_is_an_exponential_average():
    x = np.random.default_rng(0).standard_normal((50, 3))
    e, traces = np.zeros(3), []
    for row in x:
        e = e + (1 - math.exp(-0.1 / 0.7)) * (row - e)
        traces.append(e)
    np.testing.assert_allclose(eligibility_trace(x, 0.7, 0.1), traces, rtol=1e-12)
    np.testing.assert_array_equal(eligibility_trace(x, 0.0), x)


def test_the_pairing_curve_is_the_overlap_of_the_traces():
    dt = 1e-3
    for lag in (-1.5, -0.2, 0.0, 0.3, 2.0):
        x, p = np.zeros(20_000), np.zeros(20_000)
        x[np.round((8 + PULSES) / dt).astype(int)] = 1 / dt
        p[round((8 + lag) / dt) : round((8.3 + lag) / dt)] = 1.0
        overlap = dt * np.sum(eligibility_trace(x, 1.3, dt) * eligibility_trace(p, 0.7, dt))
        assert pairing_curve([lag], PULSES, 0.3, 1.3, 0.7)[0] == pytest.approx(overlap, rel=0.01)


@pytest.mark.parametrize(("tau_x", "tau_plateau"), [(1.31, 0.69), (0.4, 2.0), (0.1, 0.1)])
def test_a_fit_recovers_both_time_constants(tau_x, tau_plateau):
    curve = pairing_curve(LAGS, PULSES, 0.3, tau_x, tau_plateau)
    noisy = curve * (1 + 0.01 * np.random.default_rng(1).standard_normal(len(LAGS)))
    assert fit_time_constants(LAGS, noisy, PULSES[-1], 0.3) == pytest.approx(
        (tau_x, tau_plateau), rel=0.05
    )


def test_a_curve_without_flanks_has_no_time_constants():
    curve = pairing_curve(LAGS, PULSES, 0.3, 1e-9, 1e-9)
    assert all(map(math.isnan, fit_time_constants(LAGS, curve, PULSES[-1], 0.3)))


def test_weights_after_laps_are_sums_over_the_kernel():
    rng = np.random.default_rng(2)
    inputs, plateau, dt = rng.uniform(size=(100, 4)), (np.arange(100) < 10).astype(float), 0.02
    x, p = np.tile(inputs, (12, 1)), np.tile(plateau, 12)
    product = eligibility_trace(x, 1.0, dt) * eligibility_trace(p, 0.5, dt)[:, None]
    np.testing.assert_allclose(
        learned_weights(inputs, plateau, dt, 1.0, 0.5), dt * product[-100:].sum(axis=0), rtol=0.03
    )


def test_place_and_width_of_a_field():
    positions = np.arange(180.0)
    away = np.minimum(
        np.abs(positions - 3.3), 180 - np.abs(positions - 3.3)
    )  # across the seam of the track
    place, width = field_place_and_width(np.exp(-0.5 * (away / 20) ** 2), 180.0)
    assert place == pytest.approx(3.3, abs=0.05)
    assert width == pytest.approx(2 * math.sqrt(2 * math.log(2)) * 20, rel=0.01)


def test_the_fixed_point_of_white_sequences_is_the_regression():
    """Late by two samples, the subspace is that of the exact solution; a wrong delay has
    another."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200_000, 5)) * [2, 1, 1, 0.7, 0.5]
    Y = X @ rng.standard_normal((5, 4)) + 0.5 * rng.standard_normal((200_000, 4))
    exact = ReducedRankRegression(k=2).fit(X, Y)
    E, late = eligibility_trace(X, 4.5), np.roll(Y, 2, axis=0)
    C_ex, C_ey = E.T @ X / len(X), E.T @ late / len(X)
    Vx = traced_fixed_point(C_ex, C_ey, 2)
    assert principal_angles(Vx, exact.Vx_)[0] < 3
    early = E.T @ np.roll(Y, -3, axis=0) / len(X)
    assert principal_angles(traced_fixed_point(C_ex, early, 2), exact.Vx_)[0] > 20

"""The circuit learns reduced-rank regression, whatever the units of the data."""

import numpy as np
import pytest

from biorrr.analysis import ReducedRankRegression, excess, whitening_error
from biorrr.circuit import Microcircuit
from biorrr.circuit.stimulus.units import Units

RIDGE = 0.1


def mean_updates(units, wanted, s, X, Y):
    """Mean of dVx and dVy over the data, in the circuit's units and at the exact solution in the
    data's units.
    """
    exact = ReducedRankRegression(k=2, s=wanted, ridge=RIDGE).fit(X, Y)
    parts = Microcircuit(2).parts
    scale = {pathway.weight: units.scale(pathway.scale) for pathway in parts.pathways}
    inner = {
        variable.name: units.scale(variable.scale) for variable in parts["neuromodulator"].variables
    }
    Vx, Vy = exact.Vx_ * scale["Vx"], exact.Vy_ * scale["Vy"]
    Lambda = np.diag(exact.eigenvalues_[:2]) * scale["Q"] * scale["R"]  # QR at the optimum
    x, y = units.scale("x") * X, units.scale("y") * Y
    ridge_x, ridge_y = inner["replay_gain"] * RIDGE, inner["ridge_y"] * RIDGE
    s = s * inner["s"]
    Cxx, Cyy = (v.T @ v / len(v) + r * np.eye(v.shape[1]) for v, r in ((x, ridge_x), (y, ridge_y)))
    Cxy = x.T @ y / len(x)
    return Cxy @ Vy - Cxx @ Vx @ Lambda, Cxy.T @ Vx - s * Cyy @ Vy - (1 - s) * Vy


@pytest.mark.parametrize("s", [0.0, 0.3, 0.9, 1.0])
def test_gains_leave_the_optimum_where_it_is(s, data):
    """At the exact solution all learning stands still, whatever the gains (Eqs. 9 to 11 with the
    ridge).
    """
    units = Units.of_gains(gain_x=0.2, gain_y=7.0, s=s)
    for update in mean_updates(units, s, s, *data):
        np.testing.assert_allclose(update, 0, atol=1e-10)
    if 0 < s < 1:  # with s as it was, it would not stand still
        assert np.abs(mean_updates(units, s, s / units.scale("1 / a"), *data)[1]).max() > 0.01


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_fitted_rates_find_the_optimum(s, data):
    """From random weights to within 2 % of the exact optimum, with X and Y in units far apart."""
    X, Y = 0.05 * data[0], 20 * data[1]
    ridge = (1e-4, 0.1)
    run = Microcircuit(2, s=s, ridge=ridge, replay=2, engine="cpp").run(X, Y, epochs=50, record=())
    assert excess(run.Vx, X, Y, s=s, ridge=ridge) < 0.02
    assert whitening_error(run.Vx, X, ridge) < 0.05
    exact = ReducedRankRegression(k=2, s=s, ridge=ridge).fit(X, Y)
    assert np.abs(run.predict(X) - exact.predict(X)).std() < 0.1 * Y.std()

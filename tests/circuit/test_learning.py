"""The circuit learns reduced-rank regression, whatever the units of the data."""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.analysis import ReducedRankRegression, excess, whitening_error
from biorrr.circuit import Microcircuit


@pytest.mark.parametrize("feedback", [0.0, 0.3])
@pytest.mark.parametrize("s", [0.0, 1.0])
@pytest.mark.parametrize(("g", "h"), [(1e-6, 1e6), (1e6, 1e-6), (0.3, 5.0)])
def test_data_in_other_units_are_learned_equally(g, h, s, feedback, data):
    """With g x and h y in place of x and y, Vx becomes Vx/g and outputs stay the same.

    With D = h^2 at s = 0 and D = 1 at s = 1, Vy becomes (D/h) Vy, a becomes D a and Q sqrt(D) Q.
    """
    X, Y = data[0][:400], data[1][:400]
    D = s + (1 - s) * h**2
    ridge = np.array([0.1, 0.2])
    circuit = Microcircuit(2, s=s, ridge=tuple(ridge), feedback=feedback, engine="cpp")
    scaled = replace(circuit, s=s / D, ridge=tuple(ridge * [g**2, h**2]), feedback=feedback / D)
    run = circuit.run(X, Y, epochs=2, record=("plateau",), progress=False)
    other = scaled.run(g * X, h * Y, epochs=2, record=("plateau",), progress=False)
    expected = {"Vx": run.Vx / g, "Vy": run.Vy * D / h, "Q": run.Q * D**0.5, "R": run.R * D**0.5}
    for name, matrix in expected.items():
        atol = 1e-11 * abs(matrix).max()
        np.testing.assert_allclose(other.weights[name], matrix, rtol=0, atol=atol)
    plateau = D * run.data["plateau"]
    np.testing.assert_allclose(
        other.data["plateau"], plateau, rtol=0, atol=1e-11 * abs(plateau).max().item()
    )


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

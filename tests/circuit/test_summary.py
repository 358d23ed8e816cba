"""``run.summary``: numbers as computed by hand, and what it says of circuits it cannot judge."""

import re

import numpy as np
import pytest

from biorrr.circuit import Circuit, Diverged, Hierarchy, Microcircuit, Run
from biorrr.errors import InputError
from biorrr.models import AllOrNone, Pathway, Population, Rates, SensoryInput, Variable
from biorrr.sims.data import load

RIDGE = 0.05


@pytest.fixture(scope="module")
def data():
    found = load("synthetic", samples=400, m=6, n=4)
    return found.X, found.Y


@pytest.fixture(scope="module")
def run(data):
    X, Y = data
    circuit = Microcircuit(2, ridge=RIDGE, engine="numpy")
    return circuit.run(X[:300], Y[:300], epochs=5, centre=True, progress=False)


def exact_filters(x, y):
    """Return the best two filters (m, 2) from the covariances, with the eigenvalues of M."""
    values, vectors = np.linalg.eigh(x.T @ x / len(x) + RIDGE * np.eye(x.shape[1]))
    root = vectors / np.sqrt(values) @ vectors.T
    cross = root @ x.T @ y / len(x)
    values, vectors = np.linalg.eigh(cross @ cross.T)
    return root @ vectors[:, -2:], values


def test_numbers_are_those_computed_by_hand(run, data):
    X, Y = (view[:300] for view in data)
    summary = run.summary(X, Y)
    x, y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    Cxx = x.T @ x / 300 + RIDGE * np.eye(6)
    best, eigenvalues = exact_filters(x, y)
    gram = run.Vx.T @ Cxx @ run.Vx
    objective = -np.trace(np.linalg.solve(gram, run.Vx.T @ x.T @ y @ y.T @ x @ run.Vx)) / 300**2
    optimum = -eigenvalues[-2:].sum()
    assert summary["excess"] == pytest.approx((objective - optimum) / -optimum)
    angle = np.degrees(
        np.arccos(np.linalg.svd(np.linalg.qr(best)[0].T @ np.linalg.qr(run.Vx)[0])[1])
    )
    np.testing.assert_allclose(np.sort(summary["angles"]), np.sort(angle))
    np.testing.assert_allclose(summary["output_variances"], np.diag(gram))
    assert summary["output_correlation"] == pytest.approx(
        gram[0, 1] / np.sqrt(gram[0, 0] * gram[1, 1])
    )
    total = np.square(y).sum()
    left = np.square(Y - run.predict(X)).sum()
    assert summary["r2"] == pytest.approx(1 - left / total)
    left = np.square(y - x @ best @ best.T @ x.T @ y / 300).sum()
    assert summary["r2_exact"] == pytest.approx(1 - left / total)
    components = np.linalg.eigh(x.T @ x)[1][:, -2:]
    z = x @ components
    ridge = 300 * RIDGE * np.eye(2)
    left = np.square(y - z @ np.linalg.solve(z.T @ z + ridge, z.T @ y)).sum()
    assert summary["r2_principal_components"] == pytest.approx(1 - left / total)
    assert summary["r_minus_qt_relative"] == run.r_minus_qt_relative[-1]
    assert summary["r_minus_qt_predicted"] == pytest.approx(
        run.r_minus_qt_relative[-1], rel=1e-6, abs=1e-12
    )


def test_plateaus_are_compared_with_the_back_propagated_error(run, data):
    X, Y = (view[:300] for view in data)
    rows = run.data["data_row"].values[-50:]
    x, y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    ridge_regression = np.linalg.solve(x.T @ x / 300 + RIDGE * np.eye(6), x.T @ y / 300)
    Vy = run.data["Vy"].values[np.flatnonzero(run.data["seen"] <= run.data["sample"][-50])[-1]]
    error = (y[rows] - x[rows] @ ridge_regression) @ Vy
    off = run.data["plateau"].values[-50:] - error
    expected = np.sqrt(np.square(off).sum(axis=0) / np.square(error).sum(axis=0))
    np.testing.assert_allclose(run.summary(X, Y)["plateau_deviation"], expected)


def test_held_out_samples(run, data):
    X, Y = data
    summary = run.summary(X[:300], Y[:300], held_out=(X[300:], Y[300:]))
    left = np.square(Y[300:] - run.predict(X[300:])).sum()
    total = np.square(Y[300:] - Y[:300].mean(axis=0)).sum()
    assert summary["held_out_r2"] == pytest.approx(1 - left / total)
    assert "r2" not in summary
    assert "R2, held out" in str(summary)


def test_it_shows_itself_in_ten_lines(run, data):
    X, Y = (view[:300] for view in data)
    summary = run.summary(X, Y)
    assert len(str(summary).splitlines()) <= 10
    for row in ("excess", "principal components", "exact solution", "theory", "last tenth"):
        assert row in str(summary)
    assert "<table>" in summary._repr_html_()


def test_it_says_whether_learning_has_converged(data):
    X, Y = data
    circuit = Microcircuit(2, engine="numpy", rates=Rates(0.003))
    short = circuit.run(X, Y, epochs=1, centre=True, progress=False).summary(X, Y)
    assert short.converged is False
    assert "still learning" in str(short)
    still = circuit.run(X, Y, centre=True, plastic=False, progress=False).summary(X, Y)
    assert "learning was switched off" in str(still)
    circuit = Microcircuit(2, engine="numpy")
    long = circuit.run(X, Y, epochs=60, centre=True, progress=False, record=()).summary(X, Y)
    assert long.converged is True
    assert long["since"] <= 0.9 * 60 * 400
    assert "plateaus were not recorded" in str(long)


def test_circuits_of_other_kinds_are_judged_as_far_as_theory_goes(data, tmp_path):
    X, Y = data
    few = X[:40], Y[:40]
    areas = Hierarchy((2, 2), engine="numpy").run(*few, centre=True, progress=False)
    summary = areas.summary(*few)
    assert "excess" not in summary
    assert np.isfinite(summary["r2"])
    assert "biorrr hierarchy" in str(summary)
    own = Microcircuit(2, departures=[AllOrNone(0.1)], engine="numpy").run(X, Y, progress=False)
    assert np.isfinite(own.summary(X, Y)["excess"])
    assert not re.search(r"\d%", str(own.summary(X, Y)))
    oja = Pathway(
        "oja",
        "sensory",
        "cell",
        drives="z",
        current="w * x_pre",
        phase="drive",
        change="0.01 * z_post * (x_pre - z_post * w)",
    )
    cells = [SensoryInput(), Population(1, "cell", [Variable("z", "output")])]
    summary = Circuit(cells, [oja], engine="numpy").run({"x": X}, progress=False).summary()
    assert summary["weight_change"] > 0
    assert "not judged: no exact solution is known" in str(summary)
    own.save(tmp_path / "run.nc")
    assert Run.load(tmp_path / "run.nc").summary(X, Y)["excess"] == own.summary(X, Y)["excess"]


def test_a_run_that_diverged(data):
    X, Y = data
    with pytest.raises(Diverged) as caught:
        Microcircuit(2, engine="numpy", rates=Rates(0.9)).run(X, Y, progress=False)
    assert "not judged: it diverged" in str(caught.value.run.summary(X, Y))


def test_wrong_data_are_refused(run, data):
    X, Y = data
    with pytest.raises(InputError, match="X, Y: must be the data that were learned"):
        run.summary()
    with pytest.raises(InputError, match=r"X, Y: must have shapes \(n_samples, 6\)"):
        run.summary(X[:, :3], Y)
    with pytest.raises(InputError, match="held_out: must have shapes"):
        run.summary(X, Y, held_out=(X, Y[:5]))

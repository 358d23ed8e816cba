"""The example of two instructive areas onto one: equal to a loop, and at the optimum of the sum,
not of a joined y.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from biorrr.analysis import ExactSolution, ReducedRankRegression, joint_instruction


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).parents[2] / "docs/examples/two_instructive_areas.py"
    spec = importlib.util.spec_from_file_location("two_instructive_areas", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_equals_a_loop(example):
    circuit = example.two_instructive_areas(2, engine="numpy")
    rng = np.random.default_rng(1)
    start = {
        "Vx": 0.1 * rng.standard_normal((5, 2)),
        "Vy_V2": 0.1 * rng.standard_normal((3, 2)),
        "Vy_MT": 0.1 * rng.standard_normal((3, 2)),
        "Q": np.eye(2),
        "R": np.eye(2),
    }
    few = {name: values[:40] - values[:40].mean(0) for name, values in example.views().items()}
    run = circuit.run(few, order="sequential", weights=start, progress=False)
    Vx, V2, MT, Q, R = start.values()
    eta = example.RATES
    for t in range(40):
        x, y, v = (few[name][t] for name in ("x", "V2", "MT"))
        z, a, b = Vx.T @ x, V2.T @ y, MT.T @ v
        n = R @ z
        plateau = a + b - Q @ n
        Vx = Vx + eta.x(t) * np.outer(x, plateau)
        V2 = V2 + eta.y(t) * (np.outer(y, z) - V2)
        MT = MT + eta.y(t) * (np.outer(v, z - b) - 0.1 * MT)
        Q, R = Q + eta.q(t) * (np.outer(z, n) - Q), R + eta.r(t) * (np.outer(n, z) - R)
    for name, expected in zip(("Vx", "Vy_V2", "Vy_MT", "Q", "R"), (Vx, V2, MT, Q, R), strict=True):
        np.testing.assert_allclose(run.weights[name], expected, rtol=0, atol=1e-12, err_msg=name)
    assert all(verdict.local for verdict in circuit.locality())


def test_it_solves_the_sum_and_not_the_joined_instruction(example):
    data = example.views()
    X, both = data["x"], [data["V2"], data["MT"]]
    exact = ExactSolution(X, joint_instruction(both, s=(0.0, 1.0), ridge=(0.0, 0.1)))
    circuit = example.two_instructive_areas(1, engine="cpp")
    run = circuit.run(data, epochs=60, weights={"Q": np.eye(1), "R": np.eye(1)}, progress=False)
    assert exact.excess(run.weights["Vx"]) < 0.02
    # One area alone, and one current for both with s = 1, are other problems: the score tells them
    # apart.
    assert exact.excess(ReducedRankRegression(1, s=1.0).fit(X, np.hstack(both)).Vx_) > 0.3
    assert exact.excess(ReducedRankRegression(1, s=1.0, ridge=0.1).fit(X, both[1]).Vx_) > 0.3

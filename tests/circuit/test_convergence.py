"""Two instructive areas onto one: equal to a loop, and at the optimum of the sum, not of one joined y."""

import numpy as np
import pytest

from biorrr.analysis import ReducedRankRegression, Yardstick, joint_instruction
from biorrr.circuit import Instruction, convergent_circuit
from biorrr.models import Rate

X_RATE, Q_RATE = Rate(0.003, 10_000), Rate(0.01, 10_000)
AREAS = [Instruction("V2", Rate(0.01, 10_000), s=0.0), Instruction("MT", Rate(0.008, 10_000), s=1.0, ridge=0.1)]


@pytest.fixture(scope="module")
def data():
    """Both areas hear x_0, weakly: together it counts most. MT alone hears x_1, better than x_0."""
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((1000, 5)), rng.standard_normal((1000, 6))
    one = noise[:, :3] * [1.2, 1, 1] + X[:, :1] * [1, 0, 0]
    other = noise[:, 3:] * [1.2, 0.8, 1] + X[:, :2] @ [[1, 0, 0], [0, 1, 0]]
    return {"x": X - X.mean(0), "V2": one - one.mean(0), "MT": other - other.mean(0)}


def test_it_equals_a_loop(data):
    circuit = convergent_circuit(2, AREAS, X_RATE, Q_RATE, engine="numpy")
    rng = np.random.default_rng(1)
    start = {
        "Vx": 0.1 * rng.standard_normal((5, 2)), "Vy_V2": 0.1 * rng.standard_normal((3, 2)),
        "Vy_MT": 0.1 * rng.standard_normal((3, 2)), "Q": np.eye(2), "R": np.eye(2),
    }  # fmt: skip
    few = {name: values[:40] - values[:40].mean(0) for name, values in data.items()}
    run = circuit.run(few, order="sequential", weights=start, progress=False)
    Vx, V2, MT, Q, R = start.values()
    for t in range(40):
        x, y, v = (few[name][t] for name in ("x", "V2", "MT"))
        z, a, b = Vx.T @ x, V2.T @ y, MT.T @ v
        n = R @ z
        plateau = a + b - Q @ n
        Vx = Vx + X_RATE(t) * np.outer(x, plateau)
        V2 = V2 + AREAS[0].rate(t) * (np.outer(y, z) - V2)
        MT = MT + AREAS[1].rate(t) * (np.outer(v, z - b) - 0.1 * MT)
        Q, R = Q + Q_RATE(t) * (np.outer(z, n) - Q), R + Q_RATE(t) * (np.outer(n, z) - R)
    for name, expected in zip(("Vx", "Vy_V2", "Vy_MT", "Q", "R"), (Vx, V2, MT, Q, R), strict=True):
        np.testing.assert_allclose(run.weights[name], expected, rtol=0, atol=1e-12, err_msg=name)
    assert all(verdict.local for verdict in circuit.locality())


def test_it_solves_the_sum_and_not_the_joined_instruction(data):
    X, both = data["x"], [data["V2"], data["MT"]]
    exact = Yardstick(X, joint_instruction(both, s=(0.0, 1.0), ridge=(0.0, 0.1)))
    circuit = convergent_circuit(1, AREAS, X_RATE, Q_RATE, engine="cpp")
    run = circuit.run(data, epochs=60, weights={"Q": np.eye(1), "R": np.eye(1)}, progress=False)
    assert exact.excess(run.weights["Vx"]) < 0.02
    # One area alone, and one current for both with s = 1, are other problems: the score tells them apart.
    assert exact.excess(ReducedRankRegression(1, s=1.0).fit(X, np.hstack(both)).Vx_) > 0.3
    assert exact.excess(ReducedRankRegression(1, s=1.0, ridge=0.1).fit(X, both[1]).Vx_) > 0.3


def test_what_cannot_be():
    with pytest.raises(ValueError, match="each with a name of its own"):
        convergent_circuit(1, [AREAS[0], AREAS[0]], X_RATE, Q_RATE)
    with pytest.raises(ValueError, match=r"Instruction\.s: must lie in"):
        Instruction("V2", Rate(0.1), s=2.0)

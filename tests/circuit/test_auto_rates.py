"""Rates "auto": one policy for circuit and Alg. 2, and what it reaches."""

import numpy as np
import pytest

from biorrr.analysis import OnlineBioRRR, Yardstick
from biorrr.circuit import Microcircuit
from biorrr.models import Freeze
from biorrr.models.auto_rates import Drive

WEIGHTS = ("Vx", "Vy", "Q", "R")


def starts(X, Y, k, s, ridge=0.0):
    """Unrelated initial weights, as large as the policy has them."""
    rng, (m, n) = np.random.default_rng(3), (X.shape[1], Y.shape[1])
    size_x, size_y, size_q = Drive.of(X, Y, (ridge, ridge)).start(n, s)
    return {
        "Vx0": size_x * rng.standard_normal((m, k)),
        "Vy0": size_y * rng.standard_normal((n, k)),
        "Q0": size_q * (np.eye(k) + 0.2 * rng.standard_normal((k, k))),
        "R0": size_q * (np.eye(k) + 0.2 * rng.standard_normal((k, k))),
    }


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_circuit_and_algorithm_are_the_same_numbers(s, data):
    """In the data's units, whatever they are: the one runs on scaled inputs, the other does not."""
    X, Y = data[0][:600] * 7, data[1][:600] / 50
    given = starts(X, Y, 2, s)
    order = np.random.default_rng(1).permutation(len(X))
    circuit = Microcircuit(2, s=s, engine="numpy", **given).run(X, Y, order=order, progress=False)
    algorithm = OnlineBioRRR(2, s=s, **given).partial_fit(X[order], Y[order])
    for name in WEIGHTS:
        learned = getattr(circuit, name)
        np.testing.assert_allclose(learned, getattr(algorithm, f"{name}_"), rtol=1e-9, atol=1e-12 * abs(learned).max())
        assert abs(learned - given[f"{name}0"]).max() > 0.1 * abs(learned).max()


def overshoot(run, exact, X):
    """Largest mean of |z|^2 over 1,000 consecutive samples, relative to that of the exact solution."""
    power = np.square(run.data["z"].values).sum(axis=1)
    means = np.convolve(power, np.full(1000, 1 / 1000), "valid")
    return means.max() / np.square(X @ exact.Vx(run.Vx.shape[1])).sum(axis=1).mean()


def white(rng):
    """White X of 300 dimensions, of which three predict Y, 20,000 samples."""
    X = rng.standard_normal((20_000, 300))
    weights = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 40)) / np.sqrt(300)
    return X, X @ weights + 3 * rng.standard_normal((20_000, 40))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*columns are constant")
@pytest.mark.parametrize(
    ("name", "k", "s"), [("digits", 5, 0), ("digits", 1, 1), ("v1v2", 8, 0), ("v1v2", 5, 1), ("white", 8, 0)]
)
def test_it_learns_whitens_and_does_not_overshoot(name, k, s):
    """In 100,000 samples on the circuit itself: rates that let a direction starve or flare up do not pass."""
    from biorrr.sims.data import DataError, load

    if name == "white":
        X, Y = white(np.random.default_rng(0))
    else:
        try:
            data = load(name).centred()
        except DataError as error:
            pytest.skip(str(error))
        X, Y = data.X, data.Y
    ridge = 0.1 * float(np.square(X).mean())
    exact = Yardstick(X, Y, s, ridge)
    circuit = Microcircuit(k, s=s, ridge=ridge, engine="cpp", seed=1)
    order = np.concatenate([np.random.default_rng(i).permutation(len(X)) for i in range(-(-100_000 // len(X)))])
    run = circuit.run(X, Y, order=order[:100_000], record=("z",), every=1, progress=False)
    assert exact.excess(run.Vx) < 0.03
    assert exact.strong_whitening_error(run.Vx) < 0.05
    assert overshoot(run, exact, X) < 5
    if name == "digits":
        # The measures can say no: with inhibition frozen as it starts, nothing whitens the filters.
        frozen = circuit.run(
            X, Y, order=order[:20_000], events=[Freeze(0, "Q"), Freeze(0, "R")], record=(), progress=False
        )
        assert exact.strong_whitening_error(frozen.Vx) > 0.3

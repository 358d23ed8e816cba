"""Rates of one's own: what suggested ones learn, and what a run says of those that do not suit."""

import numpy as np
import pytest

from biorrr.analysis import Yardstick
from biorrr.circuit import Microcircuit
from biorrr.models import Rates


def gaussian(rng, scale_x=1.0, scale_y=1.0):
    X = rng.standard_normal((2000, 12))
    Y = X @ rng.standard_normal((12, 6)) / 3 + rng.standard_normal((2000, 6))
    return scale_x * X, scale_y * Y


def tailed(rng):
    latents = rng.standard_t(3, (5000, 5))
    X = latents @ rng.standard_normal((5, 20)) + 0.5 * rng.standard_normal((5000, 20))
    return X, latents @ rng.standard_normal((5, 8)) + 0.5 * rng.standard_normal((5000, 8))


def white(rng):
    """White data of 200 dimensions: filters grow slowly, and faster inhibition would fade."""
    X = rng.standard_normal((5000, 200))
    return X, X[:, :3] @ rng.standard_normal((3, 10)) + 2 * rng.standard_normal((5000, 10))


PROBLEMS = {
    "Gaussian": gaussian,
    "in large units": lambda rng: gaussian(rng, 1e3, 1e-3),
    "in small units": lambda rng: gaussian(rng, 1e-3, 1e3),
    "t-tailed": tailed,
    "white": white,
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("k", "s"), [(1, 0.0), (2, 1.0), (5, 0.0), (5, 1.0)])
def test_suggested_rates_learn(name, k, s):
    X, Y = PROBLEMS[name](np.random.default_rng(1))
    rates = Rates.suggested(X, Y, k, s)
    order = np.random.default_rng(2).integers(len(X), size=100_000)
    run = Microcircuit(k, s=s, rates=rates, engine="cpp").run(
        X, Y, order=order, record=(), progress=False
    )
    assert Yardstick(X, Y, s).excess(run.Vx) < 0.1
    assert run.r_minus_qt[-1] < 0.2 * np.linalg.norm(run.Q)


def test_weights_begin_as_large_as_the_rates_assume():
    X, Y = gaussian(np.random.default_rng(0))

    def begun(rates):
        options = {"order": np.arange(3), "record": (), "progress": False}
        run = Microcircuit(2, rates=rates, engine="numpy").run(X, Y, **options)
        return {name: run.data[name].values[0] for name in ("Vx", "Vy", "Q", "R")}

    as_printed = begun(Rates(0.001))
    assert np.std(as_printed["Vx"]) == pytest.approx(0.01, rel=0.4)
    larger = begun(Rates(0.001, start=(0.02, 0.3, 4 / 3)))
    for name, factor in {"Vx": 2, "Vy": 3, "Q": 4, "R": 4}.items():
        np.testing.assert_allclose(larger[name], factor * as_printed[name], rtol=1e-12)

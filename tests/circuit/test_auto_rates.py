"""Rates "auto": one policy for circuit and Alg. 2, and what it reaches."""

import warnings

import numpy as np
import pytest

from biorrr.analysis import ExactSolution, OnlineBioRRR
from biorrr.analysis.algorithms.estimator import shuffled_passes
from biorrr.circuit import Microcircuit
from biorrr.circuit.regression import draw_weights
from biorrr.models import Area, Freeze, Rate, Rates, TransmissionNoise
from biorrr.models.auto_rates import Drive
from biorrr.sims.data import DataError, load

WEIGHTS = ("Vx", "Vy", "Q", "R")


def starts(X, Y, k, s, ridge=0.0):
    """Unrelated initial weights, as large as the policy has them."""
    rng, (m, n) = np.random.default_rng(3), (X.shape[1], Y.shape[1])
    size_x, size_y, size_q = Drive.of(X, Y, (ridge, ridge)).start(s)
    return {
        "Vx0": size_x * rng.standard_normal((m, k)),
        "Vy0": size_y * rng.standard_normal((n, k)),
        "Q0": size_q * (np.eye(k) + 0.2 * rng.standard_normal((k, k))),
        "R0": size_q * (np.eye(k) + 0.2 * rng.standard_normal((k, k))),
    }


@pytest.mark.parametrize(("k", "interneurons"), [(1, 1), (2, 2), (2, 5), (8, 8)])
def test_no_seed_starts_without_inhibition(k, interneurons):
    """Proximal learning has the gain QR: where an eigenvalue is near zero or negative, outputs run
    away at first.
    """
    for seed in range(2000):
        drawn = draw_weights([Area(k, interneurons, 0.0)], 1, 1, (1.0, 1.0, 1.0), seed)
        gains = np.linalg.eigvals(drawn["Q"] @ drawn["R"])
        assert 0.4 < gains.real.min() <= abs(gains).max() < 2
        assert not np.array_equal(drawn["Q"].T, drawn["R"])


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_circuit_and_algorithm_are_the_same_numbers(s, data):
    """Whatever the units of the data."""
    X, Y = data[0][:1000] * 7, data[1][:1000] / 50
    given = starts(X, Y, 2, s)
    order = np.random.default_rng(1).permutation(len(X))
    circuit = Microcircuit(2, s=s, engine="numpy", **given)
    run = circuit.run(X, Y, order=order, final=False, progress=False)
    same_numbers(run, OnlineBioRRR(2, s=s, **given).partial_fit(X[order], Y[order]), given)


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_they_cool_down_together(s, data):
    X, Y = data[0][:600] * 7, data[1][:600] / 50
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    given = starts(X, Y, 2, s)
    order = shuffled_passes(len(X), 1500, np.random.RandomState(5))
    run = Microcircuit(2, s=s, engine="numpy", **given).run(
        X, Y, order=order, record=("z",), every=1, progress=False
    )
    same_numbers(run, OnlineBioRRR(2, s=s, steps=1500, random_state=5, **given).fit(X, Y), given)
    rates = {name: run.data[name].values for name in ("eta_x", "eta_y", "eta_q", "eta_r")}
    np.testing.assert_array_equal(rates["eta_q"], rates["eta_r"])
    for rate in rates.values():
        assert 0 < rate[-1] < 0.002 * rate.max()


def same_numbers(run, algorithm, given):
    for name in WEIGHTS:
        learned = getattr(run, name)
        np.testing.assert_allclose(
            learned, getattr(algorithm, f"{name}_"), rtol=1e-9, atol=1e-12 * abs(learned).max()
        )
        assert abs(learned - given[f"{name}0"]).max() > 0.1 * abs(learned).max()


@pytest.mark.parametrize("arguments", [{"ridge": 0.1}, {"feedback": 0.5}])
def test_only_an_end_that_is_not_announced_may_be_moved(arguments, data):
    X, Y = data[0][:10], data[1][:10]
    circuit = Microcircuit(2, engine="numpy", **arguments)
    options = {"record": (), "progress": False}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="start: ")
        half = circuit.run(X, Y, epochs=2, final=False, **options)
        open_ended = circuit.run(X, Y, epochs=4, final=False, **options)
        continued = circuit.run(X, Y, epochs=2, start=half, final=False, **options)
        ended = circuit.run(X, Y, epochs=2, start=half, **options)
    np.testing.assert_array_equal(continued.Vx, open_ended.Vx)
    assert [run.cooled for run in (half, open_ended, continued, ended)] == [
        False,
        False,
        False,
        True,
    ]
    assert abs(ended.Vx - open_ended.Vx).max() > 0
    with pytest.warns(
        UserWarning, match="start: that run was final, and its rates have fallen to zero"
    ):
        circuit.run(X, Y, start=ended, **options)


def test_rates_that_are_given_are_used_as_they_stand(data):
    X, Y = data[0][:50], data[1][:50]
    circuit = Microcircuit(2, rates=Rates(Rate(0.01), Rate(0.01), Rate(0.01)), engine="numpy")
    final, open_ended = (
        circuit.run(X, Y, final=final, record=(), progress=False) for final in (True, False)
    )
    np.testing.assert_array_equal(final.Vx, open_ended.Vx)
    assert not final.cooled


def test_a_run_that_is_stopped_has_not_cooled_down(data):
    run = Microcircuit(2, engine="numpy").run(
        *data, callback=lambda seen, weights: seen > 10, progress=False
    )
    assert run.ended == "stopped"
    assert not run.cooled


def overshoot(run, exact, X):
    """Largest mean of |z|^2 over 1,000 consecutive samples, relative to that of the exact
    solution."""
    power = np.square(run.data["z"].values).sum(axis=1)
    means = np.convolve(power, np.full(1000, 1 / 1000), "valid")
    return means.max() / np.square(X @ exact.Vx(run.Vx.shape[1])).sum(axis=1).mean()


def white(rng):
    """White X of 300 dimensions, of which three predict Y, 20,000 samples."""
    X = rng.standard_normal((20_000, 300))
    weights = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 40)) / np.sqrt(300)
    return X, X @ weights + 3 * rng.standard_normal((20_000, 40))


def patches(rng):
    """Left and right halves of grey CIFAR patches, 10 by 10 pixels, 20,000 samples.

    Rates that fall too early leave an excess of 7 % with k = 5 and s = 1.
    """
    try:
        images = load("cifar10").X.reshape(-1, 3, 32, 32).mean(axis=1)
    except DataError as error:
        pytest.skip(str(error))
    places = (rng.integers(count, size=20_000) for count in (len(images), 23, 23))
    found = np.stack([images[i, r : r + 10, c : c + 10] for i, r, c in zip(*places, strict=True)])
    return found[:, :, :5].reshape(20_000, 50), found[:, :, 5:].reshape(20_000, 50)


DRAWN = {"white": white, "patches": patches}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*columns are constant")
@pytest.mark.parametrize(
    ("name", "k", "s"),
    [
        ("patches", 5, 1),
        ("digits", 5, 0),
        ("digits", 1, 1),
        ("digits", 8, 0),
        ("v1v2", 1, 0),
        ("v1v2", 5, 1),
        ("v1v2", 8, 0),
        ("white", 5, 0),
    ],
)
def test_it_learns_whitens_and_does_not_overshoot(name, k, s):
    """In 100,000 samples on the circuit itself: rates that let a direction starve or flare up do
    not pass.
    """
    if name in DRAWN:
        X, Y = DRAWN[name](np.random.default_rng(0))
        X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    else:
        try:
            data = load(name).centred()
        except DataError as error:
            pytest.skip(str(error))
        X, Y = data.X, data.Y
    ridge = 0.1 * float(np.square(X).mean())
    exact = ExactSolution(X, Y, s, ridge)
    circuit = Microcircuit(k, s=s, ridge=ridge, engine="cpp", seed=1)
    order = np.concatenate(
        [np.random.default_rng(i).permutation(len(X)) for i in range(-(-100_000 // len(X)))]
    )
    run = circuit.run(X, Y, order=order[:100_000], record=("z",), every=1, progress=False)
    assert exact.excess(run.Vx) < 0.02
    assert exact.whitening_error(run.Vx) < 0.02
    assert overshoot(run, exact, X) < 5
    if name == "digits":
        # The measures can say no: with inhibition frozen as it starts, nothing whitens the filters.
        frozen = circuit.run(
            X,
            Y,
            order=order[:20_000],
            events=[Freeze(0, "Q"), Freeze(0, "R")],
            record=(),
            progress=False,
        )
        assert exact.whitening_error(frozen.Vx) > 0.3


def test_rare_events_do_not_make_outputs_overshoot():
    """One sample in twenty carries nearly all of the power; without heed of it, outputs reach 58
    times theirs.
    """
    rng = np.random.default_rng(0)
    latents = rng.standard_normal((5000, 4)) * 3 * (rng.random((5000, 1)) < 0.05)
    X = latents @ rng.standard_normal((4, 20)) + 0.3 * rng.standard_normal((5000, 20))
    Y = latents @ rng.standard_normal((4, 8)) + 0.3 * rng.standard_normal((5000, 8))
    learner = OnlineBioRRR(
        k=2, s=1.0, ridge=0.1, steps=100_000, random_state=0, snapshots=np.arange(0, 100_000, 100)
    )
    path = learner.fit(X, Y).path_.Vx
    power = np.square(X @ path).sum(axis=2).mean(axis=1)
    assert power.max() < 5 * np.square(X @ ExactSolution(X, Y, 1.0, 0.1).Vx(2)).sum(axis=1).mean()


def test_noise_of_transmission_slows_proximal_learning():
    """At 0.7 of the mean, rates that do not heed the noise let the circuit diverge."""
    data = load("digits").centred()
    circuit = Microcircuit(2, engine="cpp", departures=[TransmissionNoise(0.7)])
    run = circuit.run(data.X, data.Y, epochs=33, record=(), progress=False)
    assert ExactSolution(data.X, data.Y).excess(run.Vx) < 0.05


@pytest.mark.parametrize("s", [0.0, 1.0])
def test_a_circuit_falls_silent_where_x_says_nothing_about_y(s):
    """Inhibition fades there, and rates that are divided by it must not grow without end."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 2))
    Y = np.sign(X[:, :1] * X[:, 1:])  # exclusive-or: no linear relation
    learner = OnlineBioRRR(k=1, s=s, ridge=0.001, steps=300_000, random_state=0).fit(X, Y)
    circuit = Microcircuit(k=1, s=s, ridge=0.001, engine="cpp")
    with pytest.warns(UserWarning, match="all outputs are silent"):
        run = circuit.run(X, Y, epochs=100, centre=True, record=(), progress=False)
    for Q in (run.Q, learner.Q_):
        assert np.abs(Q).max() < 1e-3

"""The circuit is the paper's four update rules: every weight and every activity, on every
engine."""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.models import Rate, Rates

ENGINES = ["numpy", "cpp"]
WEIGHTS = ("Vx", "Vy", "Q", "R")
TRACES = ("x", "y", "z", "a", "n", "inhibition", "plateau")
EXACT = {"rtol": 0, "atol": 1e-12}


def assert_equal_weights(run, loop):
    for name in WEIGHTS:
        np.testing.assert_allclose(getattr(run, name), getattr(loop, name), **EXACT, err_msg=name)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("l", [2, 3])
def test_weights_follow_the_four_rules(engine, s, l, data, make_circuit, make_loop):
    X, Y = data
    loop = make_loop(l, s=s)
    for x, y in zip(X, Y, strict=True):
        loop.present(x, y)
    assert_equal_weights(make_circuit(engine, l, s=s).run(X, Y, order="sequential"), loop)


@pytest.mark.parametrize("engine", ENGINES)
def test_replay_is_the_ridge_of_the_loop(engine, data, make_circuit, make_loop):
    X, Y = data
    order = np.random.default_rng(3).integers(len(X), size=2000)
    loop = make_loop(s=0.3, ridge=0.2)
    shown = Presentation(len(X), X.shape[1], order, replay=4, seed=7).sequence(0, len(order))
    for row, *replayed in shown:
        loop.present(X[row], Y[row], replayed=[-1 - i for i in replayed])
    circuit = make_circuit(engine, s=0.3, ridge=0.2, replay=4, seed=7)
    assert_equal_weights(circuit.run(X, Y, order=order), loop)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_rearranges_arithmetic(engine, data, make_circuit, make_loop):
    """At s = 1 the decay of Vy is 1 - s + s * ridge, whatever small ridge y asks for."""
    X, Y = data[0][:200], 1e-8 * data[1][:200]
    start = 1e8 * make_loop(2, s=1.0).Vy
    rates = replace(make_loop(s=1.0).rates, y=Rate(0.02 / 1e-16))
    loop = make_loop(2, s=1.0, ridge=0.5e-16, rates=rates)
    loop.Vy = start
    for x, y in zip(X, Y, strict=True):
        loop.present(x, y)
    run = make_circuit(engine, 2, s=1.0, ridge=(0.0, 0.5e-16), rates=rates).run(
        X, Y, order="sequential", weights={"Vy": start}, progress=False
    )
    np.testing.assert_allclose(run.Vy, loop.Vy, rtol=0, atol=1e-12 * abs(loop.Vy).max())
    np.testing.assert_allclose(run.Vx, loop.Vx, **EXACT)


def test_two_ridges(data, make_circuit, make_loop):
    """With the ridge on Cyy alone nothing is replayed: the term is plain decay of Vy."""
    X, Y = data
    loop = make_loop(s=0.3, ridge=0.5)
    for x, y in zip(X, Y, strict=True):
        loop.present(x, y)
    assert_equal_weights(
        make_circuit("cpp", s=0.3, ridge=(0.0, 0.5)).run(X, Y, order="sequential"), loop
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_traces_and_snapshots_are_those_of_their_sample(
    engine, ridge, data, make_circuit, make_loop
):
    """Traces at every 7th sample are what the loop did there; a snapshot after t samples holds the
    loop's weights.
    """
    X, Y = data
    X, Y = X[:200], Y[:200]
    shown = Presentation(200, X.shape[1], "sequential", replay=4, seed=7).sequence(0, 200)
    loop = make_loop(s=0.3, ridge=ridge)
    activities, after = [], {0: {name: getattr(loop, name) for name in WEIGHTS}}
    for row, *replayed in shown:
        activities.append(loop.present(X[row], Y[row], [-1 - i for i in replayed] if ridge else ()))
        after[loop.t] = {name: getattr(loop, name).copy() for name in WEIGHTS}
    circuit = make_circuit(engine, s=0.3, ridge=ridge, replay=4, seed=7)
    run = circuit.run(X, Y, order="sequential", record=TRACES, every=7, snapshots=10)

    assert run.data["sample"].values.tolist() == list(range(0, 200, 7))
    for name in TRACES:
        expected = [activities[t][name] for t in range(0, 200, 7)]
        np.testing.assert_allclose(run.data[name].values, expected, **EXACT, err_msg=name)
    np.testing.assert_allclose(
        run.data["eta_x"].values, circuit.rates.x(run.data["sample"].values), rtol=1e-14
    )

    seen = run.data["seen"].values
    assert seen[0] == 0
    assert seen[-1] == 200
    assert len(seen) == 1 + 10
    for place, t in enumerate(seen):
        for name in WEIGHTS:
            np.testing.assert_allclose(
                run.data[name].values[place], after[t][name], **EXACT, err_msg=f"{name} at {t}"
            )


def test_snapshots_lie_evenly_in_log_time(data, make_circuit):
    seen = make_circuit("cpp").run(*data, snapshots=30).data["seen"].values
    late = seen[seen > 30]
    steps = np.diff(np.log(late))
    assert steps.max() / steps.min() < 1.1


@pytest.mark.parametrize("engine", ENGINES)
def test_one_interneuron_for_two_outputs_follows_the_four_rules_with_a_warning(
    engine, data, make_circuit, make_loop
):
    X, Y = data
    loop = make_loop(1, s=0.3)
    for x, y in zip(X, Y, strict=True):
        loop.present(x, y)
    words = r"fewer than outputs \(1 for k = 2\).*docs/interneurons.md"
    circuit = make_circuit(engine, 1, s=0.3)
    with pytest.warns(UserWarning, match=words):
        run = circuit.run(X, Y, order="sequential")
    assert_equal_weights(run, loop)


@pytest.mark.parametrize("engine", ENGINES)
def test_interneurons_beyond_outputs_change_nothing(engine, data, make_circuit):
    """With R = Q' the product QR changes by a rule of its own, whatever the number of
    interneurons.
    """
    X, Y = data
    rates = Rates(Rate(0.004), Rate(0.02), Rate(0.008))
    found = []
    for l in (2, 3):
        Q = np.eye(2) if l == 2 else np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
        start = {"Q": Q, "R": Q.T.copy()}
        circuit = make_circuit(engine, l, s=0.3, rates=rates)
        run = circuit.run(X, Y, order="sequential", weights=start, progress=False)
        found.append([run.Vx, run.Vy, run.Q @ run.R])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, **EXACT)

"""Learning across time: eligibility traces, late instruction, plasticity whose sign depends on the
weight.
"""

import warnings

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.models import (
    Eligibility,
    LateInstruction,
    Leaky,
    LoopDelay,
)

ENGINES = ["numpy", "cpp"]
WEIGHTS = ("Vx", "Vy", "Q", "R")
EXACT = {"rtol": 0, "atol": 1e-12}
TRACES = Eligibility(tau_x=4.0, tau_plateau=1.5, tau_output=3.0)


def step(tau, lapse=1.0):
    return 1 - np.exp(-lapse / tau)


@pytest.mark.parametrize("engine", ENGINES)
def test_products_of_traces_teach(engine, data, make_circuit, make_loop):
    """Instruction two samples late, a ridge by replay, which has no past, and s between the two
    regressions.
    """
    X, Y = data[0][:300], data[1][:300]
    loop = make_loop(s=0.3, ridge=0.2)
    e, p, o = np.zeros(6), np.zeros(2), np.zeros(2)
    shown = Presentation(300, 6, "sequential", replay=4, seed=7).sequence(0, 300)
    late = np.concatenate([np.zeros((2, 4)), Y])
    for t, (row, *replayed) in enumerate(shown):
        Vx, Vy, eta = loop.Vx, loop.Vy, {path: getattr(loop.rates, path)(t) for path in "xyqr"}
        seen = loop._activities(X[row], late[t])
        e += step(4.0) * (X[row] - e)
        p += step(1.5) * (seen["plateau"] - p)
        o += step(3.0) * (seen["z"] - o)
        Q, R = loop.Q, loop.R
        loop.Vx = Vx + eta["x"] * np.outer(e, p)
        loop.Vy = Vy + eta["y"] * (np.outer(late[t], o - 0.3 * seen["a"]) - (0.7 + 0.3 * 0.2) * Vy)
        loop.Q = Q + eta["q"] * (np.outer(seen["z"], seen["n"]) - Q)
        loop.R = R + eta["r"] * (np.outer(seen["n"], seen["z"]) - R)
        for i in replayed:
            echo = loop._activities(np.eye(6)[-1 - i], np.zeros(4))
            gain = 0.2 * 6 / 4
            loop.Vx[-1 - i] += eta["x"] * gain * echo["plateau"]
            loop.Q = loop.Q + eta["q"] * gain * np.outer(echo["z"], echo["n"])
            loop.R = loop.R + eta["r"] * gain * np.outer(echo["n"], echo["z"])
    departures = (LateInstruction(2), TRACES)
    circuit = make_circuit(engine, s=0.3, ridge=0.2, replay=4, seed=7, departures=departures)
    run = circuit.run(
        X, Y, order="sequential", record=("x_eligibility", "z_eligibility"), every=1, progress=False
    )
    for name in WEIGHTS:
        np.testing.assert_allclose(getattr(run, name), getattr(loop, name), **EXACT, err_msg=name)
    np.testing.assert_allclose(run.data["x_eligibility"].values[-1], e, **EXACT)
    np.testing.assert_allclose(run.data["z_eligibility"].values[-1], o, **EXACT)


@pytest.mark.parametrize("engine", ENGINES)
def test_traces_count_in_seconds_where_dynamics_have_time(engine, data, make_circuit, make_loop):
    """Samples held for four ticks of 5 ms, membranes without delay: the loop's rule, averaged over
    the ticks.
    """
    X, Y = data[0][:60], data[1][:60]
    loop = make_loop(s=0.3)
    e, p, o = np.zeros(6), np.zeros(2), np.zeros(2)
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        eta = {path: getattr(loop.rates, path)(t) for path in "xyqr"}
        seen = loop._activities(x, y)
        changes = []
        for _ in range(4):
            e += step(0.05, 0.005) * (x - e)
            p += step(0.02, 0.005) * (seen["plateau"] - p)
            o += step(0.03, 0.005) * (seen["z"] - o)
            changes.append((np.outer(e, p), np.outer(y, o - 0.3 * seen["a"]) - 0.7 * loop.Vy))
        dVx, dVy = (np.mean(each, axis=0) for each in zip(*changes, strict=True))
        loop.Vx, loop.Vy = loop.Vx + eta["x"] * dVx, loop.Vy + eta["y"] * dVy
        loop.Q = loop.Q + eta["q"] * (np.outer(seen["z"], seen["n"]) - loop.Q)
        loop.R = loop.R + eta["r"] * (np.outer(seen["n"], seen["z"]) - loop.R)
    circuit = make_circuit(
        engine, s=0.3, departures=(Eligibility(50, 20, 30), Leaky(0, 0, 0, 0, hold=20, dt=5))
    )
    run = circuit.run(X, Y, order="sequential", record=(), progress=False)
    for name in WEIGHTS:
        np.testing.assert_allclose(getattr(run, name), getattr(loop, name), **EXACT, err_msg=name)


def test_without_time_constants_nothing_changes(data, make_circuit):
    plain, none = (
        make_circuit("numpy", s=0.3),
        make_circuit("numpy", s=0.3, departures=(Eligibility(),)),
    )
    assert none.parts == plain.parts
    one, other = (
        circuit.run(*data, order=np.arange(100), progress=False) for circuit in (plain, none)
    )
    for name in (*WEIGHTS, "plateau"):
        np.testing.assert_array_equal(one.data[name], other.data[name])


@pytest.mark.parametrize("engine", [pytest.param("numpy", marks=pytest.mark.slow), "cpp"])
def test_traces_are_resumed_bit_for_bit(engine, data, make_circuit, tmp_path):
    X, Y = data[0][:200], data[1][:200]
    circuit = make_circuit(
        engine, s=0.3, ridge=0.2, replay=4, seed=7, departures=(LateInstruction(2), TRACES)
    )
    options = {
        "order": "sequential",
        "record": ("plateau_eligibility",),
        "every": 9,
        "progress": False,
    }
    straight = circuit.run(X, Y, **options)
    stopped = circuit.run(
        X, Y, callback=lambda t, _: t > 60, checkpoint=tmp_path / "c.npz", **options
    )
    assert stopped.samples < 200
    resumed = circuit.run(
        X, Y, callback=lambda t, _: False, checkpoint=tmp_path / "c.npz", **options
    )
    for name in (*WEIGHTS, "plateau_eligibility"):
        np.testing.assert_array_equal(straight.data[name], resumed.data[name], err_msg=name)
    half = circuit.run(X[:100], Y[:100], order="sequential", progress=False)
    second = circuit.run(X[100:], Y[100:], order="sequential", start=half, progress=False)
    assert abs(second.Vx - straight.Vx).max() < 1e-12


def test_a_trace_of_what_comes_in_random_order_is_warned_of(data, make_circuit):
    X, Y = data[0][:10], data[1][:10]
    with pytest.warns(
        UserWarning, match=r"order: 'shuffle' presents .* Eligibility\(.*order='sequential'"
    ):
        make_circuit("numpy", departures=(TRACES,)).run(X, Y, progress=False)
    within = make_circuit("numpy", departures=(Eligibility(10), Leaky(hold=20, dt=5)))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="order")
        within.run(X, Y, progress=False)
        make_circuit("numpy", departures=(TRACES,)).run(X, Y, order="sequential", progress=False)
        make_circuit("numpy", departures=(LateInstruction(2), TRACES)).run(X, Y, progress=False)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_delays_within_a_held_sample(engine, data, make_circuit, make_loop):
    """Inhibition three ticks late and instruction two, in samples of four ticks: the last sample's
    at first.
    """
    X, Y = data[0][:40], data[1][:40]
    loop = make_loop(s=0.3)
    said, told = [np.zeros(3)] * 3, [np.zeros(4)] * 2
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        eta = {path: getattr(loop.rates, path)(t) for path in "xyqr"}
        z, changes = loop.Vx.T @ x, []
        for _ in range(4):
            said, told = [*said, loop.R @ z], [*told, y]
            n, late = said.pop(0), told.pop(0)
            a = loop.Vy.T @ late
            changes.append(
                (
                    np.outer(x, a - loop.Q @ n),
                    np.outer(late, z - 0.3 * a) - 0.7 * loop.Vy,
                    np.outer(z, n) - loop.Q,
                    np.outer(n, z) - loop.R,
                )
            )
        for name, path, change in zip(WEIGHTS, "xyqr", zip(*changes, strict=True), strict=True):
            setattr(loop, name, getattr(loop, name) + eta[path] * np.mean(change, axis=0))
    circuit = make_circuit(
        engine,
        s=0.3,
        departures=(LoopDelay(ticks=3), LateInstruction(ticks=2), Leaky(0, 0, 0, 0, hold=20, dt=5)),
    )
    run = circuit.run(X, Y, order="sequential", record=(), progress=False)
    for name in WEIGHTS:
        np.testing.assert_allclose(getattr(run, name), getattr(loop, name), **EXACT, err_msg=name)


def test_rules_stay_local():
    assert all(
        rule.local for rule in Microcircuit(2, departures=[TRACES, LateInstruction(3)]).locality()
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Eligibility(-1.0), r"Eligibility.tau_x: must be finite and at least 0 \(got -1\)"),
        (
            lambda: LateInstruction(0.5),
            r"LateInstruction.samples: must be a whole number, at least 0 \(got 0.5\)",
        ),
        (
            lambda: LoopDelay(1, ticks=2),
            r"LoopDelay: must be a delay in samples or in ticks, not both \(got 1 and 2\)",
        ),
    ],
)
def test_errors_say_what_to_do(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_time_does_not_mean_samples(data):
    """Plain numbers are samples where all is instant, and ms where there is time."""
    import brian2

    X, Y = data[0][:30], data[1][:30]
    trace = Eligibility(tau_x=30 * brian2.ms)
    for settings in ({}, {"feedback": 0.5}):
        with pytest.raises(ValueError, match="plain numbers, of samples"):
            Microcircuit(2, departures=[trace], **settings)
    leaky = Leaky(hold=20, dt=5)
    timed, plain = (
        Microcircuit(2, engine="numpy", departures=[departure, leaky]).run(
            X, Y, order="sequential", progress=False
        )
        for departure in (trace, Eligibility(tau_x=30))
    )
    np.testing.assert_array_equal(timed.Vx, plain.Vx)


def test_plain_times_are_milliseconds():
    import brian2

    assert Eligibility(tau_x=1.5 * brian2.second) == Eligibility(tau_x=1500)

"""Inputs in time: series and spikes, on every engine, and what they become in their limits."""

import numpy as np
import pytest

from biorrr.circuit import Circuit, Microcircuit, TimeSeries
from biorrr.models import Leaky, Population, SensoryInput, Variable

ENGINES = ["numpy", "cpp"]
WEIGHTS = ("Vx", "Vy", "Q", "R")
EXACT = {"rtol": 0, "atol": 1e-12}
QUICK = {"progress": False, "record": ()}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_series_moves_from_tick_to_tick(engine, data, make_circuit, make_loop):
    """x changes in every tick of 5 ms, y in every second one; somata of 7 ms; plasticity averages
    over 20 ms.
    """
    X, Y = data[0][:160], data[1][:80]
    loop, soma = make_loop(s=0.3), np.zeros(2)
    for t in range(40):
        eta = {path: getattr(loop.rates, path)(t) for path in "xyqr"}
        changes = []
        for tick in range(4 * t, 4 * t + 4):
            x, y = X[tick], Y[tick // 2]
            soma += (1 - np.exp(-5 / 7)) * (loop.Vx.T @ x - soma)
            a, n = loop.Vy.T @ y, loop.R @ soma
            plateau = a - loop.Q @ n
            changes.append(
                (
                    np.outer(x, plateau),
                    np.outer(y, soma - 0.3 * a) - 0.7 * loop.Vy,
                    np.outer(soma, n) - loop.Q,
                    np.outer(n, soma) - loop.R,
                )
            )
        for name, path, change in zip(WEIGHTS, "xyqr", zip(*changes, strict=True), strict=True):
            setattr(loop, name, getattr(loop, name) + eta[path] * np.mean(change, axis=0))
    circuit = make_circuit(engine, s=0.3, departures=(Leaky(7, 0, 0, 0, hold=20, dt=5),))
    run = circuit.run(
        TimeSeries(X, 5), TimeSeries(Y, 10), record=("x", "y", "z"), every=1, progress=False
    )
    for name in WEIGHTS:
        np.testing.assert_allclose(getattr(run, name), getattr(loop, name), **EXACT, err_msg=name)
    np.testing.assert_array_equal(run.trace("x"), X)
    np.testing.assert_array_equal(run.trace("y"), np.repeat(Y, 2, axis=0))
    assert run.samples == 40
    np.testing.assert_allclose(run.data["start_time"], 0.02 * np.arange(40))


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_series_that_stands_still_is_a_table(engine, data, make_circuit):
    import brian2

    X, Y = data[0][:30], data[1][:30]
    circuit = make_circuit(
        engine, s=0.3, ridge=0.2, replay=2, departures=(Leaky(7, 0, 0, 0, hold=20, dt=5),)
    )
    table = circuit.run(X, Y, order="sequential", **QUICK)
    timed = lambda array: TimeSeries(array.values, array.dt * brian2.second)  # noqa: E731
    for signals in (
        (TimeSeries(X, 20), Y),
        (
            TimeSeries(np.repeat(X, 8, axis=0), 2.5 * brian2.ms),
            TimeSeries(np.repeat(Y, 4, axis=0), 5),
        ),
        (
            timed(brian2.TimedArray(X, dt=20 * brian2.ms)),
            timed(brian2.TimedArray(Y, dt=20 * brian2.ms)),
        ),
    ):
        run = circuit.run(*signals, **QUICK)
        for name in WEIGHTS:
            np.testing.assert_allclose(
                getattr(run, name), getattr(table, name), **EXACT, err_msg=name
            )


def relay(engine):
    """A cell that passes on the sum of its inputs, in windows of 10 ms and ticks of 2 ms."""
    from biorrr.models import Clock, Pathway

    cell = Population(1, "cell", [Variable("z", "output")])
    drive = Pathway(
        "relay",
        "sensory",
        "cell",
        drives="z",
        current="w * x_pre",
        phase="drive",
        start="1 + 0 * w",
    )
    return Circuit([Clock(5.0, tick=2.0), SensoryInput(), cell], [drive], engine=engine)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_spikes_are_counted_tick_by_tick(engine):
    times, fibres = [0.5, 3.1, 3.9, 15.1, 18.9], [1, 0, 0, 2, 1]
    counts = np.zeros((10, 3))
    for time, fibre in zip(times, fibres, strict=True):
        counts[int(time // 2), fibre] += 1
    signal = TimeSeries.of_spikes(times, fibres, dt=2, duration=20, rate=50)
    run = relay(engine).run({"x": signal}, record=("x", "z"), every=1, progress=False)
    np.testing.assert_allclose(run.trace("x"), counts / (50 * 0.002), **EXACT)
    np.testing.assert_allclose(run.trace("z")[:, 0], counts.sum(axis=1) / (50 * 0.002), **EXACT)


@pytest.mark.parametrize(
    ("make", "left_out"),
    [
        (lambda X: TimeSeries(X[:30], 5), 10),  # rows as long as a tick: 7 windows and a half
        (lambda X: TimeSeries(X[::3][:57], 2.5), 2.5),  # finer rows: 7 windows and one row
    ],
)
def test_an_incomplete_last_window_is_left_out_with_a_warning(make, left_out, data, make_circuit):
    circuit = make_circuit("numpy", departures=(Leaky(hold=20, dt=5),))
    text = rf"X: its last {left_out} ms do not fill a window of 20 ms and are left out"
    with pytest.warns(UserWarning, match=text):
        run = circuit.run(make(data[0]), data[1][:7], **QUICK)
    assert run.samples == 7


def test_continuous_inputs_become_the_algebraic_circuit_to_first_order(data, make_circuit):
    """Inputs that approach each sample exponentially: half the time constant, half the error."""
    X, Y = data[0][:100], data[1][:100]
    exact = make_circuit("cpp", s=0.3).run(X, Y, order="sequential", **QUICK)
    circuit = make_circuit("cpp", s=0.3, departures=(Leaky(0, 0, 0, 0, hold=100, dt=0.5),))
    errors = []
    for tau in (4.0, 2.0, 1.0):
        left = np.exp(-0.5 * np.arange(200) / tau)[:, None]
        moving = [
            np.concatenate(
                [
                    now + left * (before - now)
                    for before, now in zip([0 * v[0], *v], v, strict=False)
                ]
            )
            for v in (X, Y)
        ]
        run = circuit.run(*(TimeSeries(v, 0.5) for v in moving), **QUICK)
        errors.append(max(abs(getattr(run, name) - getattr(exact, name)).max() for name in WEIGHTS))
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.1)


def poisson(values, rate, seed, dt=0.0005, held=200):
    """Return values as Poisson spikes of pairs of fibres, one of each sign, which end at the same
    synapses.
    """
    means = np.repeat(values, held, axis=0) * rate * dt
    spikes = np.random.default_rng(seed).poisson(np.abs(means))
    return TimeSeries(np.sign(means) * spikes / (rate * dt), 1000 * dt)


def test_spiking_inputs_become_the_algebraic_circuit(data, make_circuit):
    """Scatter falls as one over the root of the rate; the bias, from spikes that meet themselves,
    as one over it.
    """
    X, Y = data[0][:100], data[1][:100]
    exact = make_circuit("cpp", s=0.3).run(X, Y, order="sequential", **QUICK)
    circuit = make_circuit("cpp", s=0.3, departures=(Leaky(0, 0, 0, 0, hold=100, dt=0.5),))
    scatter, bias = [], []
    for rate in (1e4, 1.6e5):
        runs = [
            circuit.run(poisson(X, rate, 2 * i), poisson(Y, rate, 2 * i + 1), **QUICK)
            for i in range(24)
        ]
        errors = np.stack([run.Vx - exact.Vx for run in runs])
        scatter.append(np.linalg.norm(errors.std(axis=0)))
        bias.append(np.linalg.norm(errors.mean(axis=0)))
    assert scatter[0] / scatter[1] == pytest.approx(4, rel=0.35)
    assert bias[0] / bias[1] == pytest.approx(16, rel=0.35)


def test_signals_are_resumed_and_continued(data, make_circuit, tmp_path):
    X, Y = TimeSeries(data[0][:160], 5), poisson(data[1][:40], 500, 0, 0.005, 4)
    circuit = make_circuit("cpp", s=0.3, departures=(Leaky(7, 0, 0, 0, hold=20, dt=5),))
    straight = circuit.run(X, Y, **QUICK)
    circuit.run(X, Y, callback=lambda t, _: t > 15, checkpoint=tmp_path / "c.npz", **QUICK)
    resumed = circuit.run(X, Y, callback=lambda t, _: False, checkpoint=tmp_path / "c.npz", **QUICK)
    np.testing.assert_array_equal(resumed.Vx, straight.Vx)


def test_figures_and_nwb_carry_seconds(data, make_circuit, tmp_path):
    circuit = make_circuit("numpy", s=0.3, departures=(Leaky(hold=5, dt=5),))
    run = circuit.run(
        TimeSeries(data[0][:40], 5), TimeSeries(data[1][:40], 5), every=1, progress=False
    )
    assert run.plot_plateau()[-1, 0].get_xlabel() == "time (s)"
    assert run.data["start_time"].values[-1] == pytest.approx(0.195)
    pynwb = pytest.importorskip("pynwb", reason="needs the extra nwb")
    run.to_nwb(tmp_path / "run.nwb")
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "r") as io:
        assert io.read().processing["simulation"]["plateau"].rate == pytest.approx(200)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda X: TimeSeries(X, -1),
            r"TimeSeries.dt: must be finite and positive \(got -1\); a plain number is in ms",
        ),
        (
            lambda X: TimeSeries(X, 7),
            r"X: its rows must last a whole number .*rows of 7 ms and ticks of 5 ms",
        ),
        (
            lambda X: TimeSeries(X[:2], 5),
            r"X: must last at least one window of 20 ms, .* \(got 10 ms\)",
        ),
        (
            lambda X: TimeSeries(X[:8], 5),
            r"X, Y: must have as many samples as each other \(got 2 and 40\)",
        ),
        (
            lambda X: TimeSeries.of_spikes([0.1, 0.2], [0], 1),
            r"must be a time and .* shapes \(2,\) and \(1,\)",
        ),
        (
            lambda X: TimeSeries.of_spikes([0.1], [7], 1, n=6),
            r"must lie in .* in \[0, 5\], the fibres .* 7 to 7",
        ),
        (
            lambda X: TimeSeries.of_spikes([-0.1], [0], 1, duration=1),
            r"must lie in \[0, 1\] ms, .*got -0.1 to -0.1 ms",
        ),
        (lambda X: TimeSeries.of_spikes([9.0], [0], 1e-12), "dt: would take 72000.0 GB of memory"),
    ],
)
def test_errors_say_what_to_do(make, text, data, make_circuit):
    circuit = make_circuit("numpy", departures=(Leaky(hold=20, dt=5),))
    with pytest.raises(ValueError, match=text):
        circuit.run(make(data[0][:160]), data[1][:40], progress=False)


def test_without_time_there_are_no_signals(data):
    with pytest.raises(
        ValueError, match=r"X: is a signal in time \(TimeSeries\), .*departures=\[Leaky"
    ):
        Microcircuit(2).run(TimeSeries(data[0], 10), data[1])

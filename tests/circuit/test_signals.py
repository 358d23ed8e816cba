"""Inputs in time: series, spikes and Poisson spikes, on every engine, and what they become in their limits."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from biorrr.circuit import Circuit, Microcircuit, PoissonSpikes, SpikeTrains, TimeSeries
from biorrr.errors import InputError
from biorrr.models import Leaky, Population, SensoryInput, Variable

ENGINES = ["numpy", "cpp", pytest.param("cython", marks=pytest.mark.slow)]
WEIGHTS = ("Vx", "Vy", "Q", "R")
EXACT = {"rtol": 0, "atol": 1e-12}
QUICK = {"progress": False, "record": ()}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_series_moves_from_tick_to_tick(engine, data, make_circuit, make_loop):
    """x changes in every tick of 5 ms, y in every second one; somata of 7 ms; plasticity averages over 20 ms."""
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
    run = circuit.run(TimeSeries(X, 0.005), TimeSeries(Y, 0.01), record=("x", "y", "z"), every=1, progress=False)
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
    circuit = make_circuit(engine, s=0.3, ridge=0.2, replay=2, departures=(Leaky(7, 0, 0, 0, hold=20, dt=5),))
    table = circuit.run(X, Y, order="sequential", **QUICK)
    for signals in (
        (TimeSeries(X, 0.02), Y),
        (TimeSeries(np.repeat(X, 8, axis=0), 2.5 * brian2.ms), TimeSeries(np.repeat(Y, 4, axis=0), 0.005)),
        (brian2.TimedArray(X, dt=20 * brian2.ms), brian2.TimedArray(Y, dt=20 * brian2.ms)),
    ):
        run = circuit.run(*signals, **QUICK)
        for name in WEIGHTS:
            np.testing.assert_allclose(getattr(run, name), getattr(table, name), **EXACT, err_msg=name)


def relay(engine):
    """A cell that passes on the sum of its inputs, in windows of 10 ms and ticks of 2 ms."""
    from biorrr.models import HoldingClock, Pathway, with_values

    clock = with_values(HoldingClock(), held=5.0, tick=2.0, lapse=0.002)
    cell = Population(1, "cell", [Variable("z", "output")])
    drive = Pathway("relay", "sensory", "cell", drives="z", current="w * x_pre", phase="drive", start="1 + 0 * w")
    return Circuit([clock, SensoryInput(), cell], [drive], engine=engine)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_spikes_are_counted_tick_by_tick(engine):
    times, fibres = [0.0005, 0.0031, 0.0039, 0.0151, 0.0189], [1, 0, 0, 2, 1]
    counts = np.zeros((10, 3))
    for time, fibre in zip(times, fibres, strict=True):
        counts[int(time // 0.002), fibre] += 1
    signal = SpikeTrains(times, fibres, duration=0.02, rate=50)
    with pytest.warns(UserWarning, match="its mean is large"):
        run = relay(engine).run({"x": signal}, record=("x", "z"), every=1, progress=False)
    np.testing.assert_allclose(run.trace("x"), counts / (50 * 0.002), **EXACT)
    np.testing.assert_allclose(run.trace("z")[:, 0], counts.sum(axis=1) / (50 * 0.002), **EXACT)


def test_rates_fitted_to_spikes_are_those_of_the_input_that_they_stand_for():
    """Spikes are kept as counts; the same input given as a series has the same rates and ends with the same weights."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(5.0, (600, 4))
    fired = np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0)
    spikes = SpikeTrains(0.005 * (fired[:, 0] + 0.5), fired[:, 1], 4, duration=3.0, rate=1000.0)
    series = TimeSeries(counts / 5.0, dt=0.005)
    y = TimeSeries(rng.standard_normal((60, 2)), dt=0.05)
    circuit = Microcircuit(k=1, departures=[Leaky(hold=50, dt=5)], engine="numpy")
    runs = [circuit.run(x, y, centre=True, progress=False) for x in (spikes, series)]
    for name, matrix in runs[1].weights.items():
        np.testing.assert_allclose(runs[0].weights[name], matrix, rtol=1e-9, err_msg=name)


def test_poisson_spikes_have_the_mean_and_variance_they_should():
    values = np.random.default_rng(0).uniform(-2, 2, (3000, 2))
    rows = PoissonSpikes(values, rate=400, dt=0.05).rows("X", 0.005, 1)
    x = rows.unit * np.asarray(rows.values, dtype=float).reshape(3000, 10, 2)
    error = x.mean(axis=1) - values
    expected = np.sqrt(np.abs(values) / (400 * 0.05))
    assert abs((error / expected).mean()) < 0.06
    assert (error / expected).std() == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize(("value", "rate", "tick"), [(1.0, 1e8, 0.002), (1e4, 1e4, 0.01), (-1.0, 1e8, 0.002)])
def test_many_poisson_spikes_in_a_tick_are_all_counted(value, rate, tick):
    rows = PoissonSpikes(np.full((50, 1), value), rate).rows("X", tick, 4)
    assert (np.asarray(rows.values) * rows.unit).mean() == pytest.approx(value, rel=0.01)


def test_more_poisson_spikes_than_can_be_counted_are_refused():
    with pytest.raises(InputError, match=r"X: must have fewer than 9e\+15 spikes in a tick .*got 1e\+20.*lower rate"):
        PoissonSpikes(np.full((2, 1), 1e10), 1e10).rows("X", 1.0, 1)


def test_a_brian2_signal_with_a_unit_is_refused(data, make_circuit):
    import brian2

    circuit = make_circuit("numpy", departures=(Leaky(hold=20, dt=5),))
    with pytest.raises(TypeError, match=r"X: carries a physical unit .*divide by the unit"):
        circuit.run(brian2.TimedArray(data[0][:30] * brian2.mV, dt=20 * brian2.ms), data[1][:30], progress=False)


@pytest.mark.parametrize(
    ("make", "left_out"),
    [
        (lambda X: TimeSeries(X[:30], 0.005), 10),  # rows as long as a tick: 7 windows and a half
        (lambda X: TimeSeries(X[::3][:57], 0.0025), 2.5),  # finer rows: 7 windows and one row
        (lambda X: PoissonSpikes(X[:15], 500, dt=0.01), 10),
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
            np.concatenate([now + left * (before - now) for before, now in zip([0 * v[0], *v], v, strict=False)])
            for v in (X, Y)
        ]
        run = circuit.run(*(TimeSeries(v, 0.0005) for v in moving), **QUICK)
        errors.append(max(abs(getattr(run, name) - getattr(exact, name)).max() for name in WEIGHTS))
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.1)


def test_spiking_inputs_become_the_algebraic_circuit(data, make_circuit):
    """Scatter falls as one over the root of the rate; the bias, from spikes that meet themselves, as one over it."""
    X, Y = data[0][:100], data[1][:100]
    exact = make_circuit("cpp", s=0.3).run(X, Y, order="sequential", **QUICK)
    circuit = make_circuit("cpp", s=0.3, departures=(Leaky(0, 0, 0, 0, hold=100, dt=0.5),))
    scatter, bias = [], []
    for rate in (1e4, 1.6e5):
        runs = [
            circuit.run(PoissonSpikes(X, rate, seed=2 * i), PoissonSpikes(Y, rate, seed=2 * i + 1), **QUICK)
            for i in range(24)
        ]
        errors = np.stack([run.Vx - exact.Vx for run in runs])
        scatter.append(np.linalg.norm(errors.std(axis=0)))
        bias.append(np.linalg.norm(errors.mean(axis=0)))
    assert scatter[0] / scatter[1] == pytest.approx(4, rel=0.35)
    assert bias[0] / bias[1] == pytest.approx(16, rel=0.35)


def test_signals_are_resumed_and_continued(data, make_circuit, tmp_path):
    X, Y = TimeSeries(data[0][:160], 0.005), PoissonSpikes(data[1][:40], rate=500)
    circuit = make_circuit("cpp", s=0.3, departures=(Leaky(7, 0, 0, 0, hold=20, dt=5),))
    straight = circuit.run(X, Y, **QUICK)
    circuit.run(X, Y, callback=lambda t, _: t > 15, checkpoint=tmp_path / "c.npz", **QUICK)
    resumed = circuit.run(X, Y, callback=lambda t, _: False, checkpoint=tmp_path / "c.npz", **QUICK)
    np.testing.assert_array_equal(resumed.Vx, straight.Vx)


def test_large_signals_lie_in_a_file_that_goes_with_them(data, make_circuit, monkeypatch, tmp_path):
    monkeypatch.setattr("biorrr.circuit.stimulus.signals._IN_MEMORY", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = PoissonSpikes(data[0][:40], rate=500).rows("X", 0.005, 4)
    (file,) = tmp_path.iterdir()
    assert isinstance(rows.values, np.memmap)
    del rows
    assert not file.exists()
    circuit = make_circuit("cpp", s=0.3, departures=(Leaky(7, 0, 0, 0, hold=20, dt=5),))
    laid_out = circuit.run(PoissonSpikes(data[0][:40], rate=500), data[1][:40], **QUICK)
    monkeypatch.undo()
    np.testing.assert_array_equal(laid_out.Vx, circuit.run(PoissonSpikes(data[0][:40], 500), data[1][:40], **QUICK).Vx)


FULL_DISK = """
import numpy as np
from biorrr.circuit import PoissonSpikes
from biorrr.circuit.stimulus import signals
signals._IN_MEMORY = 100
try:
    PoissonSpikes(np.ones((4_000_000, 1)), rate=500).rows("X", 0.005, 1)
except OSError as error:
    print(error)
"""


def test_a_full_temporary_disk_is_told_before_anything_is_written(tmp_path):
    """A real disk of 1 MB: a file that is mapped before it has its room ends the process with SIGBUS."""
    disk = ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs -o size=1m tmpfs '{tmp_path}' && exec \"$@\"", "sh"]
    if shutil.which("unshare") is None or subprocess.run([*disk, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*disk, sys.executable, "-c", FULL_DISK], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = "a signal of 4 MB does not fit there (No space left on device); free some room, or set $TMPDIR to another"
    assert text in done.stdout


def test_signals_of_a_killed_run_are_deleted_by_the_next(data, monkeypatch, tmp_path):
    monkeypatch.setattr("biorrr.circuit.stimulus.signals._IN_MEMORY", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "biorrr-scratch-killed"
    left.mkdir()
    signal = PoissonSpikes(data[0][:40], rate=500)
    in_use = signal.rows("X", 0.005, 4)
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    again = signal.rows("X", 0.005, 4)
    assert not left.exists()
    assert len(list(tmp_path.iterdir())) == 2
    np.testing.assert_array_equal(in_use.values, again.values)


def test_figures_and_nwb_carry_seconds(data, make_circuit, tmp_path):
    circuit = make_circuit("numpy", s=0.3, departures=(Leaky(hold=5, dt=5),))
    run = circuit.run(TimeSeries(data[0][:40], 0.005), TimeSeries(data[1][:40], 0.005), every=1, progress=False)
    assert run.plot_plateau()[-1, 0].get_xlabel() == "time (s)"
    assert run.data["start_time"].values[-1] == pytest.approx(0.195)
    pynwb = pytest.importorskip("pynwb", reason="needs the extra nwb")
    run.to_nwb(tmp_path / "run.nwb")
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "r") as io:
        assert io.read().processing["simulation"]["plateau"].rate == pytest.approx(200)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda X: TimeSeries(X, -1), r"TimeSeries.dt: must be finite and positive \(got -1\) s"),
        (lambda X: TimeSeries(X, 0.007), r"X: its rows must last a whole number .*rows of 7 ms and ticks of 5 ms"),
        (lambda X: TimeSeries(X[:2], 0.005), r"X: must last at least one window of 20 ms, .* \(got 10 ms\)"),
        (lambda X: TimeSeries(X[:8], 0.005), r"X, Y: must have as many samples as each other \(got 2 and 40\)"),
        (lambda X: SpikeTrains([0.1, 0.2], [0]), r"SpikeTrains: must have a time and .* shapes \(2,\) and \(1,\)"),
        (lambda X: SpikeTrains([0.1], [7], n=6), r"SpikeTrains.indices: must lie in \[0, 5\], the fibres"),
        (lambda X: SpikeTrains([-0.1], [0]), r"SpikeTrains.times: must lie in \[0, -?0.1\] s"),
        (lambda X: PoissonSpikes(X, rate=0), r"PoissonSpikes.rate: must be finite and positive"),
        (lambda X: PoissonSpikes(X, rate=100, dt=0.003), r"X: its rows must last .*rows of 3 ms and ticks of 5 ms"),
    ],
)
def test_errors_say_what_to_do(make, text, data, make_circuit):
    circuit = make_circuit("numpy", departures=(Leaky(hold=20, dt=5),))
    with pytest.raises(ValueError, match=text):
        circuit.run(make(data[0][:160]), data[1][:40], progress=False)


def test_a_brian2_group_is_to_be_recorded_first(data, make_circuit):
    import brian2

    circuit = make_circuit("numpy", departures=(Leaky(hold=20, dt=5),))
    with pytest.raises(InputError, match=r"X: must be data, not a Brian2 group \(got PoissonGroup\); record the group"):
        circuit.run(brian2.PoissonGroup(6, 10 * brian2.Hz), data[1], progress=False)


def test_without_time_there_are_no_signals(data):
    with pytest.raises(ValueError, match=r"X: is a signal in time \(TimeSeries\), .*departures=\[Leaky"):
        Microcircuit(2).run(TimeSeries(data[0], 0.01), data[1])

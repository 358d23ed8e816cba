"""What ``make bench`` compares computes the same, and what it writes is what was measured."""

import importlib
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.models import Millivolts, Rate, Rates

sys.path.insert(0, str(Path(__file__).parent))
bench = importlib.import_module("bench")
time_per_sample = importlib.import_module("time_per_sample")
prepare = bench.prepare
tasks = importlib.import_module("contestants.task")
Task, HeldTask, SettledTask = tasks.Task, tasks.HeldTask, tasks.SettledTask
MillivoltTask = tasks.MillivoltTask


@pytest.fixture(scope="module")
def task():
    return Task(6, 4, 2)


def assert_equal(expected, learned):
    for matrix, values in expected.items():
        np.testing.assert_allclose(learned[matrix], values, rtol=0, atol=1e-12, err_msg=matrix)


@pytest.mark.parametrize("name", [*bench.PLAIN, "circuit"])
def test_all_contestants_learn_the_same(name, task):
    learners = prepare(task, ["matrix_loop", name])
    if name not in learners:
        pytest.skip(f"{name} needs what is not installed")
    expected, learned = learners["matrix_loop"](300), learners[name](300)
    assert np.abs(expected["Vx"] - task.Vx).max() > 1e-6
    assert_equal(expected, learned)


@pytest.mark.parametrize("spiking", [False, True])
def test_held_samples_teach_the_same(spiking):
    learners = prepare(HeldTask(6, 4, 2, ticks=20, spiking=spiking), ("leaky_c_loop", "circuit"))
    assert_equal(*(learn(5) for learn in learners.values()))


def test_settled_samples_teach_the_same():
    learners = prepare(SettledTask(6, 4, 2), ("settled_c_loop", "circuit"))
    assert_equal(*(learn(50) for learn in learners.values()))


# 32 ticks of 0.5 ms add up to a little more than 16 ms, 160 ticks of 0.1 ms to a little less.
@pytest.mark.parametrize("dt", [0.5, 0.1])
def test_a_loop_in_C_and_the_circuit_in_millivolts_learn_the_same(dt):
    """So many samples that some spikes follow another by just 16 ms: rounding must not decide if
    that is a burst.
    """
    cells = Millivolts(population=4, interneuron_population=3, hold=30.0, latency=10.0, dt=dt)
    task = MillivoltTask(5, 3, 2, cells=cells)
    learners = prepare(task, ("circuit", "millivolt_c_loop"))
    expected, learned = learners["millivolt_c_loop"](1000), learners["circuit"](1000)
    for matrix, values in expected.items():
        assert np.abs(values - getattr(task, matrix)).max() > 0.1
        np.testing.assert_allclose(learned[matrix], values, rtol=1e-9, atol=1e-12, err_msg=matrix)


@pytest.mark.slow
def test_stock_brian2_simulates_the_same_cells():
    """By their rates and by what Q and R become."""
    task = MillivoltTask(64, 10, 2)
    stock = prepare(task, ["stock_brian2"])["stock_brian2"](200)
    rates = Rates(*(Rate(eta0, N) for eta0, N in zip(task.eta0, task.N, strict=True)))
    start = {f"{name}0": getattr(task, name) for name in ("Vx", "Vy", "Q", "R")}
    means = ("usual_events", "usual_bursts", "usual_spikes")
    run = Microcircuit(2, rates=rates, cell=task.cells, engine="cpp", **start).run(
        task.X, task.Y, order=np.arange(200), record=means, every=1, progress=False
    )
    for name in means:
        np.testing.assert_allclose(
            stock[name], run.data[name].values[-1, -1], rtol=0.05, err_msg=name
        )
    for name in ("Q", "R"):
        assert np.abs(getattr(run, name) - getattr(task, name)).max() > 0.03
        np.testing.assert_allclose(stock[name], getattr(run, name), atol=0.01, err_msg=name)


def test_start_up_is_no_part_of_the_slope(monkeypatch):
    lengths = []
    pace = {"slow": 3e-3, "fast": 2e-4}

    def seconds(call):
        name = call()
        return 0.5 + pace[name] * lengths[-1]

    monkeypatch.setattr(time_per_sample, "undisturbed_seconds", seconds)
    runs = {name: lambda n, name=name: lengths.append(n) or name for name in pace}
    found = time_per_sample.slopes(runs, seconds=5.0, repeats=3)
    for name in pace:
        np.testing.assert_allclose(found[name], np.full(3, pace[name]), rtol=1e-9)


def test_waiting_is_not_counted():
    assert time_per_sample.undisturbed_seconds(lambda: time.sleep(0.3)) < 0.3


@pytest.mark.parametrize("race", bench.RACES, ids=lambda race: race.name)
def test_sizes_are_those_of_circuits(race):
    """A rank is at most the number of inputs and of instructions."""
    task = race.task
    assert Microcircuit(task.k).blueprint(task.m, task.n).sizes["y"] == task.n
    assert race.name.startswith(f"{task.m}x{task.n}x{task.k}")


def test_a_row_has_the_time_of_the_circuit_and_the_ratios_of_others(monkeypatch):
    times = {"circuit": [1e-6, 2e-6, 4e-6], "c_loop": [2e-6, 2e-6, 2e-6]}
    found = {name: np.array(values) for name, values in times.items()}
    monkeypatch.setattr(bench, "slopes", lambda learners, seconds, repeats: found)
    monkeypatch.setattr(bench, "measure_apart", lambda *_: {"jax_scan": np.array([4e-6] * 3)})
    race = bench.Race("6x4x2", Task(6, 4, 2), ("c_loop", "jax_scan"))
    assert bench.measure_race(race) == {"circuit": "2", "C": "1", "JAX": "2"}


@pytest.mark.parametrize(("name", "times"), [("matrix_loop", 2), ("jax_scan", None)])
def test_a_contestant_can_run_in_a_process_of_its_own(name, times):
    found = bench.measure_apart(bench.RACES[0], name, 0.002, 2)
    if times is None and not found:
        pytest.skip("JAX is not installed")
    assert found[name].shape == (2,)
    assert (found[name] > 0).all()


def test_several_runs_have_their_time_and_that_of_one_after_another():
    several = bench.Several("few", Task(6, 4, 2, 20), 2, 1, {"ridge": 0.1})
    found = bench.measure_several(several, repeats=1)
    assert all(float(cell) > 0 for cell in found.values())
    assert set(found) == {"together", "one after another"}


def test_the_page_gets_the_tables(monkeypatch, tmp_path, capsys):
    page = tmp_path / "speed.md"
    page.write_text(bench.PAGE.read_text())
    monkeypatch.setattr(bench, "PAGE", page)
    monkeypatch.setattr(bench, "measure_race", lambda race: {"circuit": "0.5", "C": "0.8"})
    monkeypatch.setattr(bench, "measure_start", lambda start: {"seconds": "0.3"})
    monkeypatch.setattr(bench, "measure_several", lambda several: {"together": "0.4"})
    bench.main(["settling"])
    assert page.read_text() == bench.PAGE.read_text()
    assert "64x10x4, settling: circuit 0.5, C 0.8" in capsys.readouterr().out
    for _ in range(2):  # a second run replaces the tables of the first
        bench.main([])
    written = page.read_text()
    assert written.count("| 100x120x4 | 0.5 | 0.8 |") == 1
    assert written.count("| `biorrr --help` | 0.3 |") == 1
    assert written.count("| the same with a ridge | 0.4 |") == 1
    with pytest.raises(ValueError, match=r"must have one table marked 'other' \(has 0\)"):
        bench.with_table(written, "other", "")


@pytest.mark.slow
def test_everything_is_measured():
    """With little of each measurement."""
    for race in bench.RACES:
        columns = {bench.COLUMNS[name] for name in race.others} - {"JAX"}
        assert {"circuit", *columns} <= set(bench.measure_race(race, seconds=0.005, repeats=1))
    for start in bench.STARTS:
        assert float(bench.measure_start(start, repeats=1)["seconds"]) > 0

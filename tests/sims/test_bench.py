"""What `biorrr bench` compares computes the same, and what it reports is what was measured."""

import json
import time

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.models import Millivolts, Rate, Rates
from biorrr.sims.bench import (
    SIZES,
    contestants,
    measurements,
    race,
    time_per_sample,
)
from biorrr.sims.bench.contestants import CONTESTANTS, prepare
from biorrr.sims.bench.contestants.task import MillivoltTask, Task
from biorrr.sims.bench.goal import Goal
from biorrr.sims.main import run


@pytest.fixture(scope="module")
def task():
    return Task(6, 4, 2)


@pytest.mark.parametrize("name", list(CONTESTANTS))
def test_all_contestants_learn_the_same(name, task):
    learners = prepare(task, ["matrix_loop", name])
    if name not in learners:
        pytest.skip(f"{name} needs what is not installed")
    expected, learned = learners["matrix_loop"](300), learners[name](300)
    assert np.abs(expected["Vx"] - task.Vx).max() > 1e-6
    for matrix, values in expected.items():
        np.testing.assert_allclose(learned[matrix], values, rtol=0, atol=1e-12, err_msg=matrix)


@pytest.mark.parametrize("spiking", [False, True])
def test_held_samples(spiking):
    results, (goal,) = race.held_samples("6x4x2", spiking, seconds=0.005, repeats=2, ticks=20)
    assert results["largest_difference_of_weights"] < 1e-12
    assert all(us > 0 for us in results["microseconds"].values())
    inputs = "inputs that spike" if spiking else "held inputs"
    assert goal.name == f"6x4x2, 20 ticks of {inputs}: circuit over C"


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
def test_millivolts(monkeypatch):
    """All that is reported; and stock Brian2 simulates the same cells, by their rates and by what Q
    and R become.
    """
    learners = {}
    monkeypatch.setattr(race, "prepare", lambda *what: learners.update(prepare(*what)) or learners)
    results, goals = race.millivolts("64x10x2", seconds=0.005, repeats=2)
    assert results["largest_difference_of_weights"] < 1e-12
    assert set(results["microseconds"]) == {"circuit", "millivolt_c_loop", "stock_brian2"}
    assert all(us > 0 for us in results["microseconds"].values())
    assert [(goal.name, goal.limit) for goal in goals] == [
        ("64x10x2 in millivolts: circuit over C", 2.0),
        ("64x10x2 in millivolts: circuit over stock Brian2", 1.0),
    ]
    task = MillivoltTask(64, 10, 2)
    stock = learners["stock_brian2"](200)
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


def test_race():
    results, goals = race.samples_of_one_tick("6x4x2", seconds=0.005, repeats=2)
    assert results["largest_difference_of_weights"] < 1e-12
    assert {"matrix_loop", "numba_loop", "c_loop", "circuit"} <= set(results["microseconds"])
    assert all(us > 0 for us in results["microseconds"].values())
    assert [goal.name for goal in goals] == [
        f"6x4x2: circuit over {label}" for label in ("NumPy", "numba", "JAX scan", "C")
    ]
    jax = goals[2]
    assert (jax.measured is None) == (jax.note != "") == ("jax_scan" not in results["microseconds"])


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
    assert time_per_sample.ratio(found, "slow", "fast") == pytest.approx(15)


def test_waiting_is_not_counted():
    assert time_per_sample.undisturbed_seconds(lambda: time.sleep(0.3)) < 0.3


@pytest.mark.parametrize(("measured", "reached"), [(0.9, True), (1.0, True), (1.1, False)])
def test_goal(measured, reached):
    goal = Goal("ratio", measured, 1.0, "a note")
    assert goal.reached is reached
    assert (
        goal.verdict
        == f"{measured:g}, at most 1: {'reached' if reached else 'NOT reached'} (a note)"
    )


@pytest.mark.parametrize("measured", [None, np.nan, -np.inf])
def test_goal_that_could_not_be_measured(measured):
    goal = Goal("ratio", measured, 1.0)
    assert (goal.measured, goal.reached, goal.verdict) == (None, None, "not measured")


@pytest.mark.parametrize("size", ["100x120", "100x120x0", "axbxc", "100x120x4x5", ""])
def test_bad_sizes(size, capsys):
    assert run(["bench", "--sizes", size]) == 2
    assert (
        f"sizes: must be three whole numbers such as 100x120x4 (got {size!r})"
        in capsys.readouterr().err
    )


def test_report(monkeypatch, tmp_path, capsys):
    results = {
        "speed": [
            {"size": "6x4x2", "microseconds": {"matrix_loop": 30.0, "c_loop": 0.25, "circuit": 0.5}}
        ]
    }
    held = {"leaky_c_loop": 3.25, "circuit": 5.5}
    results["held_samples"] = [
        {"size": "6x4x2", "ticks": 200, "inputs": "held inputs", "microseconds": held}
    ]
    results["millivolts"] = {
        "size": "6x4x2",
        "ticks": 300,
        "cells": 200,
        "interneurons": 100,
        "microseconds": {"millivolt_c_loop": 500.0, "circuit": 700.0, "stock_brian2": 1500.0},
    }
    goals = [
        Goal("over C", 2.0, 3.0),
        Goal("over numba", 1.5, 1.0),
        Goal("over JAX", None, 1.0, "not installed"),
    ]
    monkeypatch.setattr(measurements, "measure", lambda settings: (results, goals))
    assert run(["bench", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "2, at most 3: reached" in said
    assert "6x4x2, 200 ticks of held inputs: C 3.25, circuit 5.5" in said
    assert (
        "300 ticks of 200 + 100 cells in millivolts: C 500, circuit 700, stock Brian2 1500" in said
    )
    assert "1.5, at most 1: NOT reached" in said
    assert "not measured (not installed)" in said
    written = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert [goal["reached"] for goal in written["goals"]] == [True, False, None]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["goals"], summary["reached"], summary["not_measured"]) == (3, 1, 1)
    assert summary["6x4x2_circuit_us"] == 0.5
    assert (tmp_path / "out" / "bench.png").exists()


def test_without_a_clone_it_says_where_the_contestants_are(monkeypatch, tmp_path, capsys):
    """One sentence, and no run folder."""
    monkeypatch.setattr(contestants, "__path__", [str(tmp_path / "contestants")])
    assert run(["bench", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert (
        f"bench: its contestants are in a clone of the repository only (got no folder {tmp_path}"
        in said
    )
    assert "clone it and `pip install --editable .` there" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("size", [*SIZES, *race.HELD_SIZES])
def test_sizes_are_those_of_circuits(size):
    """A rank is at most the number of inputs and of instructions."""
    m, n, k = map(int, size.split("x"))
    assert Microcircuit(k).blueprint(m, n).sizes["y"] == n


def test_clear_cache(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))
    (tmp_path / "circuits").mkdir(parents=True)
    (tmp_path / "circuits" / "circuit-abc-def").write_bytes(b"x")
    assert run(["bench", "--clear-cache"]) == 0
    assert "deleted 1 compiled circuits" in capsys.readouterr().out
    assert not (tmp_path / "circuits").exists()


@pytest.mark.slow
def test_everything_is_measured(tmp_path):
    """All of the command, with little of each measurement."""
    assert run(["bench", "--sizes", "6x4x2", "--repeats", "1", "--out", str(tmp_path / "out")]) == 0
    written = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert set(written) == {
        "machine",
        "speed",
        "held_samples",
        "settling",
        "millivolts",
        "startup",
        "goals",
    }
    assert [goal["name"] for goal in written["goals"] if goal["measured"] is None] in (
        [],
        ["6x4x2: circuit over JAX scan"],
    )
    assert (tmp_path / "out" / "bench.png").exists()

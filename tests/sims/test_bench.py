"""What `biorrr bench` compares computes the same, and what it reports is what was measured."""

import json
import time

import numpy as np
import pytest

from biorrr.sims import bench
from biorrr.sims.contestants import CONTESTANTS, prepare
from biorrr.sims.contestants.task import Task
from biorrr.sims.main import run
from biorrr.sims.measures import slope
from biorrr.sims.measures.goal import Goal


@pytest.fixture(scope="module")
def task():
    return Task(6, 4, 2)


@pytest.mark.parametrize("name", list(CONTESTANTS))
def test_all_contestants_learn_the_same(name, task):
    learner = prepare(name, task)
    if learner is None:
        pytest.skip(f"{name} needs what is not installed")
    order = task.order(300)
    expected, learned = prepare("matrix_loop", task)(order), learner(order)
    assert np.abs(expected["Vx"] - task.Vx).max() > 1e-6
    for matrix, values in expected.items():
        np.testing.assert_allclose(learned[matrix], values, rtol=0, atol=1e-12, err_msg=matrix)


def test_start_up_is_no_part_of_the_slope(monkeypatch):
    lengths = []
    pace = {"slow": 3e-3, "fast": 2e-4}

    def seconds(call):
        name = call()
        return 0.5 + pace[name] * lengths[-1]

    monkeypatch.setattr(slope, "undisturbed_seconds", seconds)
    runs = {name: lambda n, name=name: lengths.append(n) or name for name in pace}
    found = slope.slopes(runs, seconds=5.0, repeats=3)
    for name in pace:
        np.testing.assert_allclose(found[name], np.full(3, pace[name]), rtol=1e-9)
    assert slope.ratio(found, "slow", "fast") == pytest.approx(15)


def test_waiting_is_not_counted():
    assert slope.undisturbed_seconds(lambda: time.sleep(0.3)) < 0.3


@pytest.mark.parametrize(("measured", "reached"), [(0.9, True), (1.0, True), (1.1, False), (None, None)])
def test_goal(measured, reached):
    assert Goal("ratio", measured, 1.0).reached is reached


@pytest.mark.parametrize("size", ["100x120", "100x120x0", "axbxc", "100x120x4x5", ""])
def test_bad_sizes(size, capsys):
    assert run(["bench", "--sizes", size]) == 2
    assert f"sizes: must be three whole numbers such as 100x120x4 (got {size!r})" in capsys.readouterr().err


def test_report(monkeypatch, tmp_path, capsys):
    results = {"speed": [{"size": "6x4x2", "microseconds": {"matrix_loop": 30.0, "c_loop": 0.25, "circuit": 0.5}}]}
    goals = [Goal("over C", 2.0, 3.0), Goal("over numba", 1.5, 1.0), Goal("over JAX", None, 1.0, "not installed")]
    monkeypatch.setattr(bench, "measure", lambda settings: (results, goals))
    assert run(["bench", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "2, at most 3: reached" in said
    assert "1.5, at most 1: NOT reached" in said
    assert "not measured (not installed)" in said
    written = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert [goal["reached"] for goal in written["goals"]] == [True, False, None]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["goals"], summary["reached"], summary["not_measured"]) == (3, 1, 1)
    assert summary["6x4x2_circuit_us"] == 0.5
    assert (tmp_path / "out" / "bench.png").exists()


def test_clear_cache(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))
    (tmp_path / "circuits" / "abc").mkdir(parents=True)
    (tmp_path / "circuits" / "abc" / "circuit").write_bytes(b"x")
    assert run(["bench", "--clear-cache"]) == 0
    assert "deleted 1 compiled circuits" in capsys.readouterr().out
    assert not (tmp_path / "circuits").exists()


@pytest.mark.slow
def test_quick(tmp_path):
    assert run(["bench", "--quick", "--sizes", "6x4x2", "--repeats", "1", "--out", str(tmp_path / "out")]) == 0
    written = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert written["speed"][0]["largest_difference_of_weights"] < 1e-12
    assert {"matrix_loop", "numba_loop", "c_loop", "circuit"} <= set(written["speed"][0]["microseconds"])

"""``biorrr learn --seeds N``: every seed's run as it would be alone, and their mean and spread."""

import json

import numpy as np
import pytest

from biorrr.analysis import ExactSolution
from biorrr.circuit import Run
from biorrr.circuit.simulation import simulate
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.lab.training import scores

DATA = '{name="synthetic", samples=60, m=6, n=5, latents=2}'


def test_seeds_are_the_runs_they_would_be_alone(tmp_path, capsys):
    args = ["--data", DATA, "--engine", "numpy", "--epochs", "2", "--seeds", "2", "--seed", "3"]
    assert main.run(["learn", *args, "--out", str(tmp_path)]) == 0
    assert "2 seeds" in capsys.readouterr().out
    runs = {seed: Run.load(tmp_path / name) for seed, name in ((3, "run.nc"), (4, "run-4.nc"))}
    assert (
        main.run(["learn", *args[:-3], "1", "--seed", "4", "--out", str(tmp_path / "alone")]) == 0
    )
    np.testing.assert_array_equal(runs[4].Vx, Run.load(tmp_path / "alone/run.nc").Vx)
    assert np.abs(runs[3].Vx - runs[4].Vx).max() > 0.01
    numbers = json.loads((tmp_path / "summary.json").read_text())
    exact = ExactSolution(*load(DATA).stand_in, 0.0, numbers["ridge"])
    each = [scores(run, exact) for run in runs.values()]
    last = [run.r_minus_qt[-1] for run in runs.values()]
    for score in ("excess", "whitening_error", "r_minus_qt"):
        values = last if score == "r_minus_qt" else [one[score] for one in each]
        assert numbers[score] == pytest.approx(np.mean(values))
        assert numbers[f"{score}_std"] == pytest.approx(np.std(values))
        assert numbers[f"{score}_max"] == pytest.approx(max(values))
    assert (tmp_path / "excess.png").exists()


def test_seeds_of_a_compiled_circuit_run_side_by_side(tmp_path, monkeypatch):
    """In one call of the engine; each as it would be alone."""
    advance, together = simulate._advance, []

    def watched(engine, interrupted, recorders):
        together.append(len(recorders))
        advance(engine, interrupted, recorders)

    monkeypatch.setattr(simulate, "_advance", watched)
    learn = ["learn", "--data", DATA, "--engine", "cpp", "--epochs", "2"]
    assert main.run([*learn, "--seeds", "3", "--out", str(tmp_path)]) == 0
    assert together[0] == 3
    assert main.run([*learn, "--seed", "2", "--out", str(tmp_path / "alone")]) == 0
    run, alone = Run.load(tmp_path / "run-2.nc"), Run.load(tmp_path / "alone/run.nc")
    for name, values in alone.weights.items():
        np.testing.assert_allclose(run.weights[name], values, rtol=0, atol=1e-12)


def test_an_interrupted_run_of_several_seeds_goes_on(tmp_path, monkeypatch):
    learn = ["learn", "--data", DATA, "--engine", "cpp", "--epochs", "40", "--seeds", "3"]
    assert main.run([*learn, "--out", str(tmp_path / "whole")]) == 0
    advance = simulate._advance

    def pressed(engine, interrupted, recorders):
        interrupted.set()
        advance(engine, interrupted, recorders)

    with monkeypatch.context() as patched:
        patched.setattr(simulate, "_advance", pressed)
        assert main.run([*learn, "--out", str(tmp_path / "cut")]) == 130
    kept = [*tmp_path.glob("cut/unfinished/checkpoints/learn_from-*.npz")]
    assert len(kept) == 3
    assert main.run(["resume", str(tmp_path / "cut")]) == 0
    for name in ("run.nc", "run-1.nc", "run-2.nc"):
        expected = Run.load(tmp_path / "whole" / name).Vx
        np.testing.assert_array_equal(Run.load(tmp_path / "cut" / name).Vx, expected)

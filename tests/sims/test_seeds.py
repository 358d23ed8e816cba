"""``biorrr learn --seeds N``: every seed's run as it would be alone, and their mean and spread."""

import json

import numpy as np
import pytest

from biorrr.analysis import ExactSolution
from biorrr.circuit import Run
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

"""The races, end to end at a small size."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import OnlineBioRRR
from biorrr.models import Rate, Rates
from biorrr.sims import main
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments.compare import CompareSettings, compare
from biorrr.sims.lab import Lab
from biorrr.sims.races.heats import Heat, tracks_of
from biorrr.sims.races.laps import FRACTIONS, Lap, race

SMALL = {"data": "synthetic:samples=300,m=8,n=6", "k": (1, 2), "seeds": 2, "steps": 400, "engine": "numpy"}


@pytest.mark.parametrize(
    ("settings", "learners"),
    [
        ({"objective": "rrmse"}, ["circuit (Brian2)", "Bio-RRMSE", "IQMD", "ANN"]),
        pytest.param(
            {"objective": "cca"},
            ["circuit (Brian2)", "Bio-CCA", "Bio-CCA, offline", "MSG-CCA", "CCALin", "SAA"],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"objective": "rrmse", "setting": "offline"}, ["Bio-RRMSE", "IQMD", "ANN"], marks=pytest.mark.slow
        ),
    ],
)
def test_runs_end_to_end(settings, learners, tmp_path, capsys):
    folder = tmp_path / "run"
    chosen = SMALL | settings
    args = [part for name, value in chosen.items() if name != "k" for part in (f"--{name}", str(value))]
    assert main.run(["compare", *args, "-k", "1", "-k", "2", "--out", str(folder)]) == 0
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as data:
        assert sorted(data["learner"].values) == sorted(learners)
        assert (data["excess"].isel(snapshot=0) > -1e-9).all()
        assert float(np.nanmin(data["excess"])) > -1e-9  # nothing beats the exact optimum
    summary = json.loads((folder / "summary.json").read_text())
    assert {"claim", "holds"} <= set(summary["claims"][0])
    assert (folder / "compare.png").stat().st_size > 10_000
    assert (folder / "constraint.png").stat().st_size > 10_000
    assert "the paper's claims" in capsys.readouterr().out


def test_k_too_large_is_refused_before_anything_is_written(tmp_path, capsys):
    args = ["--data", SMALL["data"], "-k", "7", "--out", str(tmp_path / "run")]
    assert main.run(["compare", *args]) == 2
    assert "k: must not exceed min(m, n) = 6" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def raced(steps=500):
    """Race one learner at rates far beyond what is stable."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    data, heat = Dataset("mine", X, X[:, :3] + 0.1 * rng.standard_normal((200, 3))), Heat("rrmse", "online")
    wild = Rates(Rate(0.5), Rate(0.02), Rate(0.01))
    laps = [Lap(heat, "bio", OnlineBioRRR, 1, seed, steps, wild) for seed in (0, 1)]
    lab = Lab(compare, CompareSettings(steps=steps, ridge=0.0))
    return race(lab, laps, tracks_of(data, [heat], 0.0))[heat]["bio", 1]


def test_rates_too_large_are_taken_back():
    curve = raced()
    assert curve.fraction in FRACTIONS[1:]
    assert np.isfinite(curve.excess).all()


def test_pictures_of_unknown_name_are_refused(tmp_path, capsys):
    assert main.run(["images", "--data", "cats", "--out", str(tmp_path / "run")]) == 1
    assert "mnist" in capsys.readouterr().err

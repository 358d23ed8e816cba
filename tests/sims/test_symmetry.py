"""``biorrr symmetry`` from end to end: R meets Q' as the theory says, and what happens where it says nothing."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import Yardstick
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.experiments.symmetry import SMALLEST_RATIO, TOLERANCE, UNEQUAL, unrelated

DATA = "synthetic:samples=100,m=6,n=5,latents=3"


@pytest.fixture(scope="module")
def met(tmp_path_factory):
    """Folder and results of a small run; not to be changed."""
    folder = tmp_path_factory.mktemp("symmetry") / "run"
    args = ["--data", DATA, "--engine", "numpy", "--seeds", "1", "--etas", "0.04", "--etas", "0.02"]
    assert main.run(["symmetry", *args, "--out", str(folder)]) == 0
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as results:
        return folder, results.load()


def test_decay_is_the_predicted_one(met):
    _, results = met
    for eta in (0.02, 0.04):
        one = results.isel(condition=(results["kind"].values == "equal") & (results["eta_q"].values == eta))
        ratio, seen = one["ratio"].values[0], one["seen"].values[0]
        compared = ratio > SMALLEST_RATIO
        assert compared.any()
        assert np.nanmin(ratio) < SMALLEST_RATIO  # so that all of the range was seen
        np.testing.assert_allclose(ratio[compared], ((1 - eta) ** seen)[compared], rtol=TOLERANCE)


def test_summary_and_claims(met):
    folder, results = met
    assert {path.name for path in folder.iterdir()} == {
        "captions.md", "config.toml", "run.nc", "summary.json", "symmetry.png",
    }  # fmt: skip
    summary = json.loads((folder / "summary.json").read_text())
    decay, unrelated, hasty = summary["claims"]
    assert decay["holds"] is True
    assert decay["largest relative error"] == max(summary["relative_error_0.02"], summary["relative_error_0.04"])
    for claim, kind in ((unrelated, "negative"), (hasty, "hasty negative")):
        diverged = int(results["diverged"].values[results["kind"].values == kind].sum())
        assert claim["diverged"] == diverged
        assert claim["holds"] is (diverged == 0)
    for factor in UNEQUAL:
        assert summary[f"unequal_final_ratio_{factor:g}"] > SMALLEST_RATIO  # the theory does not hold, and it shows


def test_starts_have_the_eigenvalues_asked_for():
    data = load(DATA).centred()
    yardstick = Yardstick(data.X, data.Y)
    for seed in range(5):
        for negative in (False, True):
            drawn = unrelated(seed, 3, yardstick, negative)
            assert (np.linalg.eigvals(drawn["Q0"] @ drawn["R0"]).real.min() < 0) == negative


def test_divergence_is_a_result(tmp_path, monkeypatch):
    monkeypatch.setattr("biorrr.sims.experiments.symmetry.HASTY_PROXIMAL", 50.0)  # far above what is stable
    args = ["--data", DATA, "--engine", "numpy", "--seeds", "1", "--etas", "0.1", "--out", str(tmp_path / "run")]
    assert main.run(["symmetry", *args]) == 0
    claim = json.loads((tmp_path / "run/summary.json").read_text())["claims"][2]
    assert claim["diverged"] == 1
    assert claim["holds"] is False

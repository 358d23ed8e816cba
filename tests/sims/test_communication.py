"""``biorrr communication`` from end to end: the circuit's held-out prediction beside the exact one."""

import json
import os

import numpy as np
import pytest
import xarray as xr
from sklearn.model_selection import GroupKFold

from biorrr.analysis import ReducedRankRegression
from biorrr.sims import main
from biorrr.sims.data import load

pytestmark = pytest.mark.skipif(
    not os.environ.get("BIORRR_DATA"), reason="needs the real data files; set BIORRR_DATA to their folder"
)


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    """Folder, summary and results of a small run, two folds and one epoch without replay; not to be changed."""
    folder = tmp_path_factory.mktemp("communication") / "run"
    args = ["--ranks", "1", "--folds", "2", "--epochs", "1", "--engine", "numpy", "--ridge", "0"]
    assert main.run(["communication", *args, "--out", str(folder)]) == 0
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as results:
        return folder, json.loads((folder / "summary.json").read_text()), results.load()


def test_run_folder(predicted):
    folder, summary, results = predicted
    assert {path.name for path in folder.iterdir()} == {
        "captions.md", "communication.png", "config.toml", "run.nc", "summary.json",
    }  # fmt: skip
    for target in ("V2", "V1"):
        assert summary[f"{target}_circuit_r2_1"] == results["circuit_r2"].sel(target=target, rank=1).item()
        assert 0 < summary[f"{target}_circuit_r2_1"] < summary[f"{target}_exact_r2_1"] + 0.01


def test_exact_r2_is_pooled_over_whole_held_out_trials(predicted):
    """As the data's README defines it, from plain fits."""
    _, summary, _ = predicted
    data = load("v1v2")
    errors = deviations = 0.0
    for train, test in GroupKFold(2, shuffle=True, random_state=0).split(data.X, groups=data.groups):
        assert not set(data.groups[train]) & set(data.groups[test])
        fitted = ReducedRankRegression(1).fit(data.X[train], data.Y[train])
        errors += np.square(data.Y[test] - fitted.predict(data.X[test])).sum()
        deviations += np.square(data.Y[test] - data.Y[train].mean(axis=0)).sum()
    assert summary["V2_exact_r2_1"] == pytest.approx(1 - errors / deviations, rel=1e-9)


@pytest.mark.slow
def test_circuit_learns_the_communication_subspace(tmp_path):
    args = ["--ranks", "1", "--ranks", "2", "--folds", "5", "--out", str(tmp_path / "run")]
    assert main.run(["communication", *args]) == 0
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    for target in ("V2", "V1"):
        for rank in (1, 2):
            assert summary[f"{target}_circuit_r2_{rank}"] == pytest.approx(
                summary[f"{target}_exact_r2_{rank}"], abs=0.005
            )
    assert 2 <= summary["V2_rank"] <= 4 < summary["V1_rank"]  # V2 sees a subspace of what V1 shares within itself

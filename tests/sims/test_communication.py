"""``biorrr communication`` from end to end: the circuit's held-out prediction beside the exact one."""

import csv
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
    """Folder, summary and results of the exact solution and its controls, two folds; not to be changed."""
    folder = tmp_path_factory.mktemp("communication") / "run"
    args = ["--ranks", "1", "--folds", "2", "--ridge", "0", "--no-simulation"]
    assert main.run(["communication", *args, "--out", str(folder)]) == 0
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as results:
        return folder, json.loads((folder / "summary.json").read_text()), results.load()


def test_run_folder(tmp_path):
    """Of circuits that learn a small planted recording for an epoch, without replay."""
    folder = tmp_path / "run"
    data = "planted:trials=20,bins=5,source_units=8,target_units=4,rank=1"
    args = ["--ranks", "1", "--folds", "2", "--epochs", "1", "--engine", "numpy", "--ridge", "0", "--draws", "2"]
    assert main.run(["communication", "--data", data, *args, "--out", str(folder)]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as results:
        assert summary["circuit_r2_1"] == results["circuit_r2"].sel(target="target", rank=1).item()
        assert results["plateau"].sizes["sample"] == 100
    figures = {f"{name}.png" for name in ("communication", "dendrites", "dimensionality", "lags", "removal")}
    assert {path.name for path in folder.iterdir()} == figures | {
        "config.toml", "inventory.json", "run.nc", "summary.json", "supplement.csv",
    }  # fmt: skip


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


def test_controls_of_the_published_recording(predicted):
    """V2 is predicted through fewer dimensions than it has, at no lag, and not with trials shuffled (Semedo et al.)."""
    _, summary, results = predicted
    assert summary["V2_rank"] < summary["V1_rank"]
    assert summary["V2_rank"] < summary["V2_target_dimensionality"] < summary["V2_source_dimensionality"]
    assert summary["V2_best_lag"] == summary["V1_best_lag"] == 0
    assert summary["V2_null_r2"] < 0 < summary["V2_r2"]
    assert summary["V2_null_p"] == pytest.approx(1 / 101)
    assert summary["V2_removed_r2"] < 0.2 * summary["V2_full_r2"]
    assert results["null_r2"].sizes == {"target": 2, "shuffle": 100}


def test_the_supplement_has_units_settings_and_versions(predicted):
    folder, summary, _ = predicted
    with (folder / "supplement.csv").open() as file:
        rows = list(csv.DictReader(file))
    (r2,) = (row for row in rows if (row["target"], row["quantity"], row["rank"]) == ("V2", "held-out R2, exact", "1"))
    assert float(r2["value"]) == summary["V2_exact_r2_1"]
    assert (r2["spread is"], r2["unit"]) == ("standard error over folds", "1")
    settings = {row["quantity"]: row["value"] for row in rows if row["quantity"].startswith("setting ")}
    assert (settings["setting folds"], settings["setting bin"]) == ("2", "0.1")
    assert any(row["quantity"] == "version of biorrr" for row in rows)


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

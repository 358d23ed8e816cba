"""``biorrr plateau`` from end to end: recorded traces, the audit, and that it repeats."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.sims import main
from biorrr.sims.data import load

DATA = "synthetic:samples=200,m=6,n=5,latents=2"
SMALL = ["--data", DATA, "--engine", "numpy", "--epochs", "4", "--seeds", "2", "--ridge", "0"]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The folder of a small run at s = 0; not to be changed."""
    folder = tmp_path_factory.mktemp("plateau") / "run"
    assert main.run(["plateau", *SMALL, "-s", "0", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def results(audited):
    with xr.open_dataset(audited / "run.nc", engine="h5netcdf") as results:
        yield results.load()


def test_run_folder(audited, results):
    assert sorted(path.name for path in audited.iterdir()) == [
        "audit.png", "captions.md", "config.toml", "plateau.png", "run.nc", "summary.json",
    ]  # fmt: skip
    assert results.sizes["seed"] == 2
    assert results["stage_samples"].values[[0, -1]].tolist() == [0, 800]
    summary = json.loads((audited / "summary.json").read_text())
    for name in ("plateau", "inhibition", "network"):
        ends = results[f"{name}_correlation"].isel(snapshot=[0, -1]).median(["seed", "pyramidal"]).values
        assert [summary[f"{name}_correlation_{when}"] for when in ("start", "end")] == pytest.approx(ends, rel=1e-9)


def test_learning_brings_the_plateau_to_the_error(audited):
    summary = json.loads((audited / "summary.json").read_text())
    for name in ("plateau", "inhibition"):
        assert summary[f"{name}_correlation_end"] > 0.8 > summary[f"{name}_correlation_start"]


def test_traces_are_the_circuit_s_own(results):
    """Recorded with learning off on every sample, in the order of the data: the equations at the saved weights."""
    data = load(DATA).centred()
    for stage, snapshot in ((0, 0), (-1, -1)):
        Vx, Vy, Q, R = (results[name].isel(seed=0, snapshot=snapshot).values for name in ("Vx", "Vy", "Q", "R"))
        recorded = {name: results[f"recorded_{name}"].isel(stage=stage).values for name in ("z", "a", "inhibition")}
        np.testing.assert_allclose(recorded["z"], data.X @ Vx, atol=1e-12)
        np.testing.assert_allclose(recorded["a"], data.Y @ Vy, atol=1e-12)
        np.testing.assert_allclose(recorded["inhibition"], data.X @ Vx @ R.T @ Q.T, atol=1e-12)


@pytest.mark.slow
def test_config_repeats_the_run(audited, results, tmp_path):
    assert main.run(["plateau", "--config", str(audited / "config.toml"), "--out", str(tmp_path / "again")]) == 0
    with xr.open_dataset(tmp_path / "again/run.nc", engine="h5netcdf") as again:
        for name in ("Vx", "recorded_plateau", "plateau_correlation"):
            np.testing.assert_array_equal(again[name], results[name])


@pytest.mark.slow
@pytest.mark.parametrize(("data", "inhibition"), [("digits", 0.98), ("v1v2", 0.95)])
def test_plateau_is_the_backpropagated_error_on_real_data(real_data, tmp_path, data, inhibition):
    assert main.run(["plateau", "--data", data, "--seeds", "3", "--out", str(tmp_path / "run")]) == 0
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["inhibition_correlation_end"] > inhibition
    assert summary["plateau_correlation_end"] > 0.97
    assert abs(summary["inhibition_correlation_start"]) < 0.5

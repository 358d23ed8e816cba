"""The races, end to end at a small size."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import OnlineBioRRR
from biorrr.circuit import CheckpointError
from biorrr.models import Rate, Rates
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments import compare, images
from biorrr.sims.experiments.compare import CompareSettings
from biorrr.sims.experiments.helpers.race import FRACTIONS, Heat, Lap, Race
from biorrr.sims.frame import carry_out, run_parts
from biorrr.sims.lab.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.lab.folder import RunFolder

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
    carry_out(compare.EXPERIMENT, CompareSettings(**SMALL | settings), RunFolder("compare", folder))
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as data:
        assert sorted(data["learner"].values) == sorted(learners)
        assert (data["excess"].isel(snapshot=0) > -1e-9).all()
        assert float(np.nanmin(data["excess"])) > -1e-9  # nothing beats the exact optimum
    summary = json.loads((folder / "summary.json").read_text())
    assert {"claim", "holds"} <= set(summary["claims"][0])
    assert (folder / "compare.png").stat().st_size > 10_000
    assert (folder / "constraint.png").stat().st_size > 10_000
    assert "the paper's claims" in capsys.readouterr().out


def test_k_too_large_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"k: must not exceed min\(m, n\) = 6"):
        carry_out(compare.EXPERIMENT, CompareSettings(**SMALL | {"k": (7,)}), RunFolder("compare", tmp_path / "run"))
    assert not (tmp_path / "run").exists()


class WildRace(Race):
    """One learner, at rates far beyond what is stable."""

    def laps(self, problem):
        wild, steps = Rates(Rate(0.5), Rate(0.02), Rate(0.01)), problem.settings.steps
        return [Lap(Heat("rrmse", "online"), "bio", OnlineBioRRR, 1, seed, steps, wild) for seed in (0, 1)]


def raced(steps=500, checkpoints=NOT_KEPT):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    Y = X[:, :3] + 0.1 * rng.standard_normal((200, 3))
    problem = WildRace().prepare(CompareSettings(steps=steps, ridge=0.0), Dataset("mine", X, Y))
    found, _ = run_parts(WildRace(), problem, checkpoints, workers=1)
    (curves,) = WildRace().curves(problem, found).values()
    return curves["bio", 1]


def test_rates_too_large_are_taken_back():
    curve = raced()
    assert curve.fraction in FRACTIONS[1:]
    assert np.isfinite(curve.excess).all()


def test_finished_laps_come_back_from_disk(tmp_path):
    """Down to the CPU time they took; a lap that diverged too. Another race's laps are refused, and damaged ones."""
    checkpoints = Checkpoints(tmp_path)
    first = raced(checkpoints=checkpoints)
    assert first.fraction < 1
    written = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {"lap-0-0-result.npz", "lap-1-1-result.npz"} <= set(written)
    again = raced(checkpoints=checkpoints)
    np.testing.assert_array_equal(first.seconds, again.seconds)
    np.testing.assert_array_equal(first.excess, again.excess)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == written
    with pytest.raises(CheckpointError, match=r"lap-0-0-result.npz: belongs to another run; give what it was made"):
        raced(400, checkpoints)
    (tmp_path / "lap-0-0-result.npz").write_bytes(b"PK cut short")
    with pytest.raises(CheckpointError, match=r"damaged or truncated .*; delete it to start over"):
        raced(checkpoints=checkpoints)


def test_pictures_of_unknown_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="data: must be among mnist"):
        carry_out(images.EXPERIMENT, images.ImagesSettings(data=("cats",)), RunFolder("images", tmp_path / "run"))

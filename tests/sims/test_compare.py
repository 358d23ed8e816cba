"""The races, end to end at a small size."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import OnlineBioRRR
from biorrr.circuit import CheckpointError
from biorrr.models import Rate, Rates
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments import find_experiment, images
from biorrr.sims.experiments.compare import CompareSettings
from biorrr.sims.experiments.helpers.race import FRACTIONS, Heat, Lap, Race
from biorrr.sims.lab.carry_out import carry_out
from biorrr.sims.lab.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.lab.folder import RunFolder
from biorrr.sims.lab.lab import Lab, Workplace
from biorrr.sims.lab.legacy import adapted, rounds

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
    carry_out(find_experiment("compare"), CompareSettings(**SMALL | settings), RunFolder("compare", folder))
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
        carry_out(
            find_experiment("compare"), CompareSettings(**SMALL | {"k": (7,)}), RunFolder("compare", tmp_path / "run")
        )
    assert not (tmp_path / "run").exists()


class WildRace(Race):
    """One learner, at rates far beyond what is stable."""

    settings = CompareSettings

    def laps(self, problem):
        wild, steps = Rates(Rate(0.5), Rate(0.02), Rate(0.01)), problem.settings.steps
        return [Lap(Heat("rrmse", "online"), "bio", OnlineBioRRR, 1, seed, steps, wild) for seed in (0, 1)]


def raced(steps=500, checkpoints=NOT_KEPT):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    Y = X[:, :3] + 0.1 * rng.standard_normal((200, 3))
    settings, workplace = CompareSettings(steps=steps, ridge=0.0), Workplace()
    problem = WildRace().prepare(settings, Dataset("mine", X, Y))
    workplace.checkpoints = checkpoints
    found = rounds(WildRace(), Lab(adapted(WildRace()), settings, workplace), problem)
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
    assert len(written) > 2  # more laps than seeds: the first have diverged
    (lap, *_) = written
    again = raced(checkpoints=checkpoints)
    np.testing.assert_array_equal(first.seconds, again.seconds)
    np.testing.assert_array_equal(first.excess, again.excess)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == written
    with pytest.raises(CheckpointError, match=r"-result.npz: belongs to another run; give what it was made"):
        raced(400, checkpoints)
    (tmp_path / lap).write_bytes(b"PK cut short")
    with pytest.raises(CheckpointError, match=r"damaged or truncated .*; delete it to start over"):
        raced(checkpoints=checkpoints)


def test_pictures_of_unknown_name_are_refused():
    with pytest.raises(ValueError, match="cats: no such data set; there are mnist"):
        images.ImagesSettings(data=("cats",))

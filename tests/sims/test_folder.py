"""The run folder: whole files or none, and never over another run unless told."""

import json
import re

import numpy as np
import pytest

from biorrr.sims import folder
from biorrr.sims.folder import FolderError, RunFolder


def test_default_folder_is_named_after_experiment_and_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = RunFolder("learn")
    assert re.fullmatch(r"runs/learn-\d{8}-\d{6}", str(first.path))
    assert not first.path.exists()
    second = RunFolder("learn")
    second.path = first.path  # began in the same second
    with first.opened(""), second.opened(""):
        pass
    assert second.path.name == f"{first.path.name}-2"
    assert second.path.is_dir()


@pytest.mark.parametrize("name", ["config.toml", "run.nc", "summary.json"])
def test_folder_with_a_run_is_refused_unless_forced(tmp_path, name):
    (tmp_path / name).write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FolderError, match=r"out: .* has a run in it; choose another folder, or --force to replace"):
        RunFolder("learn", tmp_path)
    with RunFolder("learn", tmp_path, force=True).opened("new"):
        assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml", "notes.txt"]
    assert (tmp_path / "config.toml").read_text() == "new"


def test_checkpoints_count_as_a_run_and_are_replaced_with_it(tmp_path):
    place = tmp_path / "checkpoints"
    place.mkdir()
    for name in ("seed-0.npz", ".12-seed-1.npz", "notes.txt"):
        (place / name).touch()
    with pytest.raises(FolderError, match="has a run in it"):
        RunFolder("learn", tmp_path)
    with RunFolder("learn", tmp_path, force=True).opened(""):
        assert [path.name for path in place.iterdir()] == ["notes.txt"]


def test_folder_with_other_files_is_accepted(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "checkpoints").mkdir()
    with RunFolder("learn", tmp_path).opened(""):
        pass


def test_a_run_that_fails_leaves_nothing_behind(tmp_path):
    def fail(path):
        with RunFolder("learn", path).opened("config"):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RuntimeError):
        fail(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_nothing_is_deleted_before_the_run_begins(tmp_path):
    (tmp_path / "summary.json").write_text("old")
    RunFolder("learn", tmp_path, force=True)
    assert (tmp_path / "summary.json").read_text() == "old"


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match=r"out: must be a folder \(got the file "):
        RunFolder("learn", tmp_path / "file")


def test_files_appear_whole_or_not_at_all(tmp_path):
    run = RunFolder("learn", tmp_path)
    with run.writing("figure.png") as path:
        path.write_text("half")
        assert path.suffix == ".png"
        assert not (tmp_path / "figure.png").exists()
    assert (tmp_path / "figure.png").read_text() == "half"

    def interrupted():
        with run.writing("figure.png") as path:
            path.write_text("broken")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "figure.png").read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


def test_summary_is_flat_and_finite(tmp_path):
    run = RunFolder("learn", tmp_path)
    run.write_summary(
        {"a": np.float64(0.5), "b": np.nan, "c": np.inf, "d": np.int64(3), "e": "cpp", "f": None, "g": np.True_}
    )
    assert json.loads((tmp_path / folder.SUMMARY).read_text()) == {
        "a": 0.5, "b": None, "c": None, "d": 3, "e": "cpp", "f": None, "g": True,
    }  # fmt: skip
    with pytest.raises(TypeError, match=r"summary curve: must be one number or text \(got list\)"):
        run.write_summary({"curve": [1, 2]})

"""The run folder: whole files or none, and never over another run unless told."""

import fcntl
import itertools
import json
import os
import re
from contextlib import ExitStack
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

from biorrr.files import whole_file
from biorrr.sims.lab import Findings, Quantity
from biorrr.sims.lab.run_folder import (
    FolderError,
    RunFolder,
    lock,
    read_inventory,
    settle,
    summary_text,
)


def contents(folder):
    """Every file below ``folder``, with what is in it."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def config_of(k):
    return f'k = {k}\n[provenance]\nexperiment = "learn"\n'


def fill(run, k=1, **files):
    """Fill the folder of a run that has begun: these files, by stem, and settings and summary."""
    writers = {
        f"{stem}.png": (lambda path, text=text: path.write_text(text))
        for stem, text in files.items()
    }
    findings = Findings(title="", quantities=[Quantity("k", k)], files=writers)
    run.fill(config_of(k), findings, "png")


def write_run(path, k=1, force=False, **files):
    """Write a finished run."""
    with RunFolder("learn", path, force) as run:
        run.begin(config_of(k))
        fill(run, k, **files)


def test_default_folder_is_named_after_experiment_and_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = RunFolder("learn")
    assert re.fullmatch(r"runs/learn-\d{8}-\d{6}", str(first.path))
    assert not first.path.exists()
    second = RunFolder("learn")
    second.path = first.path  # began in the same second
    with first, second:
        assert second.path.name == f"{first.path.name}-2"
        assert second.path.is_dir()
    assert not Path("runs").exists()  # nothing was kept


@pytest.mark.parametrize(
    "name", ["config.toml", "run.nc", "summary.json", "unfinished/config.toml"]
)
def test_folder_with_a_run_is_refused_unless_forced(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("old")
    with pytest.raises(
        FolderError, match=r"out: .* has a run in it; choose another folder, or --force to replace"
    ):
        RunFolder("learn", tmp_path)
    with RunFolder("learn", tmp_path, force=True):
        pass
    assert contents(tmp_path) == {name: "old"}


def test_forced_run_leaves_all_as_it_was_until_it_is_whole_and_nothing_of_it_then(tmp_path):
    (tmp_path / "notes.png").write_text("mine")
    write_run(tmp_path, filters="old", excess="old")
    for name in ("report.html", "run-mine.nc"):
        (tmp_path / name).write_text("old")
    before = contents(tmp_path)
    with RunFolder("learn", tmp_path, force=True) as run:
        assert contents(tmp_path) == before
        run.begin(config_of(2))
        assert contents(tmp_path) == before | {"unfinished/config.toml": config_of(2)}
        fill(run, k=2, filters="new")
    assert contents(tmp_path) == {
        "notes.png": "mine",
        "run-mine.nc": "old",
        "filters.png": "new",
        "summary.json": '{\n  "k": 2\n}\n',
        "config.toml": config_of(2),
        "inventory.json": (tmp_path / "inventory.json").read_text(),
    }


def test_whoever_works_in_the_folder_stays_in_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for content in ("old", "new"):
        write_run(Path("."), force=True, filters=content)
        assert Path("filters.png").read_text() == (tmp_path / "filters.png").read_text() == content


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_forced_run_that_fails_leaves_the_other_as_it_was(tmp_path, error, far):
    write_run(tmp_path, filters="old")
    before = contents(tmp_path)
    run = RunFolder("learn", tmp_path, force=True)

    def fail():
        with run:
            run.begin(config_of(2))
            if far:
                (run.checkpoints / "seed-0.npz").touch()
            raise error

    with pytest.raises(error):
        fail()
    # What has come as far as a checkpoint can go on, until another run is to replace it.
    assert run.has_checkpoints == far
    kept = (
        {"unfinished/config.toml": config_of(2), "unfinished/checkpoints/seed-0.npz": ""}
        if far
        else {}
    )
    assert contents(tmp_path) == before | kept
    with pytest.raises(TypeError):
        write_run(tmp_path, 3, force=True, broken=None)
    assert contents(tmp_path) == before
    write_run(tmp_path, force=True, filters="new")
    assert sorted(contents(tmp_path)) == [
        "config.toml",
        "filters.png",
        "inventory.json",
        "summary.json",
    ]


def test_results_cut_short_at_any_step_of_taking_their_place_take_it_at_the_next_use(
    tmp_path, monkeypatch
):
    """As by kill -9: what follows the n-th change of the folder never happens."""
    steps = itertools.count(1)
    for cut in steps:
        place = tmp_path / str(cut)
        write_run(place, filters="old", excess="old")
        left = itertools.count(-cut)

        def stopped(change, left=left):
            def maybe(*args, **options):
                if next(left) >= -1:
                    raise SystemExit
                return change(*args, **options)

            return maybe

        try:
            with monkeypatch.context() as patch:
                for name in ("unlink", "replace", "rename", "rmdir"):
                    patch.setattr(Path, name, stopped(getattr(Path, name)))
                patch.setattr("shutil.rmtree", stopped(__import__("shutil").rmtree))
                write_run(place, force=True, filters="new", curve="new")
        except SystemExit:
            pass
        else:
            break
        settle(place)
        drawn = {name: text for name, text in contents(place).items() if name.endswith("png")}
        whole = {"filters.png": "new", "curve.png": "new"}
        assert drawn in ({"filters.png": "old", "excess.png": "old"}, whole)
        assert (place / "summary.json").exists()
        assert not (place / "unfinished/results").exists()
        listed, _ = read_inventory(place)
        assert sorted(listed) == sorted([*drawn, "config.toml", "inventory.json", "summary.json"])
    assert cut > 20


def test_a_list_of_files_from_a_stranger_deletes_nothing_elsewhere(tmp_path):
    sent, mine = tmp_path / "sent", tmp_path / "mine.txt"
    mine.write_text("mine")
    (sent / "sub").mkdir(parents=True)
    (sent / "sub/own.txt").write_text("own")
    names = ["../mine.txt", str(mine), "sub", "sub/own.txt", "..", ".", "", "a\0b", "old.png"]
    (sent / "old.png").symlink_to(mine)
    (sent / "inventory.json").write_text(json.dumps({"files": dict.fromkeys(names, "file")}))
    write_run(sent, force=True, new="new")
    assert contents(tmp_path).keys() == {
        "mine.txt",
        "sent/sub/own.txt",
        "sent/config.toml",
        "sent/inventory.json",
        "sent/summary.json",
        "sent/new.png",
    }


def test_run_written_since_the_command_began_is_not_overwritten(tmp_path):
    slow = RunFolder("learn", tmp_path)
    write_run(tmp_path, filters="theirs")
    before = contents(tmp_path)
    with pytest.raises(FolderError, match="has a run in it"), slow:
        raise AssertionError("must not begin")
    assert contents(tmp_path) == before


def test_a_lock_that_is_held_for_a_moment_is_waited_for(tmp_path):
    """Processes of a run that was killed hold it until they see that it is gone, on a busy machine
    a second later.
    """
    held = ExitStack()
    held.enter_context(lock(tmp_path))
    Timer(1.0, held.close).start()
    with lock(tmp_path):
        pass


def test_folder_taken_away_between_making_and_locking_is_made_again(tmp_path, monkeypatch):
    """By a run that failed, and so left nothing behind: a lock on a folder that is gone locks
    nobody out.
    """
    taken = []
    lock_it = fcntl.flock

    def lock_after_it_is_gone(handle, operation):
        if not taken:
            taken.append((tmp_path / "out").rmdir())
        return lock_it(handle, operation)

    monkeypatch.setattr(fcntl, "flock", lock_after_it_is_gone)
    with RunFolder("learn", tmp_path / "out") as run:
        run.begin(config_of(1))
        assert contents(tmp_path) == {"out/unfinished/config.toml": config_of(1)}
        with pytest.raises(FolderError, match="in use by another process"), lock(tmp_path / "out"):
            pass


@pytest.mark.parametrize(
    "name", ["unfinished", "unfinished/results", "unfinished/checkpoints", "inventory.json"]
)
def test_links_in_a_folder_that_was_sent_are_refused(tmp_path, name):
    sent, elsewhere = tmp_path / "sent", tmp_path / "elsewhere"
    sent.mkdir()
    elsewhere.mkdir()
    for file in ("config.toml", "seed-0.npz", "run.nc"):
        (elsewhere / file).write_text("mine")
    (sent / "config.toml").write_text(config_of(1))
    (sent / name).parent.mkdir(exist_ok=True)
    (sent / name).symlink_to(elsewhere)

    def resume():
        with RunFolder("learn", sent, source=sent / "config.toml", resumed=True) as run:
            run.begin(config_of(1))
            fill(run, filters="new")

    refused = rf"{name}: must be a file in the folder itself \(got a link, .*; delete it"
    with pytest.raises(FolderError, match=refused):
        resume()
    assert contents(elsewhere).keys() == {"config.toml", "seed-0.npz", "run.nc"}
    assert not (sent / "filters.png").exists()


def test_files_under_way_are_not_written_through_links(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / f".{os.getpid()}-run.nc").symlink_to(tmp_path / "mine")
    with whole_file(tmp_path / "run.nc") as partial:
        partial.write_text("new")
    assert contents(tmp_path) == {"mine": "mine", "run.nc": "new"}


def test_folder_with_other_files_is_accepted(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "unfinished").mkdir()
    with RunFolder("learn", tmp_path) as run:
        run.begin(config_of(1))


def test_files_of_the_user_s_own_in_the_place_of_an_unfinished_run(tmp_path):
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished/novel.txt").write_text("mine")
    with pytest.raises(
        FolderError, match=r"unfinished must be free for a run \(got files of another origin\)"
    ):
        write_run(tmp_path, force=True, filters="new")
    assert contents(tmp_path) == {"unfinished/novel.txt": "mine"}


def test_a_run_that_fails_leaves_nothing_behind(tmp_path):
    def fail(path):
        with RunFolder("learn", path) as run:
            run.begin(config_of(1))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RuntimeError):
        fail(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_results_that_cannot_be_written_leave_no_half_of_them(tmp_path):
    def disk_full(path):
        path.write_text("half")
        raise OSError(28, "No space left on device", str(path))

    findings = Findings(title="", files={"figure.png": disk_full})

    def write():
        with RunFolder("learn", tmp_path) as run:
            run.begin(config_of(1))
            (run.checkpoints / "seed-0.npz").touch()
            run.fill(config_of(1), findings, "png")

    with pytest.raises(OSError, match=r"No space left on device: '.*/test_.*/figure.png'"):
        write()
    assert sorted(contents(tmp_path)) == [
        "unfinished/checkpoints/seed-0.npz",
        "unfinished/config.toml",
    ]


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match=r"out: must be a folder \(got the file "):
        RunFolder("learn", tmp_path / "file")


def test_files_appear_whole_or_not_at_all(tmp_path):
    with whole_file(tmp_path / "figure.png") as path:
        path.write_text("half")
        assert path.suffix == ".png"
        assert not (tmp_path / "figure.png").exists()
    assert (tmp_path / "figure.png").read_text() == "half"

    def interrupted():
        with whole_file(tmp_path / "figure.png") as path:
            path.write_text("broken")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "figure.png").read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


def test_summary_is_flat_and_finite():
    values = {
        "a": np.float64(0.5),
        "b": np.nan,
        "c": np.inf,
        "d": np.int64(3),
        "e": "cpp",
        "f": None,
        "g": np.True_,
    }
    quantities = [Quantity(name, value) for name, value in values.items()]
    assert json.loads(summary_text(Findings(title="", quantities=quantities))) == {
        "a": 0.5,
        "b": None,
        "c": None,
        "d": 3,
        "e": "cpp",
        "f": None,
        "g": True,
    }
    curve = Findings(title="", quantities=[Quantity("curve", [1, 2])])
    with pytest.raises(TypeError, match=r"summary curve: must be one number or text \(got list\)"):
        summary_text(curve)

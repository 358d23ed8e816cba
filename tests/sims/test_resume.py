"""``biorrr resume``: a run that is killed ends bit for bit where the straight one ends, one process
per folder.
"""

import io
import json
import os
import shutil
import signal
import time

import numpy as np
import psutil
import pytest
import xarray as xr

from biorrr.circuit import Run
from biorrr.circuit.engines.compiler import find_compiler
from biorrr.sims import main
from biorrr.sims.experiments import experiment_names
from biorrr.sims.lab.run_folder import FolderError, lock

FIRST = "unfinished/checkpoints/learn_from-[0-9a-f]*.npz"
LONG = 10_000  # epochs of 120 samples: seconds on the C++ engine, and many checkpoints


def assert_same_run(folder, other):
    run, straight = Run.load(folder / "run.nc"), Run.load(other / "run.nc")
    for name in straight.data.variables:
        np.testing.assert_array_equal(
            run.data[name].values, straight.data[name].values, err_msg=name
        )
    numbers, expected = (
        json.loads((path / "summary.json").read_text()) for path in (folder, other)
    )
    assert numbers | {"seconds": 0} == expected | {"seconds": 0}


def wait_for(path, process):
    deadline = time.monotonic() + 120
    while not any(path.parent.glob(path.name)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"{path.name} never came"
        time.sleep(0.01)


def assert_same_results(folder, other):
    """What two runs have found is the same, bit for bit; how long they took is not."""
    names = {path.name for path in other.iterdir()}
    assert {path.name for path in folder.iterdir()} == names
    for name in sorted(name for name in names if name.endswith(".nc")):
        with (
            xr.open_dataset(folder / name, engine="h5netcdf") as run,
            xr.open_dataset(other / name, engine="h5netcdf") as straight,
        ):
            for one in (run, straight):
                one.attrs.pop("seconds", None)
            xr.testing.assert_identical(
                *(one.load().drop_vars("seconds", errors="ignore") for one in (run, straight))
            )
    numbers, expected = (
        json.loads((path / "summary.json").read_text()) for path in (folder, other)
    )
    assert without_times(numbers) == without_times(expected)


def without_times(summary):
    """Leave out seconds, and claims about the CPU time of two algorithms."""
    kept = {name: value for name, value in summary.items() if "seconds" not in name}
    if "claims" in kept:
        kept["claims"] = [
            claim for claim in kept["claims"] if not any("s CPU" in name for name in claim)
        ]
    return kept


def children_of(process):
    return psutil.Process(process.pid).children(recursive=True)


@pytest.fixture
def short_run(own_data, tmp_path, capsys):
    """A finished run on the numpy engine, in ``tmp_path``/done."""
    args = [
        "learn",
        "--data",
        own_data,
        "--epochs",
        1,
        "--engine",
        "numpy",
        "--out",
        tmp_path / "done",
    ]
    assert main.run([*map(str, args)]) == 0
    capsys.readouterr()
    return tmp_path / "done"


def cut_short(done, at):
    """Copy the run in ``done`` as it would have been left by a kill before its first checkpoint."""
    shutil.copytree(done, at)
    for path in at.iterdir():
        if path.name != "config.toml":
            path.unlink()
    return at


@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
def test_killed_run_goes_on_and_nobody_else_meanwhile(own_data, tmp_path, start_biorrr, run_biorrr):
    settings = ("--data", own_data, "--epochs", 2 * LONG, "--engine", "cpp", "--checkpoint", 0.05)
    folder = tmp_path / "killed"
    process = start_biorrr("learn", *settings, "--out", folder)
    wait_for(folder / FIRST, process)
    process.send_signal(signal.SIGSTOP)  # resume waits a moment for a lock
    code, _, err = run_biorrr("resume", folder)
    assert (code, err) == (
        2,
        f"biorrr: out: {folder} is in use by another process; wait, or choose another\n",
    )
    assert process.poll() is None, "ended too early to show anything"
    process.kill()
    process.wait()
    assert [path.name for path in folder.iterdir()] == ["unfinished"]

    code, _, err = run_biorrr("resume", folder)
    assert code == 0, err
    assert "Traceback" not in err
    assert run_biorrr("learn", *settings, "--out", tmp_path / "straight")[0] == 0
    assert_same_run(folder, tmp_path / "straight")
    names = {path.name for path in folder.iterdir()}
    assert "unfinished" not in names
    assert run_biorrr("resume", folder) == (0, f"{folder}: finished; nothing to resume\n", "")


V1V2 = pytest.mark.skipif(
    not os.environ.get("BIORRR_DATA"), reason="needs the real data files; set BIORRR_DATA"
)
SLOW = pytest.mark.slow
# Command, options, and how many files of its checkpoints are there when it is killed.
EXPERIMENTS = [
    pytest.param("learn", ("--seeds", 3, "--epochs", 300), 2, id="learn", marks=SLOW),
    pytest.param(
        "learn", ("--cell", "millivolts", "--epochs", 2), 1, id="learn-millivolts", marks=SLOW
    ),
    pytest.param(
        "compare", ("-k", 2, "--seeds", 2, "--steps", 60_000), 5, id="compare", marks=SLOW
    ),
    pytest.param("family", ("--seeds", 2, "--epochs", 800, "-s", 0), 2, id="family", marks=SLOW),
    pytest.param("plateau", ("--seeds", 2, "--epochs", 800, "-s", 0), 2, id="plateau", marks=SLOW),
    pytest.param("wiring", ("--seeds", 2, "--epochs", 800), 2, id="wiring", marks=SLOW),
    pytest.param("symmetry", ("--seeds", 2, "--etas", 0.01), 6, id="symmetry", marks=SLOW),
    pytest.param(
        "robustness",
        ("--samples", 20_000, "--seeds", 2, "--departures", "delay", "--departures", "lesion"),
        9,
        id="robustness",
        marks=SLOW,
    ),
    pytest.param(
        "communication",
        ("--ranks", 2, "--folds", 3, "--epochs", 3),
        3,
        id="communication",
        marks=(SLOW, V1V2),
    ),
    pytest.param(
        "hierarchy",
        ("--areas", 2, "--areas", 2, "--samples", 20_000, "--seeds", 2),
        2,
        id="hierarchy",
        marks=SLOW,
    ),
    pytest.param(
        "interneurons",
        ("--data", "digits", "--samples", 20_000, "--seeds", 2, "--rates", 0.003),
        5,
        id="interneurons",
        marks=SLOW,
    ),
    pytest.param(
        "theories",
        ("--samples", 20_000, "--seeds", 2, "--theories", "Bio-RRR"),
        4,
        id="theories",
        marks=SLOW,
    ),
    pytest.param(
        "timing", ("--delays", 1, "--samples", 40_000, "--seeds", 2), 3, id="timing", marks=SLOW
    ),
]


def test_no_experiment_is_left_out():
    """That of the whole paper, which is made of others, is cut short in test_paper.py."""
    assert {param.values[0] for param in EXPERIMENTS} == {*experiment_names()} - {"paper"}


@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
@pytest.mark.parametrize(("command", "options", "files"), EXPERIMENTS)
def test_every_experiment_survives_kill_9(
    command, options, files, own_data, tmp_path, start_biorrr, run_biorrr, compiled_code
):
    """Finished parts come back from disk, the one that was cut goes on, the rest begin; nothing is
    left behind.
    """
    if command != "communication":
        options = ("--data", own_data, *options)
    options = (*options, "--engine", "cpp", "--checkpoint", 0.02)
    straight, folder = tmp_path / "straight", tmp_path / "killed"
    code, _, err = run_biorrr(command, *options, "--out", straight)
    assert code == 0, err
    process = start_biorrr(command, *options, "--out", folder)
    deadline = time.monotonic() + 300
    while len(list(folder.glob("unfinished/checkpoints/[!.]*"))) < files:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "too few checkpoints"
        time.sleep(0.002)
    children = children_of(process)
    process.kill()
    process.communicate()
    assert not (folder / "summary.json").exists(), "ended too early to show anything"
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    finished = {
        path: path.stat().st_mtime_ns for path in folder.glob("unfinished/checkpoints/*.nc")
    }

    resumed = start_biorrr("resume", folder)
    while resumed.poll() is None:
        for path, written in finished.items():
            try:
                assert path.stat().st_mtime_ns == written, "computed again"
            except FileNotFoundError:
                break
        time.sleep(0.01)
    assert resumed.returncode == 0, resumed.communicate()
    assert_same_results(folder, straight)
    assert run_biorrr("resume", folder) == (0, f"{folder}: finished; nothing to resume\n", "")


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
def test_interrupted_run_goes_on(own_data, tmp_path, start_biorrr, run_biorrr):
    settings = ("--data", own_data, "--epochs", LONG, "--engine", "cpp")
    folder = tmp_path / "interrupted"
    process = start_biorrr("learn", *settings, "--out", folder, "--checkpoint", 0.05)
    wait_for(folder / FIRST, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"`biorrr resume {folder}` continues it" in err
    assert json.loads((folder / "summary.json").read_text())["ended"] == "interrupted"
    code, _, err = run_biorrr("resume", folder)
    assert code == 0, err
    assert json.loads((folder / "summary.json").read_text())["samples"] == LONG * 120


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
def test_interrupted_race_ends_at_once_and_goes_on(own_data, tmp_path, start_biorrr, run_biorrr):
    """Ctrl-C reaches the processes of the pool too, and nobody waits for the laps that are left."""
    folder = tmp_path / "interrupted"
    settings = (
        "--data",
        own_data,
        "-k",
        2,
        "--seeds",
        3,
        "--steps",
        300_000,
        "--engine",
        "cpp",
        "--checkpoint",
        0.1,
    )
    process = start_biorrr("compare", *settings, "--out", folder, start_new_session=True)
    wait_for(folder / "unfinished/checkpoints/learn-*.npz", process)  # of a circuit under way
    children = children_of(process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (
        130,
        f"biorrr: interrupted; `biorrr resume {folder}` continues it\n",
    )
    assert psutil.wait_procs(children, timeout=20)[1] == []
    code, _, err = run_biorrr("resume", folder)
    assert code == 0, err


@pytest.mark.parametrize(
    "begun",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("", "unfinished")),
        "unfinished/checkpoints",
    ],
)
def test_before_the_first_checkpoint_it_starts_over(short_run, tmp_path, capsys, begun):
    """Whichever of its folders the run had made."""
    folder = cut_short(short_run, tmp_path / "early")
    (folder / begun).mkdir(parents=True, exist_ok=True)
    if begun:
        (folder / "config.toml").rename(folder / "unfinished/config.toml")
    assert main.run(["resume", str(folder)]) == 0
    assert_same_run(folder, short_run)
    assert main.run(["resume", str(folder)]) == 0
    assert capsys.readouterr().out.endswith(f"{folder}: finished; nothing to resume\n")


def test_changed_data_are_refused(short_run, own_data, tmp_path, capsys):
    folder = cut_short(short_run, tmp_path / "early")
    with np.load(own_data) as held:
        np.savez(own_data, X=held["X"][::-1], Y=held["Y"][::-1])
    assert main.run(["resume", str(folder)]) == 2
    err = capsys.readouterr().err
    assert (
        f"biorrr: data: changed since the run in {folder} began (another checksum); put back what"
        " it was" in err
    )
    assert (folder / "config.toml").exists()


@pytest.mark.slow
def test_config_of_a_run_whose_data_have_changed_since_is_warned_of(
    short_run, own_data, tmp_path, capsys
):
    again = ["learn", "--config", str(short_run / "config.toml"), "--out"]
    assert main.run([*again, str(tmp_path / "same")]) == 0
    assert capsys.readouterr().err == ""
    with np.load(own_data) as held:
        X, Y = held["X"][::-1], held["Y"][::-1]
    np.savez(tmp_path / "other.npz", X=X, Y=Y)
    assert main.run([*again, str(tmp_path / "chosen"), "--data", str(tmp_path / "other.npz")]) == 0
    assert capsys.readouterr().err == ""
    np.savez(own_data, X=X, Y=Y)
    assert main.run([*again, str(tmp_path / "changed")]) == 0
    assert (
        capsys.readouterr().err
        == f"biorrr: warning: data: changed since {short_run}/config.toml was written (another"
        " checksum); this will not repeat its run\n"
    )


def test_half_written_files_of_a_killed_process_are_cleared(short_run, tmp_path):
    folder = cut_short(short_run, tmp_path / "early")
    for name in ("unfinished/.123-config.toml", "unfinished/results/run.nc", ".mine"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert main.run(["resume", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {
        path.name for path in short_run.iterdir()
    } | {".mine"}


def test_link_in_place_of_checkpoints_is_refused(short_run, tmp_path, capsys):
    """What a run deletes when it is finished is its own."""
    folder = cut_short(short_run, tmp_path / "sent")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/mine.npz").touch()
    (folder / "unfinished").mkdir()
    (folder / "unfinished/checkpoints").symlink_to(tmp_path / "elsewhere")
    assert main.run(["resume", str(folder)]) == 2
    assert (
        f"{folder}/unfinished/checkpoints: must be a file in the folder itself (got a link"
        in capsys.readouterr().err
    )
    assert (tmp_path / "elsewhere/mine.npz").exists()


def test_truncated_checkpoint_is_refused_with_a_way_on(short_run, tmp_path, capsys, item_names):
    folder = cut_short(short_run, tmp_path / "damaged")
    path = folder / f"unfinished/checkpoints/{item_names(folder)[0]}.npz"
    path.parent.mkdir(parents=True)
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    for content in (b"PK\x03\x04 cut short", pickled.getvalue()):
        path.write_bytes(content)
        assert main.run(["resume", str(folder)]) == 1
        assert (
            capsys.readouterr().err
            == f"biorrr: {path}: not a checkpoint, or damaged or truncated; delete it to"
            " start over\n"
        )
    path.unlink()
    assert main.run(["resume", str(folder)]) == 0
    assert_same_run(folder, short_run)


@pytest.mark.slow
def test_damaged_summary_is_made_again(short_run, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(short_run, folder)
    (folder / "summary.json").write_text('{"objective": -0.')
    assert main.run(["resume", str(folder)]) == 0
    assert_same_run(folder, short_run)


@pytest.mark.slow
def test_other_versions_are_warned_of(short_run, tmp_path, capsys):
    folder = cut_short(short_run, tmp_path / "early")
    config = (folder / "config.toml").read_text()
    assert 'numpy = "' in config
    (folder / "config.toml").write_text(config.replace('numpy = "', 'numpy = "0.'))
    assert main.run(["resume", str(folder)]) == 0
    assert "biorrr: warning: resumed with other versions (numpy " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (None, "has no run to resume: there is no config.toml in it"),
        ("k = 2", "config.toml must name the experiment it is of (got None); is it a run folder?"),
        ("[provenance]\nexperiment = 'os'", "must name the experiment it is of (got 'os')"),
        ("[provenance]\nexperiment = 'doctor'", "must name the experiment it is of (got 'doctor')"),
        (
            "[provenance]\nexperiment = ['learn']",
            "must name the experiment it is of (got ['learn'])",
        ),
        ("k = 0\n[provenance]\nexperiment = 'learn'", "k: must be at least 1 (got 0)"),
        ("= broken", "config.toml: damaged (Invalid statement"),
    ],
)
def test_what_is_no_run_exits_2(tmp_path, capsys, config, sentence):
    if config is not None:
        (tmp_path / "config.toml").write_text(config)
    assert main.run(["resume", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert not out


def test_one_holder_at_a_time(tmp_path):
    refused = pytest.raises(FolderError, match="is in use by another process; wait, or choose")
    with lock(tmp_path), refused, lock(tmp_path):
        pass
    with lock(tmp_path):
        pass

"""Nothing in a file a user was sent is run, and no name in one leads out of the folder it belongs
to.
"""

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from biorrr.sims import main
from biorrr.sims.data import Data
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab.settings import kinds
from biorrr.sims.sweeps.plan import make_plan
from biorrr.sims.sweeps.points import path_of

ROOMS = [
    Path(main.__file__).parents[1] / room for room in ("analysis", "circuit", "models", "sims")
]


class Bomb:
    """Makes a folder when unpickled."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return (os.mkdir, (self.folder,))


def biorrr(capsys, *args):
    code = main.run([*map(str, args)])
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("suffix", "said"),
    [
        (".npz", "holds Python objects, which can run code and are never read"),
        (".npy", "holds Python objects, which can run code and are never read"),
        (".csv", "must be numbers separated by commas"),
        (".mat", "not a readable MATLAB file"),
    ],
)
def test_pickles_in_data_files_are_never_loaded(tmp_path, capsys, suffix, said):
    """The file itself is opened and refused, not the command line."""
    bomb = np.array([[Bomb(tmp_path / "exploded")]], dtype=object)
    x, y = tmp_path / f"x{suffix}", tmp_path / f"y{suffix}"
    if suffix == ".npz":
        np.savez(x, X=bomb, Y=bomb)
    elif suffix == ".npy":
        np.save(x, bomb)
        np.save(y, bomb)
    else:
        for path in (x, y):
            path.write_bytes(pickle.dumps(bomb))
    own = ("--y", y) if suffix in (".npy", ".csv") else ()
    code, _, err = biorrr(capsys, "learn", "--data", x, *own, "--out", tmp_path / "out")
    assert code == 1
    assert f"{x}: {said}" in err
    assert "Traceback" not in err
    assert not (tmp_path / "exploded").exists()
    assert not (tmp_path / "out").exists()


def link(file, secret):
    file["X"] = h5py.ExternalLink(secret, "X")


def external(file, secret):
    file.create_dataset("X", (3, 4), float, external=[(str(secret), 0, 96)])


def virtual(file, secret):
    layout = h5py.VirtualLayout((3, 4), float)
    layout[...] = h5py.VirtualSource(secret, "X", (3, 4))
    file.create_virtual_dataset("X", layout)


@pytest.mark.parametrize("lead", [link, external, virtual])
def test_matlab_files_do_not_lead_to_other_files(tmp_path, capsys, lead):
    numbers = np.random.default_rng(0).standard_normal((3, 4))
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = numbers
    path = tmp_path / "sent.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["Y"] = numbers
        lead(file, tmp_path / "secret.h5")
    code, _, err = biorrr(capsys, "learn", "--data", path, "--out", tmp_path / "out")
    assert code == 1
    assert f"{path}: all of it must be held in the file itself (got 'X', a link" in err


IMPORT = (  # all engines do
    "from biorrr.circuit.engines.brian2_private import import_brian2; import_brian2()"
)
COMMAND = "from biorrr.sims.start import main; main()"


@pytest.mark.parametrize(
    "start",
    [
        (IMPORT,),
        pytest.param(
            (COMMAND, *["learn", "--epochs", "1", "--engine", "numpy", "--out", "out"]),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_preferences_for_brian2_in_the_current_folder_are_not_read(own_data, tmp_path, start):
    """Brian2 evaluates them when it is imported: those of the folder, which may have been sent, and
    the user's.
    """
    sent, home, ran = tmp_path / "sent", tmp_path / "home", tmp_path / "ran"
    sent.mkdir()
    (home / ".brian").mkdir(parents=True)
    for path in (sent / "brian_preferences", home / ".brian" / "user_preferences"):
        path.write_text(
            f"core.stop_on_keyboard_interrupt = __import__('pathlib').Path({str(ran)!r}).touch() or"
            " True\n"
        )
    environment = {
        **os.environ,
        "HOME": str(home),
        "BIORRR_CACHE": str(tmp_path / "cache"),
        "PYTHONSAFEPATH": "1",
    }
    data = ["--data", str(own_data)] if len(start) > 1 else []
    command = [sys.executable, "-c", *start, *data]
    done = subprocess.run(
        command, cwd=sent, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not ran.exists()


def test_run_folders_hold_no_pickles(own_data, tmp_path, capsys, item_names):
    """A checkpoint is refused with its pickle unread; see also tests/circuit/test_checkpoint.py."""
    folder = tmp_path / "sent"
    folder.mkdir()
    from biorrr.sims.data import load

    text = (
        f"data = '{own_data}'\nepochs = 1\nengine = 'numpy'\n[provenance]\nexperiment ="
        f" 'learn'\ndata_sha256 = '{load(str(own_data)).checksum}'\n"
    )
    (folder / "config.toml").write_text(text)
    name = f"{item_names(folder)[0]}.npz"
    (folder / "unfinished/checkpoints").mkdir(parents=True)
    np.savez(
        folder / "unfinished/checkpoints" / name,
        facts=np.array([Bomb(tmp_path / "exploded")], dtype=object),
    )
    (folder / "config.toml").write_text(text.replace("sha256 = '", "sha256 = 'x"))
    assert biorrr(capsys, "resume", folder)[0] == 2  # the data's checksum comes first
    (folder / "config.toml").write_text(text)
    code, _, err = biorrr(capsys, "resume", folder)
    assert code == 1
    assert f"{name}: not a checkpoint, or damaged" in err
    assert not (tmp_path / "exploded").exists()


def test_our_code_never_unpickles_evaluates_or_runs_a_shell():
    forbidden = re.compile(
        r"allow_pickle=True|pickle\.loads?\(|\bcloudpickle\b|\bjoblib\.load\b|(?<![\w.])(?:eval|exec)\(|shell=True|"
        r"os\.system\(|yaml\.load\("
    )
    found = [
        f"{path.name}: {line.strip()}"
        for room in ROOMS
        for path in room.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if forbidden.search(line) and not line.lstrip().startswith("#")
    ]
    assert found == []


def test_settings_are_numbers_and_choices():
    """Text that is free stands only for data, what is in them, a circuit of the user's own and
    departures.

    Data and recordings are a name or a path to their loader, areas, events and columns are looked
    up in a recording, departures among ours, and a circuit is run only where the user names it
    (tests/sims/test_circuits.py). The rest are choices.
    """
    free = (
        "circuit",
        "departures",
        *(name for kind in Data.kinds() for name in kind.__dataclass_fields__),
    )
    for experiment in map(find_experiment, experiment_names()):
        for name, (kind, *_) in kinds(experiment.settings).items():
            choices = experiment.settings.__dataclass_fields__[name].metadata["choices"]
            assert (
                kind in (int, float, bool) or issubclass(kind, Data) or choices or name in free
            ), name


@pytest.mark.parametrize(
    "text",
    [
        "k = '2); system(\"touch exploded\"); ('",
        's = \'__import__("os").system("touch exploded")\'',
        "engine = 'cpp; touch exploded'",
        "ridge = 'exec(1)'",
        "format = '../../exploded'",
        "seed = 'sample*2'",
    ],
)
def test_expressions_in_a_config_are_refused(tmp_path, capsys, text, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(text)
    code, _, err = biorrr(capsys, "learn", "--config", tmp_path / "c.toml")
    assert code == 2
    assert re.search(r"must be (a whole number|a finite number|one of)", err)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.toml"]


def test_names_in_a_config_never_become_paths(tmp_path, capsys):
    sent = tmp_path / "sent"
    sent.mkdir()
    for name in ("../../evil", "/tmp/evil", "learn/../evil", "biorrr.sims.experiments.learn"):
        (sent / "config.toml").write_text(f"[provenance]\nexperiment = '{name}'\n")
        code, _, err = biorrr(capsys, "resume", sent)
        assert code == 2
        assert "must name the experiment" in err
    plan = make_plan(grid={"data": ["../../../etc/passwd", "/etc/passwd", "a/../b"]})
    for settings in plan.points:
        path = path_of(plan, tmp_path, settings)
        assert path.parent == tmp_path / "points"
        assert re.fullmatch(r"learn-compute_point-[0-9a-f]{16}\.nc", path.name)


def test_nothing_we_write_or_say_tells_of_the_machine(own_data, tmp_path, monkeypatch, capsys):
    """No environment variable and no path of home or of where one works: run, its files, report,
    sweep, resume.
    """
    home = tmp_path / "home-of-a-quokka"
    work = home / "project"
    work.mkdir(parents=True)
    own_data.rename(work / "own.npz")
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("BIORRR_CANARY", "a-quokka-it-is")
    (work / "plan.toml").write_text(
        "[fixed]\ndata = 'own.npz'\nepochs = 1\nengine = 'numpy'\n[grid]\nk = [1, 9]\n"
    )
    for args in (
        ("learn", "--data", "own.npz", "--epochs", 1, "--engine", "numpy", "--out", "out"),
        ("sweep", "plan.toml", "--workers", 0, "--folders", "--out", "sweep"),
        ("report", "out"),
        ("report", "sweep"),
        ("resume", "out"),
        ("learn", "--data", "missing.npz"),
    ):
        code, out, err = biorrr(capsys, *args)
        assert code == (1 if "missing.npz" in args else 0), err
        assert "quokka" not in out + err, args
    looked = [path for path in (*work.glob("out/**/*"), *work.glob("sweep/**/*")) if path.is_file()]
    assert {"summary.json", "config.toml", "run.nc", "sweep.toml"} <= {path.name for path in looked}
    for path in looked:
        assert b"quokka" not in path.read_bytes(), path
    assert json.loads((work / "out/summary.json").read_text())["data"] == "own.npz"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with data, a run of them, and a plan with its sweep; none is to be changed."""
    place = tmp_path_factory.mktemp("finished")
    X = np.random.default_rng(0).standard_normal((120, 5))
    np.savez(place / "own.npz", X=X, Y=X[:, :3])
    data = ("--data", str(place / "own.npz"), "--epochs", "1", "--engine", "numpy")
    assert main.run(["learn", *data, "--out", str(place / "run")]) == 0
    (place / "plan.toml").write_text(
        f"[fixed]\ndata = '{place}/own.npz'\nepochs = 1\nengine = 'numpy'\n[grid]\nk = [1, 2]\n"
    )
    sweep = ("sweep", str(place / "plan.toml"), "--workers", "0", "--out", str(place / "sweep"))
    assert main.run([*sweep]) == 0
    return place


@pytest.fixture
def run_in_time(capsys):
    """Runs ``biorrr <arguments>`` in this process; a test in which it waits for a pipe fails."""

    def too_late(signum, frame):
        pytest.fail("it still waits after 60 seconds")

    before = signal.signal(signal.SIGALRM, too_late)

    def run(*args):
        signal.alarm(60)
        try:
            return biorrr(capsys, *args)
        finally:
            signal.alarm(0)

    yield run
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("pipe", "config.toml"),
        ("link", "summary.json"),
        ("pipe", "inventory.json"),
        ("pipe", "ITEM.npz"),
        ("link", "ITEM.nc"),
        *(
            pytest.param(kind, name, marks=pytest.mark.slow)
            for kind, name in (
                ("link", "config.toml"),
                ("pipe", "summary.json"),
                ("link", "inventory.json"),
                ("link", "ITEM.npz"),
                ("pipe", "ITEM.nc"),
            )
        ),
    ],
)
def test_only_regular_files_of_a_run_are_opened(
    finished, tmp_path, run_in_time, item_names, name, kind
):
    """Whoever opens a pipe waits for ever, and a link may lead to any file."""
    own_data, run = finished / "own.npz", tmp_path / "run"
    shutil.copytree(finished / "run", run)
    if name.startswith("ITEM"):
        name = name.replace("ITEM", f"unfinished/checkpoints/{item_names(run)[0]}")
    if name != "summary.json":
        (run / "summary.json").unlink()
    (run / "unfinished/checkpoints").mkdir(parents=True)
    (tmp_path / "secret").write_bytes((run / name).read_bytes() if (run / name).exists() else b"")
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name) if kind == "pipe" else (run / name).symlink_to(tmp_path / "secret")
    for command in (
        ("resume", run),
        ("learn", "--data", own_data, "--epochs", 1, "--engine", "numpy", "--out", run, "--force"),
    ):
        code, _, err = run_in_time(*command)
        if command[0] == "resume":
            assert not (run / "unfinished/results").exists()
            assert code == 2, err
            assert f"{run / name}: must be a file in the folder itself (got a {kind}" in err
        assert code == 0 or err.startswith("biorrr: ")
        assert "unexpected" not in err


@pytest.mark.parametrize("kind", ["pipe", "link"])
@pytest.mark.parametrize("name", ["sweep.toml", "point", "points"])
def test_only_regular_files_of_a_sweep_are_opened(finished, tmp_path, run_in_time, name, kind):
    plan, out = finished / "plan.toml", tmp_path / "sweep"
    shutil.copytree(finished / "sweep", out)
    path = next(out.glob("points/*")) if name == "point" else out / name
    path.rename(tmp_path / "secret")
    os.mkfifo(path) if kind == "pipe" else path.symlink_to(tmp_path / "secret")
    commands = [("resume", out), ("report", out)] + (
        [("sweep", plan, "--status", "--out", out)] * (name != "sweep.toml")
    )
    for command in commands:
        code, _, err = run_in_time(*command)
        assert code == 2, err
        assert f"{path}: must be a file in the folder itself (got a {kind}" in err


def test_names_in_files_do_not_command_the_terminal(tmp_path, run_biorrr):
    """An escape code in a name could erase a line and put another in its place."""
    code, _, err = run_biorrr(
        "learn",
        "--data",
        tmp_path / "\x1b[2K\x9b1A\rbiorrr: all is well.npz",
        "--out",
        tmp_path / "o",
    )
    assert code == 1
    assert "\x1b" not in err
    assert "\x9b" not in err
    assert "\\x1b[2K" in err


def test_a_terminal_that_knows_only_ascii(own_data, tmp_path, run_biorrr):
    folder = tmp_path / "naïve"
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    args = ("learn", "--data", own_data, "--epochs", 1, "--engine", "numpy", "--out", folder)
    assert run_biorrr(*args, env=ascii_only)[0] == 0
    code, out, err = run_biorrr("report", folder, env=ascii_only)
    assert (code, err) == (0, "")
    assert "na\\xefve/report.html" in out


def test_a_page_does_not_advise_to_run_the_circuit_of_others(
    own_data, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("theirs.py").write_text(
        "from biorrr.circuit import Microcircuit\ndef circuit(**a): return Microcircuit(**a)\n"
    )
    named = ("--circuit", "theirs.py:circuit")
    Path("plan.toml").write_text(
        f"[fixed]\ndata = '{own_data}'\nepochs = 1\nengine = 'numpy'\n[grid]\nk = [1, 2]\n"
    )
    assert biorrr(capsys, "sweep", "plan.toml", *named, "--workers", 0, "--out", "sweep")[0] == 0
    run = ("learn", "--data", own_data, "--epochs", 1, "--engine", "numpy", *named, "--out", "run")
    assert biorrr(capsys, *run)[0] == 0
    for folder in ("sweep", "run"):
        assert biorrr(capsys, "report", folder)[0] == 0
        text = Path(folder, "report.html").read_text()
        assert "read that function first" in text
        assert "biorrr sweep" not in text
        assert "--config" not in text
    for point in Path("sweep/points").iterdir():
        point.unlink()
    assert "`biorrr resume sweep` continues it" in biorrr(capsys, "report", "sweep")[2]


def test_a_damaged_result_is_not_to_be_unpickled(tmp_path):
    from biorrr.sims.lab.items import kept_result

    place = tmp_path / "unfinished/checkpoints"
    place.mkdir(parents=True)
    (place / "one.nc").write_bytes(pickle.dumps(Bomb(tmp_path / "exploded")))
    assert kept_result(place, "one") is None
    assert not (tmp_path / "exploded").exists()

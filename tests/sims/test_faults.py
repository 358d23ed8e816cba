"""What goes wrong around a run: full disks, read-only folders, caches that vanish, builds and processes killed.

In each case a clear message, nothing lost that was finished, and a way on.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from biorrr.circuit import Microcircuit, Run, cache, scratch
from biorrr.circuit.compiler import find_compiler
from biorrr.sims import main

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
QUICK = ("--epochs", "1", "--engine", "numpy")


def biorrr(capsys, *args):
    code = main.run([*map(str, args)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def own_arrays(path):
    with np.load(path) as held:
        return held["X"], held["Y"]


@pytest.mark.parametrize(
    "name", ["run.nc", *(pytest.param(n, marks=pytest.mark.slow) for n in ("config.toml", "summary.json"))]
)
def test_disk_full(own_data, tmp_path, capsys, monkeypatch, name):
    """The n-th file does not fit: no half of it is left, and with room again the same command works."""
    from biorrr.sims import folder

    replace = Path.replace

    def no_room(self, target):
        if Path(target).name == name:
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    args = ("learn", "--data", own_data, *QUICK, "--out", tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(folder.Path, "replace", no_room)
        code, _, err = biorrr(capsys, *args)
    assert code == 1
    assert err.splitlines()[-1] == f"biorrr: {tmp_path}/out/{name}: No space left on device"
    left = {path.name for path in (tmp_path / "out").iterdir()} if (tmp_path / "out").exists() else set()
    assert not {path for path in left if path.startswith(".") or path == name}
    # What was simulated is in the checkpoint: resume has only to write it down.
    again = ("resume", tmp_path / "out") if left else args
    assert biorrr(capsys, *again)[0] == 0
    assert json.loads((tmp_path / "out/summary.json").read_text())["samples"] == 120


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_read_only_folder(own_data, tmp_path, capsys):
    (tmp_path / "closed").mkdir(mode=0o500)
    code, _, err = biorrr(capsys, "learn", "--data", own_data, *QUICK, "--out", tmp_path / "closed/out")
    assert code == 1
    assert "Permission denied" in err


@pytest.mark.slow
def test_truncated_netcdf_says_so(own_data, tmp_path, capsys):
    assert biorrr(capsys, "learn", "--data", own_data, *QUICK, "--out", tmp_path / "out")[0] == 0
    path = tmp_path / "out/run.nc"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=r"run\.nc: not a saved run, or damaged"):
        Run.load(path)
    # The way on: the config makes the same run again.
    code, _, _ = biorrr(capsys, "learn", "--config", tmp_path / "out/config.toml", "--out", tmp_path / "again")
    assert code == 0
    Run.load(tmp_path / "again/run.nc")


@pytest.mark.slow
@needs_compiler
def test_cache_deleted_by_another_process(own_data, compiled_code, monkeypatch, tmp_path):
    X, Y = own_arrays(own_data)
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
    shutil.copytree(compiled_code, tmp_path / "cache", dirs_exist_ok=True)
    circuit = Microcircuit(k=2, engine="cpp", ridge=0.1)
    before = circuit.run(X, Y, centre=True)
    shutil.rmtree(tmp_path / "cache")
    after = circuit.run(X, Y, centre=True)
    np.testing.assert_array_equal(before.Vx, after.Vx)


@needs_compiler
def test_build_cut_short_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))

    def cut_short(folder):
        (folder / "circuit").write_text("half a program")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.find_or_build("key", cut_short)
    assert cache.find("key") is None
    # Killed outright: what was being built stays behind, and is never taken for finished.
    half = tmp_path / "circuits/key"
    half.mkdir()
    (half / "circuit").write_text("half a program")
    assert cache.find("key") is None
    program = cache.find_or_build("key", lambda folder: (folder / "circuit").write_text("whole") and None)
    assert program.read_text() == "whole"
    assert cache.find("key") == program


BUILDER = """
import sys, time
from pathlib import Path
from biorrr.circuit import cache
def build(folder):
    with open(sys.argv[1], "a") as log: log.write("built\\n")
    time.sleep(1)
    (folder / "circuit").write_text("program")
print(cache.find_or_build("shared", build).read_text())
"""


def test_two_runs_sharing_a_cache_build_once(tmp_path, monkeypatch):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "log")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=60)[0] for process in both] == ["program\n", "program\n"]
    assert (tmp_path / "log").read_text() == "built\n"


def test_builder_killed_releases_its_lock(tmp_path, monkeypatch):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
    slow = BUILDER.replace("time.sleep(1)", "time.sleep(600)")
    first = subprocess.Popen([sys.executable, "-c", slow, str(tmp_path / "log")])
    deadline = time.monotonic() + 60
    while not (tmp_path / "log").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    first.kill()
    first.wait()
    done = subprocess.run(
        [sys.executable, "-c", BUILDER, str(tmp_path / "log")], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "program\n"


@needs_compiler
def test_compiled_child_dies_with_its_parent_and_its_data_are_cleared(own_data, tmp_path, start_biorrr, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    # One sample short of what would end by itself within hours.
    process = start_biorrr("learn", "--data", own_data, "--engine", "cpp", "--epochs", 10**8, "--out", tmp_path / "out")

    def programs():
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if str(tmp_path).encode() in path.read_bytes() and path.with_name("comm").read_text() == "circuit\n":
                    found.append(int(path.parent.name))
            except OSError:
                continue
        return found

    deadline = time.monotonic() + 120
    while not programs() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while programs() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert programs() == []
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["checkpoints", "config.toml"]

    # The next run clears what the killed one has left in the temporary folder.
    (left,) = (tmp_path / "tmp").glob("biorrr-circuit-*")
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path / "tmp"))
    with scratch.scratch_folder() as ours:
        assert left.exists(), "too young to be told from one that is about to be used"
        os.utime(left, (0, 0))
        os.utime(ours, (0, 0))
        with scratch.scratch_folder():
            assert not left.exists()
            assert ours.exists(), "somebody holds it"


@pytest.mark.slow
@needs_compiler
def test_second_interrupt_ends_at_once(own_data, tmp_path, start_biorrr):
    process = start_biorrr(
        "learn",
        "--data",
        own_data,
        "--engine",
        "cpp",
        "--epochs",
        10**8,
        "--out",
        tmp_path / "out",
        "--checkpoint",
        0.1,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "out/checkpoints/seed-0.npz").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    for _ in range(2):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert (tmp_path / "out/checkpoints/seed-0.npz").exists()

"""What goes wrong around a run: full disks, read-only folders, caches that vanish, builds and
processes killed.

In each case a clear message, nothing lost that was finished, and a way on.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from biorrr.circuit import Microcircuit, Run
from biorrr.circuit.engines import cache
from biorrr.circuit.engines.compiler import find_compiler
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


def may_mount():
    """Whether a process here may have file systems of its own."""
    try:
        tried = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        return subprocess.run(tried, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture
def on_disk(tmp_path, compiled_code):
    """Runs shell commands where ``disk`` in the current folder is a file system of its own, and
    ``biorrr`` is ours.

    The disk is gone when they end: what is to be looked at has to be copied.
    """
    if not may_mount():
        pytest.skip(
            "needs `unshare -rm` to mount a file system of its own, and that is not permitted here"
        )
    (tmp_path / "disk").mkdir()

    def run(size, *commands):
        biorrr = (
            f'biorrr() {{ "{sys.executable}" -c "from biorrr.sims.start import main; main()"'
            ' "$@"; }'
        )
        script = "\n".join([biorrr, f"mount -t tmpfs -o size={size} tmpfs disk", *commands])
        return subprocess.run(
            ["unshare", "-rm", "sh", "-c", script],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


HELD_OUT = ["predict_held_out-*.nc"]  # numbers alone


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        pytest.param(
            "120k",
            ["learn_from-*.npz", *HELD_OUT, "predict_held_out-*.npz"],
            marks=pytest.mark.slow,
        ),
        # No checkpoint of a circuit fits, and the run starts over.
        pytest.param("12k", HELD_OUT, marks=pytest.mark.slow),
    ],
)
def test_disk_full(on_disk, own_data, tmp_path, size, kept):
    """No half of a file is left, what was finished is in the checkpoint, and with room again resume
    ends the run.
    """
    done = on_disk(
        size,
        "biorrr learn --data own.npz --epochs 2 --engine numpy --out disk/out; echo $? > code",
        "find disk/out -mindepth 1 -printf '%f\\n' > left",
        "mount -o remount,size=50m disk",
        "biorrr resume disk/out && cp -r disk/out after",
    )
    assert (tmp_path / "code").read_text() == "1\n"
    said = done.stderr.splitlines()
    assert "biorrr: disk/out/run.nc: No space left on device" in said
    warned = "biorrr: warning: .*/learn_from-[^ ]*.npz: no checkpoint at sample 240 .No space left"
    assert any(re.match(warned, line) for line in said) == ("learn_from-*.npz" not in kept)
    assert "Traceback" not in done.stderr
    left = re.sub("-[0-9a-f]{16}", "-*", (tmp_path / "left").read_text())
    assert sorted(left.split()) == [
        "checkpoints",
        "config.toml",
        *kept,
        "unfinished",
    ]
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "after/summary.json").read_text())["samples"] == 240
    assert not (tmp_path / "after/unfinished").exists()


@pytest.mark.slow
def test_disk_full_when_a_run_is_to_be_replaced(on_disk, own_data, tmp_path):
    """The old run stays as it was, and the new one takes its place when there is room."""
    again = "--data own.npz --epochs 2 --engine numpy --out disk/out"
    done = on_disk(
        "2m",
        f"biorrr learn -k 1 {again} && cp -r disk/out before && dd if=/dev/zero of=disk/filled"
        " bs=1k count=5000",
        f"truncate -s -30k disk/filled; biorrr learn -k 2 {again} --force; echo $? > code",
        "cp -r disk/out left && rm -r left/unfinished",
        "rm disk/filled && biorrr resume disk/out && cp -r disk/out after",
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "code").read_text() == "1\n"
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    files = [
        {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()}
        for name in ("before", "left", "after")
    ]
    assert files[0] == files[1]
    assert files[2].keys() == files[0].keys()
    assert json.loads(files[2]["summary.json"])["k"] == 2


def test_read_only_folder(on_disk, own_data, tmp_path):
    done = on_disk(
        "1m", "mount -o remount,ro disk", "biorrr learn --data own.npz --epochs 1 --out disk/out"
    )
    assert (done.returncode, done.stderr) == (1, "biorrr: disk/out: Read-only file system\n")


@pytest.mark.slow
def test_folder_of_somebody_else(own_data, tmp_path):
    if os.getuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        user = None
    else:  # root may write anywhere, so somebody else tries
        (tmp_path / "closed").mkdir(mode=0o755)
        user = 65534
        for path in (tmp_path, *tmp_path.parents[:2]):
            path.chmod(0o755)
    command = [
        sys.executable,
        "-c",
        "from biorrr.sims.start import main; main()",
        "learn",
        "--data",
        str(own_data),
    ]
    try:
        done = subprocess.run(
            [*command, "--epochs", "1", "--engine", "numpy", "--out", str(tmp_path / "closed/out")],
            user=user,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    except PermissionError:
        pytest.skip("another user may not run this Python")
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (
        1,
        [f"biorrr: {tmp_path}/closed/out: Permission denied"],
    ), done.stderr


@pytest.mark.slow
def test_truncated_netcdf_says_so(own_data, tmp_path, capsys):
    assert biorrr(capsys, "learn", "--data", own_data, *QUICK, "--out", tmp_path / "out")[0] == 0
    path = tmp_path / "out/run.nc"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=r"run\.nc: not a saved run, or damaged"):
        Run.load(path)
    # The way on: the config makes the same run again.
    code, _, _ = biorrr(
        capsys, "learn", "--config", tmp_path / "out/config.toml", "--out", tmp_path / "again"
    )
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

    def cut_short(path):
        path.write_text("half a program")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.find_or_build("key", cut_short)
    assert cache.find("key") is None
    # Killed outright: what was being built stays behind, and is never taken for finished.
    (tmp_path / "circuits/.building-key").write_text("half a program")
    assert cache.find("key") is None
    program = cache.find_or_build("key", lambda path: path.write_text("whole") and None)
    assert program.read_text() == "whole"
    assert cache.find("key") == program


@pytest.mark.slow
@needs_compiler
def test_run_killed_while_its_circuit_is_compiled(
    own_data, tmp_path, start_biorrr, run_biorrr, monkeypatch
):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
    args = ("learn", "--data", own_data, "--epochs", 1, "--engine", "cpp")
    process = start_biorrr(*args, "--out", tmp_path / "out")
    deadline = time.monotonic() + 120
    while not any(tmp_path.glob("cache/circuits/.building-*.cpp")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not any(tmp_path.glob("cache/circuits/circuit-*"))
    code, _, err = run_biorrr("resume", tmp_path / "out")
    assert code == 0, err
    assert len([*tmp_path.glob("cache/circuits/circuit-*")]) == 1


BUILDER = """
import sys, time
from pathlib import Path
from biorrr.circuit.engines import cache
def build(path):
    with open(sys.argv[1], "a") as log: log.write("built\\n")
    time.sleep(1)
    path.write_text("program")
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
        [sys.executable, "-c", BUILDER, str(tmp_path / "log")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "program\n"


@needs_compiler
def test_a_killed_run_leaves_nothing_but_its_checkpoints(
    own_data, tmp_path, start_biorrr, monkeypatch
):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    left = tmp_path / "out/unfinished"
    # It would end by itself within hours.
    process = start_biorrr(
        *("learn", "--data", own_data, "--engine", "cpp", "--epochs", 10**8),
        *("--out", tmp_path / "out", "--checkpoint", 0.1),
    )
    deadline = time.monotonic() + 120
    while not any(left.glob("checkpoints/learn_from-*.npz")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert sorted(path.name for path in left.iterdir()) == ["checkpoints", "config.toml"]
    assert not any((tmp_path / "tmp").glob("biorrr*"))


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
    while (
        not any(tmp_path.glob("out/unfinished/checkpoints/learn_from-*.npz"))
        and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    for _ in range(2):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert any(tmp_path.glob("out/unfinished/checkpoints/learn_from-*.npz"))


@pytest.mark.parametrize(
    "closed",
    [
        "<&- >&- 2>&-",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("<&-", ">&-", "2>&-")),
    ],
)
@pytest.mark.slow
def test_closed_streams_are_no_obstacle(own_data, tmp_path, closed):
    """Nor does the next file that is opened take their place, and with it what is printed."""
    start = f'"{sys.executable}" -c "from biorrr.sims.start import main; main()"'
    done = subprocess.run(
        f"{start} learn --data own.npz --epochs 1 --engine numpy --out out {closed}; echo $? >"
        f" code\n{start} learn --data own.npz -k 9 --out refused {closed}; echo $? >> code",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "code").read_text() == "0\n2\n"
    assert ("written to" in done.stdout) == (">&-" not in closed.split())
    assert ("k: must not exceed" in done.stderr) == ("2>&-" not in closed)
    Run.load(tmp_path / "out/run.nc")
    assert "written to" not in "".join(
        path.read_text(errors="ignore") for path in (tmp_path / "out").iterdir()
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", [pytest.param("", marks=pytest.mark.slow), "1"])
def test_output_that_cannot_be_given_is_a_failure(unbuffered):
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-c", "from biorrr.sims.start import main; main()", "data"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    said = "biorrr: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_loses_no_results(own_data, tmp_path, unbuffered):
    command = [sys.executable, "-c", "from biorrr.sims.start import main; main()", "learn"]
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as gone:
        done = subprocess.run(
            [*command, "--data", own_data, *QUICK, "--out", tmp_path / "out"],
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert (done.returncode, done.stderr) == (1, "biorrr: standard output: Broken pipe\n")
    assert (tmp_path / "out/summary.json").exists()

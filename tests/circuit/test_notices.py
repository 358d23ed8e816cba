"""Notices while Brian2 is imported and the circuit is compiled: in the log, and shown by commands
on a terminal.
"""

import os
import pty
import subprocess
import sys

import pytest

SCRIPT = "from biorrr.circuit import Microcircuit; Microcircuit(2, engine='cpp').build(6, 4)"
LEARN = (
    "learn",
    "--data",
    '{name="synthetic", samples=60, m=6, n=4}',
    "--engine",
    "cpp",
    "--epochs",
    "1",
    "--ridge",
    "0",
)
FAMILY = ("family", *LEARN[1:], "--engine", "numpy", "--seeds", "2", "-s", "0")  # in processes
SAID = ["Importing Brian2...", "Compiling the circuit (about 2 s, once)..."]


def _run(tmp_path, *command, **streams):
    env = {**os.environ, "BIORRR_CACHE": str(tmp_path / "cache"), "MPLBACKEND": "agg"}
    return subprocess.run([sys.executable, *command], env=env, cwd=tmp_path, check=True, **streams)


def test_a_script_finds_them_in_the_log(tmp_path):
    logged = (
        "import logging; logging.basicConfig(level='INFO', format='%(name)s: %(message)s'); "
        + SCRIPT
    )
    done = _run(tmp_path, "-W", "ignore", "-c", logged, capture_output=True, text=True)
    assert [line for line in done.stderr.splitlines() if line.startswith("biorrr: ")] == [
        f"biorrr: {one}" for one in SAID
    ]


def test_a_script_that_asks_for_no_log_is_told_nothing(tmp_path):
    script = "from biorrr.circuit.engines.brian2_private import import_brian2; import_brian2()"
    assert _run(tmp_path, "-W", "ignore", "-c", script, capture_output=True, text=True).stderr == ""


@pytest.mark.parametrize(
    "command",
    [LEARN, pytest.param(FAMILY, marks=pytest.mark.slow)],
    ids=lambda one: one[0],
)
def test_a_command_shows_each_once_on_a_terminal(command, tmp_path):
    ours, theirs = pty.openpty()
    start = "import sys, os; os.cpu_count = lambda: 2; from biorrr.sims.start import main;"
    start += " sys.argv[0] = 'biorrr'; main()"
    _run(tmp_path, "-c", start, *command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    lines = [line for line in said.replace("\r", "").splitlines() if line.endswith("...")]
    assert lines == SAID[: 1 if "numpy" in command else 2]
    assert "\\x1b" not in said

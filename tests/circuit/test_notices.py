"""What is said while Brian2 is imported and the circuit is compiled: to a person at a terminal, and to nobody else."""

import os
import pty
import subprocess
import sys

SCRIPT = "from biorrr.circuit import Microcircuit; Microcircuit(2, engine='cpp').build(6, 4)"


def _stderr(tmp_path, terminal):
    ours, theirs = pty.openpty()
    env = {**os.environ, "BIORRR_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        stderr=theirs if terminal else subprocess.PIPE,
        env=env,
        check=True,
    )
    os.close(theirs)
    said = os.read(ours, 10_000).decode() if terminal else done.stderr.decode()
    os.close(ours)
    return said


def test_a_person_is_told(tmp_path):
    assert _stderr(tmp_path, terminal=True) == (
        "Importing Brian2...\r\x1b[KCompiling the circuit (about 2 s, once)...\r\x1b[K"
    )


def test_a_file_is_not(tmp_path):
    assert _stderr(tmp_path, terminal=False) == ""

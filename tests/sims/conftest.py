"""Fixtures shared by the tests of sims/."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def real_data():
    """Folder of the real data files; a test that needs them is skipped where there are none."""
    folder = os.environ.get("BIORRR_DATA")
    if not folder:
        pytest.skip("needs the real data files; set BIORRR_DATA to their folder")
    return Path(folder)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """An empty data folder in place of the user's cache, and no $BIORRR_DATA."""
    cache = tmp_path / "cache"
    monkeypatch.delenv("BIORRR_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: cache)
    return cache / "data"


@pytest.fixture
def own_data(tmp_path):
    """A small data file of one's own: X (120, 5), Y (120, 4)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    np.savez(tmp_path / "own.npz", X=X, Y=X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((120, 4)))
    return tmp_path / "own.npz"


@pytest.fixture
def start_biorrr():
    """Starts ``biorrr <arguments>`` as a process of its own; what still runs at the end of the test is killed."""
    started = []

    def start(*args, **options):
        command = [sys.executable, "-c", "from biorrr.sims.start import main; main()", *map(str, args)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, **(pipes | options)))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run_biorrr(start_biorrr):
    """Runs ``biorrr <arguments>`` as a process of its own to its end; its exit code, output and errors."""

    def run(*args, **options):
        process = start_biorrr(*args, **options)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    return run

"""What people install: the wheel and the sdist, in an empty environment, beside files of their
own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_SHIPPED = (
    ".git",
    ".venv",
    "build",
    "dist",
    "runs",
    "*.egg-info",
    ".*_cache",
    "__pycache__",
    ".hypothesis",
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """A wheel made from an sdist, and that sdist, built in a copy of the tree so that nothing is
    left behind in it.
    """
    pytest.importorskip("build", reason="needs `pip install build`")
    copy = tmp_path_factory.mktemp("tree") / "biorrr"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_SHIPPED))
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", copy / "out", copy],
        check=True,
        capture_output=True,
    )
    return {path.suffix: path for path in (copy / "out").iterdir()}


@pytest.fixture(scope="module")
def environment(tmp_path_factory, distributions):
    """A virtual environment with nothing in it but the wheel and what that brings along."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", distributions[".whl"]],
        check=True,
    )
    return folder / "bin"


@pytest.mark.parametrize("suffix", [".whl", ".gz"])
def test_learn_runs_from_another_folder(suffix, distributions, environment, tmp_path):
    install = [
        environment / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--force-reinstall",
        "--no-deps",
    ]
    subprocess.run([*install, distributions[suffix]], check=True)
    for room in ("models", "circuit", "analysis", "sims"):
        (tmp_path / f"{room}.py").write_text("raise RuntimeError('this is a file of the user')\n")
    done = subprocess.run(
        [environment / "biorrr", "learn", "--epochs", "2", "--out", "learned"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "learned" / "summary.json").read_text())
    assert summary["samples"] == 2 * 1797
    assert {path.name for path in (tmp_path / "learned").iterdir()} >= {
        "config.toml",
        "run.nc",
        "learning_curve.png",
    }


def test_engines_find_their_templates(environment, tmp_path):
    """The C++ engine reads files that only package_data brings along."""
    script = (
        "import numpy as np; from biorrr.circuit import Microcircuit; rng ="
        " np.random.default_rng(0)\nX, Y = rng.standard_normal((2, 50, 2))\nprint(Microcircuit(1,"
        " engine='cpp').run(X, Y, centre=True).ended)"
    )
    env = {**os.environ, "BIORRR_CACHE": str(tmp_path)}
    done = subprocess.run(
        [environment / "python", "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "done\n"

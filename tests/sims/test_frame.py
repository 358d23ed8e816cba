"""The frame: an experiment that is only a file in a folder is run, repeated, swept, resumed,
reported and explained.
"""

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from biorrr.errors import RunError
from biorrr.sims import main
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab import Findings, Quantity
from biorrr.sims.lab.workers import Processes

ROOT = Path(__file__).parents[2]
QUICK = (
    "--data",
    '{name="synthetic", samples=60, m=6, n=5, latents=2}',
    "--epochs",
    "2",
    "--engine",
    "numpy",
)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The experiment that CONTRIBUTING shows, as a file beside the others."""
    (text,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE
    )
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/power.py").write_text(text)
    monkeypatch.setattr(
        "biorrr.sims.experiments.__path__",
        [*sys.modules["biorrr.sims.experiments"].__path__, str(tmp_path / "experiments")],
    )
    monkeypatch.chdir(tmp_path)
    yield text
    sys.modules.pop("biorrr.sims.experiments.power", None)


def biorrr(capsys, *args):
    code = main.run([*map(str, args)])
    return code, *capsys.readouterr()


def test_a_new_experiment_is_short_and_passes_the_linter(example):
    assert len(example.splitlines()) <= 60
    ruff = [sys.executable, "-m", "ruff"]
    if subprocess.run([*ruff, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("needs ruff")
    for command in ("check", "format"):
        options = ["--config", ROOT / "pyproject.toml", *(["--check"] * (command == "format"))]
        subprocess.run([*ruff, command, *options, "experiments/power.py"], check=True)


def test_its_file_makes_it_a_command(example, capsys):
    assert "power" in experiment_names()
    assert "power  " in biorrr(capsys, "--help")[1]
    _, out, _ = biorrr(capsys, "power", "--help")
    assert example.splitlines()[0].strip('"') in " ".join(out.split())
    assert "--circuit" in out


def test_it_is_run_repeated_and_resumed(example, capsys):
    assert biorrr(capsys, "power", *QUICK, "--out", "one")[0] == 0
    code, out, err = biorrr(capsys, "power", *QUICK, "--seeds", 2, "--out", "two")
    assert (code, err) == (0, "")
    assert "written to" in out
    assert {path.name for path in Path("two").iterdir()} == {
        "config.toml",
        "inventory.json",
        "power.md",
        "power.png",
        "run.nc",
        "summary.json",
    }
    shutil.copytree("two", "cut")
    os.unlink("cut/summary.json")
    assert biorrr(capsys, "resume", "cut")[0] == 0
    numbers = [json.loads(Path(f"{folder}/summary.json").read_text()) for folder in ("two", "cut")]
    assert numbers[0] | {"seconds": 0} == numbers[1] | {"seconds": 0}


def test_it_is_swept_and_reported(example, capsys):
    Path("plan.toml").write_text(
        f'experiment = "power"\n[fixed]\ndata = {QUICK[1]}\nepochs = 1\nengine = "numpy"\n[grid]\nk'
        " = [1, 2]\n"
    )
    code, out, _ = biorrr(
        capsys, "sweep", "plan.toml", "--workers", 0, "--folders", "--out", "sweep"
    )
    assert code == 0
    assert f"lowest {find_experiment('power').measure} of a single point " in out
    first, _ = Path("sweep/runs").iterdir()
    assert biorrr(capsys, "report", first)[0] == 0
    assert "power of the output against samples seen" in (first / "report.html").read_text()


def test_every_experiment_declares_what_the_frame_shows():
    for name in experiment_names():
        experiment = find_experiment(name)
        assert experiment.name == name
        assert experiment.shows
        assert experiment.takes
        assert experiment.captions or name == "paper"
        assert experiment.not_swept or experiment.measure_of(experiment.settings())


# -- processes -------------------------------------------------------------------------------------


def shout(item, greeting):
    if item == "die":
        os._exit(3)
    if isinstance(item, Path):  # die at the first try only
        if not item.exists():
            item.touch()
            os._exit(3)
        return "done"
    if item == "fail":
        raise ValueError("in another process")
    if item == "fail with what cannot be sent":
        raise ValueError("in another process", lambda: None)
    return f"{greeting} {item.upper()}", os.getpid()


def submitted(*items):
    """What two processes find, by the number of the item."""
    found = dict(Processes(2)(shout, ("hello",), items))
    assert multiprocessing.active_children() == []
    return [found[number] for number in range(len(items))]


def test_work_side_by_side():
    words, processes = zip(*submitted("a", "b", "c"), strict=True)
    assert words == ("hello A", "hello B", "hello C")
    assert os.getpid() not in processes
    assert submitted("a") == [("hello A", os.getpid())]
    assert submitted() == []


@pytest.mark.parametrize(
    ("item", "error", "sentence"),
    [
        ("fail", ValueError, "in another process"),
        ("fail with what cannot be sent", RuntimeError, "ValueError: .*in another process"),
        ("die", RunError, "a process died each of 4 times; perhaps"),
    ],
)
def test_work_that_fails_is_its_error(item, error, sentence):
    (word, _), failure = submitted("a", item)
    assert word == "hello A"
    with pytest.raises(error, match=sentence):
        raise failure


def test_an_item_whose_process_died_is_given_to_another(tmp_path):
    found = submitted(tmp_path / "one", "die", tmp_path / "three", "a")
    assert (found[0], found[2]) == ("done", "done")
    assert found[3][0] == "hello A"
    assert isinstance(found[1], RunError)


def test_a_process_killed_while_it_has_nothing_to_do_costs_no_item():
    outcomes = Processes(2)(shout, ("hello",), ["a", "b", "c", "d"])
    found = dict([next(outcomes)])
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
    found |= dict(outcomes)
    assert {words for words, _ in found.values()} == {f"hello {one}" for one in "ABCD"}


def began(item):
    return time.monotonic()


def test_neighbours_do_not_begin_together():
    """They often share a circuit, and one would wait for the other's compiler."""
    times = dict(Processes(2)(began, (), range(40)))
    order = sorted(times, key=times.get)
    apart = [abs(one - other) for one, other in pairwise(order)]
    assert sum(distance <= 3 for distance in apart) < 10


def test_a_caption_has_the_numbers_of_its_run():
    found = [Quantity("excess", 0.0123, "%"), Quantity("k", 2), Quantity("samples", 1000)]
    captions = {"curve": "It ends at {excess}.", "filters": "{angle}"}
    findings = Findings(title="digits", quantities=found, captions=captions)
    assert findings.caption("curve") == ("It ends at 1.23 %. (digits; k = 2; samples = 1000.)\n")
    with pytest.raises(KeyError, match="angle"):
        findings.caption("filters")

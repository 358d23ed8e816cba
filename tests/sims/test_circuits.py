"""``--circuit``: a function of the user's own makes the circuit, in every command, and only where
the user names it.
"""

import json
import os
import re
import shutil

import pytest

from biorrr.circuit import Run
from biorrr.sims import main
from biorrr.sims.experiments import experiment_names

DATA = '{name="synthetic", samples=60, m=6, n=5, latents=2}'
QUICK = ("--data", DATA, "--engine", "numpy")
# What the module below writes down says whether it was imported, and what the function was called
# with.
OWN = """
import json, os, pathlib
from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates

LOG = pathlib.Path(__file__).with_suffix(".log")

def write(text):
    with LOG.open("a") as file:
        file.write(text + "\\n")

write("imported")

def with_more_interneurons(**arguments):
    write(json.dumps([os.getpid(), sorted(arguments), arguments["seed"]]))
    return Microcircuit(**arguments, interneurons=4)

def other(**arguments):
    return Microcircuit(**arguments)

def wild(**arguments):
    return Microcircuit(**arguments, rates=Rates(Rate(5.0), Rate(5.0), Rate(0.5)))

def fails(**arguments):
    raise RuntimeError("not today")

def nothing(**arguments):
    return None

def kind(**arguments):
    return Microcircuit
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A file of the user's in the folder one works in; named anew, so that nobody has imported
    it."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"own_{tmp_path.name}.py"
    path.write_text(OWN)
    return path


def log(own):
    path = own.with_suffix(".log")
    return (
        [json.loads(line) for line in path.read_text().splitlines() if line != "imported"]
        if path.exists()
        else None
    )


def biorrr(capsys, *args):
    code = main.run([*map(str, args)])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("form", ["file", "module"])
def test_it_makes_the_circuit(own, capsys, form):
    named = (
        f"{own.name}:with_more_interneurons"
        if form == "file"
        else f"{own.stem}:with_more_interneurons"
    )
    code, _, err = biorrr(
        capsys, "learn", *QUICK, "--epochs", 1, "--circuit", named, "--out", "run"
    )
    assert (code, err) == (0, "")
    # The circuit itself, and one that learns most trials and predicts the rest.
    assert log(own) == [[os.getpid(), ["engine", "k", "ridge", "s", "seed"], 0]] * 2
    assert Run.load("run/run.nc").Q.shape == (2, 4)


def test_in_the_processes_that_run_parts_side_by_side(own, capsys):
    args = (
        "--epochs",
        1,
        "--seeds",
        2,
        "--circuit",
        f"{own}:with_more_interneurons",
        "--out",
        "run",
    )
    assert biorrr(capsys, "learn", *QUICK, *args)[0] == 0
    *side_by_side, held_out = log(own)
    assert sorted(seed for *_, seed in side_by_side) == [0, 1]
    assert held_out[-1] == 0
    if os.cpu_count() > 1:
        assert os.getpid() not in [process for process, *_ in side_by_side]
    assert Run.load("run/run-1.nc").Q.shape == (2, 4)


def test_one_of_several_that_diverges_is_named(own, capsys):
    """Of many parts, unlike of one, an unfinished one is no result."""
    args = ("--epochs", 2, "--seeds", 2, "--circuit", f"{own}:wild", "--out", "run")
    code, _, err = biorrr(capsys, "learn", *QUICK, *args)
    assert code == 1
    assert re.match(r"biorrr: seed [01]: the circuit diverged at sample \d+", err)
    assert len(err.splitlines()) == 1
    assert not os.path.exists("run")


NEEDS_DATA = pytest.mark.skipif(
    not os.environ.get("BIORRR_DATA"), reason="needs the real data files; set BIORRR_DATA"
)
SMALL = {name: QUICK for name in experiment_names()} | {
    "communication": ("--ranks", 1, "--folds", 2),
}
# One is made of the rest, and two compare circuits of their own.
OWN_CIRCUITS = "interneurons", "theories"
for name in ("paper", *OWN_CIRCUITS):
    del SMALL[name]


@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param(
            name,
            marks=(NEEDS_DATA if "--data" not in SMALL[name] else ()),
        )
        for name in SMALL
    ],
)
def test_every_experiment_asks_it_for_its_circuits(own, capsys, experiment):
    """And says in one sentence that it failed, with nothing left behind but results that were
    finished before.
    """
    named = f"{own}:fails"
    code, _, err = biorrr(
        capsys, experiment, *SMALL[experiment], "--circuit", named, "--seeds", 1, "--out", "run"
    )
    assert (code, err) == (1, f"biorrr: circuit: {named} failed (RuntimeError: not today)\n")
    finished = list((own.parent / "run/unfinished/checkpoints").glob("*.nc"))
    assert bool(finished) == os.path.exists("run")
    assert experiment == "communication" or not finished


@pytest.mark.parametrize("experiment", OWN_CIRCUITS)
def test_an_experiment_with_circuits_of_its_own_takes_no_other(own, capsys, experiment):
    code, _, err = biorrr(capsys, experiment, "--circuit", f"{own}:fails", "--out", "run")
    assert (code, err) == (
        2,
        f"biorrr: No such option: --circuit. See biorrr {experiment} --help.\n",
    )
    assert log(own) is None
    assert not os.path.exists("run")


@pytest.mark.parametrize(
    ("named", "code", "sentence"),
    [
        ("nowhere.py:make", 2, "circuit: no such file: nowhere.py"),
        (
            "nowhere.at.all:make",
            1,
            (
                "circuit: nowhere.at.all cannot be imported (ModuleNotFoundError: No module named"
                " 'nowhere'); a module must be importable wherever the circuit runs, also by"
                " workers elsewhere"
            ),
        ),
        ("make", 2, "circuit: must be module:function or path/to/file.py:function (got 'make')"),
        ("{own}:", 2, "circuit: must be module:function or path/to/file.py:function (got "),
        ("{own}:bild", 2, "circuit: there is no function 'bild' in "),
        ("{own}:LOG", 2, "circuit: there is no function 'LOG' in "),
        ("{own}:nothing", 1, "must return a circuit, such as a Microcircuit (got NoneType)"),
        ("{own}:kind", 1, "must return a circuit, such as a Microcircuit (got Microcircuit)"),
        ("broken.py:make", 1, "circuit: broken.py cannot be imported (SyntaxError: "),
    ],
)
def test_what_is_no_circuit(own, capsys, named, code, sentence):
    (own.parent / "broken.py").write_text("def make(:")
    found, _, err = biorrr(
        capsys, "learn", *QUICK, "--circuit", named.format(own=own), "--out", "run"
    )
    assert found == code
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert not os.path.exists("run")


def test_a_config_names_it_too(own, capsys):
    (own.parent / "c.toml").write_text(
        f'circuit = "{own.name}:with_more_interneurons"\nepochs = 1\n'
    )
    assert biorrr(capsys, "learn", *QUICK, "--config", "c.toml", "--out", "run")[0] == 0
    assert len(log(own)) == 2


def test_resume_asks_for_it_again(own, capsys):
    """Nothing that a folder names is run by itself: not by resume, not by report, not by a sweep's
    status.
    """
    named = f"{own.name}:with_more_interneurons"
    assert (
        biorrr(capsys, "learn", *QUICK, "--epochs", 1, "--circuit", named, "--out", "run")[0] == 0
    )
    shutil.copytree("run", "cut")
    for name in ("run.nc", "summary.json"):
        os.unlink(f"cut/{name}")
    own.with_suffix(".log").unlink()
    assert biorrr(capsys, "resume", "cut") == (
        2,
        "",
        (
            f"biorrr: circuit: the run in cut has used {named}, which is run only if you name it:"
            f" add --circuit {named}\n"
        ),
    )
    code, _, err = biorrr(capsys, "resume", "cut", "--circuit", f"{own.name}:other")
    assert (code, err) == (
        2,
        (
            f"biorrr: circuit: the run in cut has used {named} (got {own.name}:other), which is run"
            f" only if you name it: add --circuit {named}\n"
        ),
    )
    assert biorrr(capsys, "report", "cut")[0] == 2
    assert log(own) is None
    assert biorrr(capsys, "resume", "cut", "--circuit", named)[0] == 0
    assert (Run.load("cut/run.nc").Q == Run.load("run/run.nc").Q).all()


def test_resume_refuses_one_where_none_was_used(own, capsys):
    assert biorrr(capsys, "learn", *QUICK, "--epochs", 1, "--out", "run")[0] == 0
    os.unlink("run/summary.json")
    code, _, err = biorrr(capsys, "resume", "run", "--circuit", f"{own}:other")
    assert (code, err) == (
        2,
        (
            f"biorrr: circuit: the run in run has used none of your own (got {own}:other); leave"
            " --circuit out\n"
        ),
    )
    assert log(own) is None


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_sweeps(own, capsys, workers):
    (own.parent / "plan.toml").write_text(
        f'[fixed]\ndata = {DATA}\nepochs = 1\nengine = "numpy"\n[grid]\nk = [1, 2]\n'
    )
    named = f"{own.name}:with_more_interneurons"
    args = ("sweep", "plan.toml", "--out", "out", "--workers", workers)
    code, out, _ = biorrr(capsys, *args, "--circuit", named)
    assert code == 0
    assert "2 points: 2 done" in out
    assert [arguments for _, arguments, _ in log(own)] == [
        ["engine", "k", "ridge", "s", "seed"]
    ] * 4
    own.with_suffix(".log").unlink()
    next(own.parent.glob("out/points/*.nc")).unlink()
    code, _, err = biorrr(capsys, "resume", "out")
    assert (code, err) == (
        2,
        (
            f"biorrr: circuit: the sweep in out has used {named}, which is run only if you name it:"
            f" add --circuit {named}\n"
        ),
    )
    assert log(own) is None
    if workers == 0:  # resume has workers of its own
        return
    assert biorrr(capsys, "resume", "out", "--circuit", named)[0] == 0
    assert len(log(own)) == 2


def test_a_sweep_over_circuits(own, capsys):
    """Each is a value of a setting; what fails is a failed point with its reason."""
    (own.parent / "plan.toml").write_text(
        f'[fixed]\ndata = {DATA}\nepochs = 1\nengine = "numpy"\n'
        f'[grid]\ncircuit = ["{own.name}:with_more_interneurons", "{own.name}:fails"]\n'
    )
    code, out, _ = biorrr(capsys, "sweep", "plan.toml", "--out", "out", "--workers", 0)
    assert code == 0
    assert "2 points: 1 done, 1 failed" in out
    assert f"failed 1 times: circuit: {own.name}:fails failed (RuntimeError: not today)" in out
    next(own.parent.glob("out/points/*.nc")).unlink()
    code, _, err = biorrr(
        capsys, "resume", "out", "--circuit", f"{own.name}:with_more_interneurons"
    )
    assert code == 2
    assert (
        "has used several; to run them, name the plan: biorrr sweep out/sweep.toml --out out" in err
    )

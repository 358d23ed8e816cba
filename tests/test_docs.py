"""What stands in the docs is so: examples run, commands exist with their options, the pages build
without a warning.
"""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

from biorrr import analysis, circuit, models
from biorrr.circuit import Microcircuit
from biorrr.sims.data import CATALOGUE
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.main import commands, run

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Commands are run as they stand, with the settings they leave open made small.
SMALL = {
    "learn": {
        "data": '{name="synthetic", samples=60, m=6, n=4}',
        "epochs": 1,
        "ridge": 0,
        "engine": "numpy",
    },
    "plateau": {
        "data": '{name="synthetic", samples=60, m=6, n=4}',
        "epochs": 1,
        "ridge": 0,
        "engine": "numpy",
    },
    "wiring": {
        "data": '{name="synthetic", samples=60, m=6, n=4}',
        "epochs": 1,
        "ridge": 0,
        "engine": "numpy",
    },
    "symmetry": {
        "data": '{name="synthetic", samples=60, m=6, n=4}',
        "etas": 0.3,
        "seeds": 1,
        "engine": "numpy",
    },
    "data": {},
    "report": {},
}


def execute(line):
    program, command, *options = shlex.split(line)
    assert program == "biorrr"
    small = (
        [] if "--config" in options else [f"{key}={value}" for key, value in SMALL[command].items()]
    )
    # An option that is given wins over --set.
    assert (
        run([command, *options, *(word for setting in small for word in ("--set", setting))]) == 0
    ), line


def pages():
    """Pages with examples; those that run commands or long simulations are slow."""
    quick = ("circuit", "script")
    for page in PAGES:
        if BLOCK.search(page.read_text()):
            yield pytest.param(
                page, id=page.stem, marks=() if page.stem in quick else pytest.mark.slow
            )


@pytest.mark.filterwarnings("ignore:.*mean is large")
@pytest.mark.parametrize("page", list(pages()))
def test_examples(page, tmp_path, monkeypatch):
    """Blocks of a page are run one after another in one folder: what one writes, the next may
    read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    rng = np.random.default_rng(0)
    # What pages take for granted.
    X, Y = rng.standard_normal((600, 3)), rng.standard_normal((600, 2))
    namespace = {"circuit": Microcircuit(k=1), "X": X, "Y": Y, "other_X": X, "other_Y": -Y}
    for language, text in BLOCK.findall(page.read_text()):
        if language == "console":
            for line in text.splitlines():
                execute(line)
        elif "to_nwb" not in text or importlib.util.find_spec("pynwb"):
            try:
                exec(compile(text, page.name, "exec"), namespace)
            except Exception:
                pytest.fail(f"{page.name}:\n{text}\n{traceback.format_exc(limit=-3)}")


def test_commands_exist_with_their_options(capsys):
    """Those named in running text and tables, in the README too."""
    named = {
        line
        for page in [*PAGES, ROOT / "README.md"]
        for line in re.findall(r"`biorrr ([a-z][^`]*)`", page.read_text())
    }
    assert named
    for line in named:
        command, *words = line.split()
        assert command in commands()
        assert run([command, "--help"]) == 0
        offered = capsys.readouterr().out
        assert [word for word in words if word.startswith("-") and word not in offered] == []


def declared_rows(page):
    return set(re.findall(r"^(\| `biorrr \w+`.*)$", (ROOT / page).read_text(), re.MULTILINE))


def test_the_page_of_commands_shows_every_experiment_in_its_own_words():
    rows = {row.split("`")[1].split()[1]: row for row in declared_rows("docs/experiments.md")}
    assert sorted(rows) == sorted(commands())
    for name in experiment_names():
        one = find_experiment(name)
        begin = (
            f"| `biorrr {name}` | {one.shows.replace('docs/', '')} | {one.takes} | {one.paper} |"
        )
        assert rows[name].startswith(begin.replace("|  |", "| |")), name


def test_the_readme_shows_five_commands_in_their_own_words():
    rows = declared_rows("README.md")
    assert len(rows) == 5
    assert rows <= {
        f"| `biorrr {name}` | {find_experiment(name).shows} |" for name in experiment_names()
    }


def test_a_variant_takes_less_than_30_lines():
    """The tutorial's plateau, imports and all."""
    import json

    cells = json.loads((ROOT / "docs" / "variant.ipynb").read_text())["cells"]
    (model,) = (
        "".join(cell["source"]) for cell in cells if "(Departure)" in "".join(cell["source"])
    )
    assert len(model.splitlines()) < 30


@pytest.mark.parametrize(
    "tutorials", ["as they stand", pytest.param("executed", marks=pytest.mark.slow)]
)
def test_pages_build_without_a_warning(tutorials, tmp_path):
    """Pages made from the code are made, links lead somewhere, and the tutorials run to their
    end."""
    for needed in ("mkdocs", "mkdocs_jupyter", "mkdocstrings_handlers", "material", "ipykernel"):
        pytest.importorskip(needed, reason="needs the extra docs")
    build = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    execute = "true" if tutorials == "executed" else "false"
    settings = {"NO_MKDOCS_2_WARNING": "1", "BIORRR_EXECUTE_NOTEBOOKS": execute}
    done = subprocess.run(
        build, cwd=ROOT, capture_output=True, text=True, env=os.environ | settings
    )
    assert done.returncode == 0, done.stderr
    assert (
        'src="https:' not in (tmp_path / "site" / "index.html").read_text()
    )  # pages open from disk, without network
    tutorial = (tmp_path / "site" / "communication.html").read_text()
    here = all(file.found() for file in CATALOGUE["v1v2"].origin.files)
    assert ("<img" in tutorial) == (
        tutorials == "executed" and here
    )  # its figure comes from execution alone
    own_file = (tmp_path / "site" / "recording.html").read_text()  # it makes its data itself
    assert own_file.count("<img") == (3 if tutorials == "executed" else 0)
    assert ("needs the data set <code>v1v2</code>" in tutorial) == (not here)
    page = (tmp_path / "site" / "commands.html").read_text()
    assert all(f"biorrr {name}" in page for name in commands())
    for room, file in {"circuit": circuit, "models": models, "analysis": analysis}.items():
        page = (tmp_path / "site" / "reference" / f"{room}.html").read_text()
        assert [name for name in file.__all__ if f'.{name}"' not in page] == []
        assert ":class:" not in page
    gallery = (tmp_path / "site" / "examples" / "index.html").read_text()
    assert gallery.count("<img") == (len(EXAMPLES) if tutorials == "executed" else 0)

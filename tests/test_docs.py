"""What stands in the docs is so: examples run, commands exist with their options, the pages build
without a warning.
"""

import ast
import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import traceback
from functools import cached_property
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


def test_a_variant_takes_less_than_30_statements():
    """The tutorial's plateau, imports and all."""
    cells = json.loads((ROOT / "docs" / "variant.ipynb").read_text())["cells"]
    (model,) = (
        "".join(cell["source"]) for cell in cells if "(Departure)" in "".join(cell["source"])
    )
    assert sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(model))) < 30


def test_own_parts_on_the_page_are_those_that_are_tested():
    """Each block of docs/parts.md that comes from ``own_parts.py``, below its imports."""
    page = (ROOT / "docs" / "parts.md").read_text()
    source = (ROOT / "tests" / "own_parts" / "own_parts.py").read_text()
    examples = re.findall(r"# \[\w+\]\n(.*?)\n+(?=# \[)", source, re.DOTALL)
    assert len(examples) == 6
    assert [code for code in examples if code.strip() not in page] == []


def members(found):
    """Names of what a class of the package offers, its own and inherited."""
    return {
        name
        for name in dir(found)
        if not name.startswith("_")
        and any(
            name in vars(base) and base.__module__.startswith("biorrr") for base in found.__mro__
        )
        and (
            isinstance(one := getattr(found, name), property | cached_property)
            or (inspect.isroutine(one) and one.__module__.startswith("biorrr"))
        )
    }


def test_the_reference_shows_what_objects_offer(site):
    """All methods and properties, inherited ones too, that have a docstring."""
    for room, package in {"circuit": circuit, "models": models, "analysis": analysis}.items():
        page = (site / "reference" / f"{room}.html").read_text()
        for name in package.__all__:
            found = getattr(package, name)
            if inspect.isclass(found) and found.__module__.startswith("biorrr"):
                missing = [one for one in members(found) if f'.{name}.{one}"' not in page]
                assert missing == [], name
    page = (site / "reference" / "circuit.html").read_text()
    assert page.index('.Microcircuit"') < page.index('.Checkpoint"')


def test_parameters_have_their_own_types_and_defaults(site):
    """In the reference: rho is documented with feedback and has another default."""
    page = (site / "reference" / "circuit.html").read_text()
    text = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "Annotated" not in text
    assert "partial (" not in text
    (rho,) = re.findall(r" rho float Gain c .*? 0 is the paper's circuit\. (\S+)", text)
    assert rho == "1.0"


def build_pages(site, execute):
    """Build the pages into a folder; every warning is an error."""
    for needed in ("mkdocs", "mkdocs_jupyter", "mkdocstrings_handlers", "material", "ipykernel"):
        pytest.importorskip(needed, reason="needs the extra docs")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    settings = {"NO_MKDOCS_2_WARNING": "1", "BIORRR_EXECUTE_NOTEBOOKS": execute}
    done = subprocess.run(
        build, cwd=ROOT, capture_output=True, text=True, env=os.environ | settings
    )
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages, with tutorials and gallery as they stand."""
    return build_pages(tmp_path_factory.mktemp("pages") / "site", "false")


@pytest.mark.parametrize(
    "tutorials", ["as they stand", pytest.param("executed", marks=pytest.mark.slow)]
)
def test_pages_build_without_a_warning(tutorials, tmp_path, request):
    """Pages made from the code are made, links lead somewhere, and the tutorials run to their
    end.
    """
    if tutorials == "executed":
        site = build_pages(tmp_path / "site", "true")
    else:
        site = request.getfixturevalue("site")
    assert (
        'src="https:' not in (site / "index.html").read_text()
    )  # pages open from disk, without network
    tutorial = (site / "communication.html").read_text()
    here = all(file.found() for file in CATALOGUE["v1v2"].origin.files)
    assert ("<img" in tutorial) == (
        tutorials == "executed" and here
    )  # its figure comes from execution alone
    own_file = (site / "recording.html").read_text()  # it makes its data itself
    assert own_file.count("<img") == (3 if tutorials == "executed" else 0)
    assert ("needs the data set <code>v1v2</code>" in tutorial) == (not here)
    page = (site / "commands.html").read_text()
    assert all(f"biorrr {name}" in page for name in commands())
    for room, file in {"circuit": circuit, "models": models, "analysis": analysis}.items():
        page = (site / "reference" / f"{room}.html").read_text()
        assert [name for name in file.__all__ if f'.{name}"' not in page] == []
        assert ":class:" not in page
    gallery = (site / "examples" / "index.html").read_text()
    assert gallery.count("<img") == (len(EXAMPLES) if tutorials == "executed" else 0)

"""Scripts of the gallery: all are listed, short, explained, and run to a figure that can be
printed."""

import importlib.util
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
CHECK = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
from figure_layout import flaws
assert flaws(plt.gcf()) == [], flaws(plt.gcf())
"""
QUICK = (
    "run_a_circuit",
    "plateau_potentials",
    "r_finds_q",
    "learned_and_exact_subspace",
    "wiring_layout",
)


def load_gallery():
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module
    spec.loader.exec_module(module)
    return module


GALLERY = load_gallery()


def test_every_script_is_listed_once():
    listed = [example.name for example in GALLERY.EXAMPLES]
    assert sorted(listed) == sorted(path.stem for path in (DOCS / "examples").glob("*.py"))


@pytest.mark.parametrize("example", GALLERY.EXAMPLES, ids=lambda example: example.name)
def test_a_script_is_short_and_explained(example):
    assert len(example.code.splitlines()) <= 60
    assert example.title
    assert example.explanation
    assert example.page(pictured=True).count(example.code) == 1


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
        for one in GALLERY.EXAMPLES
    ],
)
def test_a_script_draws_its_figure(example, monkeypatch):
    monkeypatch.setattr(GALLERY, "_RUNNER", GALLERY._RUNNER + CHECK)
    needed = {"export_to_nwb": "pynapple", "recording_in_nwb": "pynwb"}
    if example.name in needed:
        pytest.importorskip(needed[example.name])
    assert example.draw().startswith(b"\x89PNG")

"""Examples in docstrings and in the README do what they say."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("models", "circuit", "analysis", "sims")


def modules_with_examples():
    files = [
        path
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if ">>> " in path.read_text()
    ]
    return ["biorrr." + ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]


@pytest.mark.parametrize("name", modules_with_examples())
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


def test_readme(tmp_path, monkeypatch, capsys):
    """Its pieces are run one after another, as a newcomer would paste them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {}
    for script in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        exec(compile(script, "README.md", "exec"), names)
    above = float(re.search(r"([\d.]+) % above the optimum\n", capsys.readouterr().out)[1])
    assert above < 0.1
    assert (tmp_path / "digits.nc").exists()

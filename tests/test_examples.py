"""Examples in docstrings and in the README do what they say."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from figure_layout import flaws

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
    """Each script is run alone in an empty folder, as a newcomer would paste it, and leaves
    something to look at.
    """
    monkeypatch.setenv("MPLBACKEND", "agg")
    scripts = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    printed = []
    for number, script in enumerate(scripts):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        exec(compile(script, "README.md", "exec"), {})
        assert [flaw for one in plt.get_fignums() for flaw in flaws(plt.figure(one))] == []
        plt.close("all")
        assert [*folder.glob("*.png"), *folder.glob("*.html")] != [], script
        printed.append(capsys.readouterr().out)
    assert float(re.search(r"excess +([\d.]+) %", printed[0])[1]) < 0.1
    assert (tmp_path / "0" / "digits.nc").exists()

"""The experiments: each file or package here is one, and a command of the same name."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biorrr.sims.lab.lab import Experiment


def experiment_files() -> dict[str, Path]:
    """Return the files of all experiments by their names; nothing is imported."""
    files = [path for folder in __path__ for path in Path(folder).glob("[a-z]*.py")]
    packages = [path for folder in __path__ for path in Path(folder).glob("[a-z]*/__init__.py")]
    named = {path.stem: path for path in files} | {path.parent.name: path for path in packages}
    return dict(sorted(named.items()))


def experiment_names() -> list[str]:
    """Return the names of all experiments."""
    return [*experiment_files()]


def summary_of(name: str) -> str:
    """Return what an experiment does: the first line of its file, which takes no time to read."""
    with experiment_files()[name].open(encoding="utf-8") as file:
        return file.readline().strip('" \n')


def find_experiment(name: str) -> Experiment:
    """Import the experiment of this name, one of :func:`experiment_names`."""
    module = importlib.import_module(f"{__name__}.{name}")
    return getattr(module, name)

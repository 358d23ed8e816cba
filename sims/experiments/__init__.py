"""The experiments: each file here is one, and a command of the same name."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any


def experiment_files() -> dict[str, Path]:
    """Files of all experiments by their names; nothing is imported."""
    return {path.stem: path for folder in __path__ for path in sorted(Path(folder).glob("[a-z]*.py"))}


def experiment_names() -> list[str]:
    """Names of all experiments."""
    return [*experiment_files()]


def summary_of(name: str) -> str:
    """What an experiment does: the first line of its file, which takes no time to read."""
    with experiment_files()[name].open(encoding="utf-8") as file:
        return file.readline().strip('" \n')


def find_experiment(name: str) -> Any:
    """The experiment of this name, one of :func:`experiment_names`."""
    return importlib.import_module(f"{__name__}.{name}").EXPERIMENT

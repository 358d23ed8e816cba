"""Contents of data in words, and a command to run on them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import numpy as np

from biorrr.sims.data.array_files import holds_recording
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.values import Data, FileData


def describe(data: Data, trials: str | None = None) -> str:
    """Return sizes and ranges of X and Y, what to note and a command; of a recording, its areas.

    ``trials`` is the table of trials to look at, where a recording has several.
    """
    if isinstance(data, FileData) and holds_recording(data):
        from biorrr.sims.recordings.contents import describe as describe_recording

        return describe_recording(data.files[0], trials)
    loaded = data.load()
    x_word, y_word = loaded.views
    return aligned(
        str(data),
        {
            "X": _size(loaded.X, x_word),
            "Y": _size(loaded.Y, y_word),
            **({"trials": str(len(np.unique(loaded.trials)))} if loaded.groups is not None else {}),
            "to note": "; ".join([*loaded.notes, *_notes(loaded)]) or "nothing",
            "run": shlex.join(["biorrr", "learn", *_options(data), *_rank(loaded)]),
        },
    )


def aligned(title: str, lines: Mapping[str, str]) -> str:
    """Return lines below a title, each with its name in a column of its own."""
    width = max(map(len, lines))
    return "\n".join([title, *(f"  {name:{width}}  {text}" for name, text in lines.items())])


def _size(view: np.ndarray, columns: str) -> str:
    samples, count = view.shape
    return f"{samples} samples x {count} {columns}, from {view.min():.3g} to {view.max():.3g}"


def _notes(data: Dataset) -> list[str]:
    """Return what may be wrong with samples that can be learned."""
    notes = []
    for name, view in (("X", data.X), ("Y", data.Y)):
        constant = int((view.max(axis=0) == view.min(axis=0)).sum())
        if constant:
            notes.append(f"{constant} of {view.shape[1]} columns of {name} constant")
    few = [name for name, view in (("X", data.X), ("Y", data.Y)) if len(view) < view.shape[1]]
    if few:
        notes.append(f"fewer samples than columns of {' and '.join(few)}")
    return notes


def _options(data: Data) -> list[str]:
    """Return the options of a command that name the data."""
    plain = data.plain()
    if isinstance(plain, str):
        return ["--data", plain]
    named = {key: value for key, value in plain.items() if key != "file"}
    usual = {key: getattr(type(data), key) for key in named}
    given = [(f"--{key}", value) for key, value in named.items() if value != usual[key]]
    return ["--data", plain["file"], *(text for pair in given for text in pair)]


def _rank(data: Dataset) -> list[str]:
    """Return the option for the largest rank that the data allow, where that is below the usual."""
    from biorrr.sims.lab.training import TrainingSettings

    largest = min(data.X.shape[1], data.Y.shape[1])
    return [] if largest >= TrainingSettings.k else ["-k", str(largest)]

"""The figures in a run folder, put into the page itself."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.reports.files import ReportError, opened_inside

# Of the commands that are no experiments.
OTHERS = {
    "bench": "time per sample of each contestant",
    "sweep": "the measure against the settings that vary, with the best point marked",
}
KINDS = {".png": ("image/png", b"\x89PNG\r\n\x1a\n"), ".svg": ("image/svg+xml", None)}


def shown_by(experiments: Iterable[str]) -> dict[str, str]:
    """What each figure shows, in words for those who do not see it, by the name of its file."""
    return OTHERS | {name: words for one in experiments for name, words in find_experiment(one).figures.items()}


def gather_figures(folder: Path, room: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The figures in ``folder`` as images that stand in the page, and the names of those that do not.

    An svg is shown as an image too: what scripts it may hold do not run there.

    Parameters
    ----------
    folder
        The run folder.
    room
        Bytes that the figures may take; those that do not fit, those no page can show, and links are left out.
    """
    words = shown_by(experiment_names())
    shown, left_out = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".pdf":
            left_out.append(path.name)
        if path.suffix not in KINDS:
            continue
        kind, beginning = KINDS[path.suffix]
        try:
            with opened_inside(path, folder) as file:
                content = file.read(max(room, 0))  # and no more: a larger one does not fit anyway
        except (OSError, ReportError):
            left_out.append(path.name)
            continue
        if beginning is not None and not content.startswith(beginning):
            left_out.append(path.name)
            continue
        uri = f"data:{kind};base64,{base64.b64encode(content).decode()}"
        if len(uri) > room:
            left_out.append(path.name)
            continue
        room -= len(uri)
        stem = path.stem.split("-")[0]
        shown.append({"name": path.name, "uri": uri, "alt": words.get(stem, f"figure {path.stem}")})
    return shown, left_out

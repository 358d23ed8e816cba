"""The figures in a run folder, put into the page itself."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from biorrr.sims.experiment import caption_of
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.page.files import ReportError, opened_inside

# Of the commands that are no experiments.
OTHERS = {
    "bench": "Time that one sample takes, for the simulated circuit and for the same equations as a plain loop in "
    "other languages, at several sizes: the shorter the bar, the faster. Right, where it was measured: time per "
    "synapse as circuits grow; the dashed line is what reading and writing each weight once costs.",
    "sweep": "The number that the sweep is judged by, against the settings that vary: small grey points are single "
    "runs, large ones (or cells) their mean over seeds, and the star is the lowest mean.",
}
# Figures that a chart of the page shows too, to be opened if they are wanted.
CHARTED = {"learning_curve", "plateau", "filters", "excess", "sweep", "symmetry", "communication", "compare", "images"}
KINDS = {".png": ("image/png", b"\x89PNG\r\n\x1a\n"), ".svg": ("image/svg+xml", None)}


def gather_figures(folder: Path, room: int, experiment: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The figures in ``folder`` as images that stand in the page, and the names of those that do not.

    An svg is shown as an image too: what scripts it may hold do not run there.

    Parameters
    ----------
    folder
        The run folder.
    room
        Bytes that the figures may take; those that do not fit, those no page can show, and links are left out.
    experiment
        What the folder is of; its captions are the figures'.
    """
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
        stem = path.stem.partition("-")[0]
        known = experiment in experiment_names()
        caption = caption_of(find_experiment(experiment), path.stem) if known else OTHERS.get(stem, "")
        caption = caption or f"Figure {path.stem}."
        shown.append({"name": path.name, "uri": uri, "caption": caption, "charted": stem in CHARTED})
    return shown, left_out

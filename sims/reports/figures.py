"""The figures in a run folder, put into the page itself."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

# What each figure shows, to those who do not see it.
SHOWN = {
    "learning_curve": "objective against samples seen, with the optimum dashed",
    "plateau": "plateau, distal current, inhibition and output of each neuron, early and late in learning",
    "filters": "learned filters beside the exact ones",
    "eigenvalues": "eigenvalues of QQ' beside the exact ones",
    "excess": "excess over the optimum against samples seen, all seeds",
    "audit": "inhibition and plateau against what theory expects, and their correlation through learning",
    "recording": "plateaus as a recording of the chosen kind would show them",
    "wiring": "the circuit, with synapses as wide as they are strong",
    "symmetry": "distance between Q' and R against samples, with the theory dashed",
    "compare": "objective of every learner against steps and against CPU time, a column a rank",
    "constraint": "deviation from the whitening constraint against steps",
    "images": "objective of circuit, algorithm and backprop against samples, a panel a data set",
    "communication": "held-out R2 against rank, circuit and exact solution",
    "robustness": "excess against the size of each departure from the paper's circuit",
    "bench": "time per sample of each contestant",
    "sweep": "the measure against the settings that vary, with the best point marked",
}
KINDS = {".png": ("image/png", b"\x89PNG\r\n\x1a\n"), ".svg": ("image/svg+xml", None)}


def gather_figures(folder: Path, room: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The figures in ``folder`` as images that stand in the page, and the names of those that do not.

    An svg is shown as an image too: what scripts it may hold do not run there.

    Parameters
    ----------
    folder
        The run folder.
    room
        Bytes that the figures may take; those that do not fit, and those no page can show, are left out.
    """
    shown, left_out = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".pdf":
            left_out.append(path.name)
        if path.suffix not in KINDS or not path.is_file():
            continue
        kind, beginning = KINDS[path.suffix]
        content = path.read_bytes()
        if beginning is not None and not content.startswith(beginning):
            left_out.append(path.name)
            continue
        uri = f"data:{kind};base64,{base64.b64encode(content).decode()}"
        if len(uri) > room:
            left_out.append(path.name)
            continue
        room -= len(uri)
        stem = path.stem.split("-")[0]
        shown.append({"name": path.name, "uri": uri, "alt": SHOWN.get(stem, f"figure {path.stem}")})
    return shown, left_out

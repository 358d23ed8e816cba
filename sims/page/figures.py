"""The figures in a run folder, put into the page itself."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biorrr.sims.lab.files import FolderError, open_inside
from biorrr.sims.lab.folder.inventory import Entry

KINDS = {".png": ("image/png", b"\x89PNG\r\n\x1a\n"), ".svg": ("image/svg+xml", None)}


def gather_figures(folder: Path, room: int, entries: Sequence[Entry]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the figures in ``folder`` as images that stand in the page, and the names of those that do not.

    An svg is shown as an image too: what scripts it may hold do not run there.

    Parameters
    ----------
    folder
        The run folder.
    room
        Bytes that the figures may take; those that do not fit, those that no page can show, and links are left out.
    entries
        Figures that the inventory of the folder lists.
    """
    shown, left_out = [], []
    for entry in entries:
        uri = _uri(folder, entry.file, room)
        if uri is None:
            left_out.append(entry.file)
            continue
        room -= len(uri)
        caption = entry.caption or f"Figure {Path(entry.file).stem}."
        shown.append({"name": entry.file, "uri": uri, "caption": caption})
    return shown, left_out


def _uri(folder: Path, name: str, room: int) -> str | None:
    """Return a figure as text for the page; None if it is no image, a link, or larger than ``room``."""
    kind, beginning = KINDS.get(Path(name).suffix, (None, None))
    if kind is None:
        return None
    try:
        with open_inside(folder, name) as file:
            content = file.read(max(room, 0))  # and no more: a larger one does not fit anyway
    except (OSError, FolderError):
        return None
    uri = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    wrong = beginning is not None and not content.startswith(beginning)
    return None if wrong or len(uri) > room else uri

"""The page itself: markup, style and figures in one file without scripts, which asks nothing of the
network.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biorrr.sims.lab.run_folder import FolderError, open_inside
from biorrr.sims.page.run import gather_run
from biorrr.sims.page.sweep import gather_sweep, is_sweep

ASSETS = Path(__file__).parent / "assets"
MOST_BYTES = 8_000_000  # of all figures on a page
MOST_CAPTION = 10_000  # bytes
KINDS = {".png": ("image/png", b"\x89PNG\r\n\x1a\n"), ".svg": ("image/svg+xml", None)}


def page(folders: list[Path]) -> str:
    """Return the page of the runs and sweeps in ``folders``; only these are read."""
    import jinja2

    environment = jinja2.Environment(autoescape=True)
    environment.filters["shown"] = shown
    template = environment.from_string((ASSETS / "report.html").read_text(encoding="utf-8"))
    try:
        parts = [_gather(folder, MOST_BYTES // len(folders)) for folder in folders]
        return template.render(
            parts=parts, style=(ASSETS / "report.css").read_text(encoding="utf-8")
        )
    except (FolderError, OSError):
        raise
    except Exception as error:  # what others have put into a file can be wrong in any way
        names = ", ".join(map(str, folders))
        raise FolderError(
            f"{names}: must hold what an experiment leaves (got something else:"
            f" {type(error).__name__}: {error}); run it again"
        ) from error


def _gather(folder: Path, room: int) -> dict[str, Any]:
    part = gather_sweep(folder) if is_sweep(folder) else gather_run(folder)
    figures, left_out = gather_figures(folder, room, part["figures"])
    return part | {"figures": figures, "left_out": left_out}


def shown(value: Any) -> str:
    """Return a value of a setting or a summary as text: few digits, and the home folder as ~."""
    if isinstance(value, Mapping):
        return ", ".join(f"{shown(name)} = {shown(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, float):
        return f"{value:.5g}"
    return "" if value is None else str(value).replace(f"{Path.home()}/", "~/")


def gather_figures(
    folder: Path, room: int, names: Sequence[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the figures in ``folder`` as images that stand in the page, and the names of those
    that do not.

    An svg is shown as an image too: what scripts it may hold do not run there.

    Parameters
    ----------
    folder
        The run folder.
    room
        Bytes that the figures may take; those that do not fit, those that no page can show, and
        links are left out.
    names
        Figures that the inventory of the folder lists.
    """
    shown, left_out = [], []
    for name in names:
        uri = _uri(folder, name, room)
        if uri is None:
            left_out.append(name)
            continue
        room -= len(uri)
        shown.append({"name": name, "uri": uri, "caption": caption_of(folder, name)})
    return shown, left_out


def caption_of(folder: Path, figure: str) -> str:
    """Return the caption that lies beside a figure in ``folder``."""
    stem = Path(figure).stem
    try:
        with open_inside(folder, f"{stem}.md") as file:
            return file.read(MOST_CAPTION).decode("utf-8", errors="replace").strip()
    except (OSError, FolderError):
        return f"Figure {stem}."


def _uri(folder: Path, name: str, room: int) -> str | None:
    """Return a figure as text for the page; None if it is no image, a link, or larger than
    ``room``.
    """
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

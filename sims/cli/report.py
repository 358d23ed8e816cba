"""``biorrr report``: one self-contained HTML page of runs and sweeps, one or several side by side."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from biorrr.sims.lab.files import FolderError, whole_file

# All that gathers takes long to import: it is imported where it is used, so that --help need not wait.
MARGIN = 200_000  # bytes for markup, style and tables


def command(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="folders of runs or sweeps")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="file to write", metavar="FILE", show_default="report.html in the first DIR"),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Write a report page of runs and sweeps, to look at in a browser: one file that needs no network.

    Of a circuit it shows the wiring as it learns; of a sweep the table, a map of any two settings and the learning
    curves of chosen points; of any experiment its curves, numbers, claims and figures. Only these folders are read,
    and no link in them is followed.
    """
    from biorrr.sims.page.document import MOST_BYTES, charting_library, page
    from biorrr.sims.page.figures import gather_figures
    from biorrr.sims.page.run import gather_run
    from biorrr.sims.page.sweep import gather_sweep, is_sweep

    path = out or folders[0] / "report.html"
    # A link in a folder that was sent is replaced, and where it leads to is not looked at.
    if (out or not path.is_symlink()) and (path.is_dir() or (out and not path.parent.is_dir())):
        raise FolderError(f"out: must be a file, in a folder that exists (got {path})")
    library = charting_library()
    parts = [gather_sweep(folder) if is_sweep(folder) else gather_run(folder) for folder in folders]
    for folder, part in zip(folders, parts, strict=True):
        part["charts"]["base"] = _base(folder, path.parent)
    room = MOST_BYTES - MARGIN - len(library.encode()) - len(json.dumps([part["charts"] for part in parts]))
    figures = [
        gather_figures(folder, room // len(folders), part.pop("figures"))
        for folder, part in zip(folders, parts, strict=True)
    ]
    with whole_file(path) as aside:
        aside.unlink(missing_ok=True)  # in a folder that was sent, a link to any file could wait under this name
        with aside.open("x", encoding="utf-8", errors="replace") as file:
            file.write(page(parts, library, figures))
    print(f"{_shown(path)}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser")


def _base(folder: Path, above: Path) -> str | None:
    """Return the path of ``folder`` from that of the page; None if not below it, to reveal nothing of folders above."""
    folder, above = folder.resolve(), above.resolve()
    return folder.relative_to(above).as_posix() if folder.is_relative_to(above) else None


def _shown(path: Path) -> str:
    """Return ``path`` as any terminal can print it, in whichever encoding its name is."""
    return os.fsencode(path).decode("utf-8", errors="replace")

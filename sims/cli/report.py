"""``biorrr report``: one self-contained HTML page of runs and sweeps, one or several side by
side.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from biorrr.files import whole_file
from biorrr.sims.lab.run_folder import FolderError


def command(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="folders of runs or sweeps")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="file to write  [default: report.html in the first DIR]",
            metavar="FILE",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Write a report page of runs and sweeps, to look at in a browser: one file that needs no
    network.

    It shows figures, claims, numbers and settings of a run, and figure and points of a sweep.
    Several folders stand side by side. Only these folders are read, and no link in them is
    followed.
    """
    from biorrr.sims.page.document import page  # takes long to import, and --help need not wait

    path = out or folders[0] / "report.html"
    # A link in a folder that was sent is replaced, and where it leads to is not looked at.
    if (out or not path.is_symlink()) and (path.is_dir() or (out and not path.parent.is_dir())):
        raise FolderError(f"out: must be a file, in a folder that exists (got {path})")
    text = page(folders)
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")
    shown = os.fsencode(path).decode("utf-8", errors="replace")  # as any terminal can print it
    print(f"{shown}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser")

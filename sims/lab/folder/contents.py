"""The contents of a run folder: the run that is there, the one that is not finished, and how one
replaces the other.

The files of a finished run lie in the folder itself. All that belongs to a run that is not finished
lies in a folder ``unfinished`` in it: its config, its checkpoints, and its results until all of
them are written.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from biorrr.sims.lab.files import inside, read_json
from biorrr.sims.lab.folder.inventory import INVENTORY, Inventory

CONFIG, RUN_FILE, SUMMARY = "config.toml", "run.nc", "summary.json"
PAGE = "report.html"  # what `biorrr report` makes of a run
UNFINISHED, CHECKPOINTS, RESULTS = (
    "unfinished",
    "checkpoints",
    "results",
)  # folders, the last two in the first
INTERRUPTED = "interrupted"  # how a run ended that can go on


def holds_run(folder: Path) -> bool:
    """Return True if a run is in ``folder``, finished or not."""
    names = (CONFIG, RUN_FILE, SUMMARY, INVENTORY)
    return (
        any((folder / name).exists() for name in names)
        or (inside(folder, UNFINISHED) / CONFIG).exists()
    )


def finished(folder: Path) -> bool:
    """Return True if the run in ``folder`` has come to its end; a summary that is damaged can be
    made again.
    """
    numbers = read_json(folder, SUMMARY)
    return numbers is not None and not (
        isinstance(numbers, dict) and numbers.get("ended") == INTERRUPTED
    )


def has_checkpoints(folder: Path) -> bool:
    """Return True if the unfinished run in ``folder`` has kept something that it can go on from."""
    place = inside(folder, UNFINISHED, CHECKPOINTS)
    return any(path.suffix in (".npz", ".nc") for path in place.glob("[!.]*"))


def clear_unfinished(folder: Path) -> None:
    """Delete the unfinished run in ``folder``."""
    shutil.rmtree(inside(folder, UNFINISHED), ignore_errors=True)


def settle(folder: Path) -> None:
    """Put results that are wholly written in the place of earlier ones, and clear what killed
    processes have left.

    The caller holds the folder's lock. If this is cut short, the next call finishes it: the new
    inventory, which is written when all results are, is the last to come. Old files go while the
    old inventory still lists them, and the old summary, which says that the run is finished, goes
    first.
    """
    written = inside(folder, UNFINISHED, RESULTS)
    if not inside(written, INVENTORY).is_file():
        shutil.rmtree(written, ignore_errors=True)
        if not any(written.parent.glob("[!.]*")):  # it was killed before its config was written
            clear_unfinished(folder)
        return
    if (written / SUMMARY).exists():  # else the old files are gone already
        (folder / SUMMARY).unlink(missing_ok=True)
        for path in _files(folder) - {folder / name for name in _listed(written)}:
            path.unlink(missing_ok=True)
        (folder / INVENTORY).unlink(missing_ok=True)
    for path in sorted(written.iterdir(), key=lambda path: (path.name == SUMMARY, path.name)):
        if path.name != INVENTORY:
            path.replace(folder / path.name)
    done = finished(folder)
    if done:
        (folder / UNFINISHED / CONFIG).unlink(missing_ok=True)
        shutil.rmtree(folder / UNFINISHED / CHECKPOINTS, ignore_errors=True)
    (written / INVENTORY).replace(folder / INVENTORY)
    shutil.rmtree(folder / UNFINISHED if done else written)


def _files(folder: Path) -> set[Path]:
    """Return the files that the run in ``folder`` has left, as its inventory lists them, and its
    page.
    """
    named = {
        folder / name for name in (CONFIG, RUN_FILE, SUMMARY, INVENTORY, PAGE, *_listed(folder))
    }
    return {path for path in named if path.is_file() or path.is_symlink()}


def _listed(folder: Path) -> list[str]:
    return Inventory.read(read_json(folder, INVENTORY)).files

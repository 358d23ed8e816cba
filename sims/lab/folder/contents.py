"""The contents of a run folder: the files of the run, whether it is finished, and how new results replace old ones."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from biorrr.sims.lab.files import inside, read_json
from biorrr.sims.lab.folder.inventory import INVENTORY, Inventory

CONFIG, RESULTS, SUMMARY = "config.toml", "run.nc", "summary.json"
PAGE = "report.html"  # what `biorrr report` makes of a run
CHECKPOINTS = "checkpoints"  # a folder, there until the run is finished
KEPT = ("npz", "nc")  # endings of the files in it
UNFINISHED = ".unfinished-"  # a folder, with a number behind: of a run that is to replace the one in the run folder
BEING_WRITTEN, WRITTEN = ".being-written", ".written"  # folders of results, before and after all of them are there
INTERRUPTED = "interrupted"  # how a run ended that can go on


def finished(folder: Path) -> bool:
    """Return True if the run in ``folder`` has come to its end; a summary that is damaged can be made again."""
    numbers = read_json(folder, SUMMARY)
    return numbers is not None and not (isinstance(numbers, dict) and numbers.get("ended") == INTERRUPTED)


def unfinished(folder: Path) -> list[Path]:
    """Return the folders of the runs that were to replace the one in ``folder`` and were cut short, the latest last."""
    numbers = [path.parent.name.removeprefix(UNFINISHED) for path in folder.glob(f"{UNFINISHED}*/{CONFIG}")]
    return [inside(folder, f"{UNFINISHED}{number}") for number in sorted(filter(str.isdecimal, numbers), key=int)]


def has_checkpoints(folder: Path) -> bool:
    """Return True if the run in ``folder`` has kept something that it can go on from."""
    place = inside(folder, CHECKPOINTS)
    return any(any(place.glob(f"[!.]*.{ending}")) for ending in KEPT)


def clear_checkpoints(folder: Path) -> None:
    """Delete what the run in ``folder`` has kept, half-written files too."""
    place = inside(folder, CHECKPOINTS)
    for ending in KEPT:
        for path in place.glob(f"*.{ending}"):
            path.unlink(missing_ok=True)
    with suppress(OSError):  # somebody else's files are in it, or it is not there
        place.rmdir()


def settle(folder: Path) -> None:
    """Put results that are wholly written in the place of earlier ones, and clear what killed processes have left.

    The caller holds the folder's lock. If this is cut short, the next call finishes it: old files go while the old
    inventory still lists them, and the summary, which says that the run is finished, is the first to go and the last
    to come.
    """
    for path in folder.glob(f".*-{CONFIG}"):
        if re.fullmatch(rf"\.\d+-{re.escape(CONFIG)}", path.name):
            path.unlink()
    shutil.rmtree(folder / BEING_WRITTEN, ignore_errors=True)
    written = inside(folder, WRITTEN)
    if not written.is_dir():
        return
    if (written / INVENTORY).exists():  # else the old files are gone already
        (folder / SUMMARY).unlink(missing_ok=True)
        for path in _files(folder) - {folder / name for name in _listed(written)}:
            path.unlink(missing_ok=True)
    for path in sorted(written.iterdir(), key=lambda path: (path.name == SUMMARY, path.name == INVENTORY)):
        path.replace(folder / path.name)
    if finished(folder):
        clear_checkpoints(folder)
        for place in unfinished(folder):
            shutil.rmtree(place)
    written.rmdir()


def _files(folder: Path) -> set[Path]:
    """Return the files that the run in ``folder`` has left, as its inventory lists them, and its page."""
    named = {folder / name for name in (CONFIG, RESULTS, SUMMARY, INVENTORY, PAGE, *_listed(folder))}
    return {path for path in named if path.is_file() or path.is_symlink()}


def _listed(folder: Path) -> list[str]:
    return Inventory.read(read_json(folder, INVENTORY)).files

"""The data that a run has learned, where a page may read them.

What a folder names is read only if it is a data set of ours that is on this machine, or lies in the folder itself. Any
other file the user has to name: a folder that was sent could name any file of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biorrr.sims.data import CATALOGUE, Samples
from biorrr.sims.data.files import no_downloads
from biorrr.sims.lab.files import FolderError, open_inside
from biorrr.sims.page.record import Record

if TYPE_CHECKING:
    from biorrr.circuit import Run
    from biorrr.sims.data import Dataset


def find_data(record: Record, run: Run, given: Sequence[str]) -> tuple[Dataset | None, str]:
    """Return the very data that ``run`` has learned, or None and why they are not at hand.

    ``given`` are names and files that the user lets the page read: a file takes the place of that in the config.
    """
    others = "are not those it learned (another checksum or size)"
    checksum, sizes = record.provenance.get("data_sha256"), (run.data.sizes["input"], run.data.sizes["instruction"])

    def learned(data: Dataset) -> bool:
        return (data.X.shape[1], data.Y.shape[1]) == sizes and checksum in (None, data.checksum)

    table = record.settings.get("data", record.settings.get("task"))
    for one in given:
        data = _given(table, one).load()
        if learned(data):
            return data, ""
    try:
        if isinstance(table, str) or (isinstance(table, dict) and "name" in table):
            named = Samples.made_from(table) if _is_named(table) else None
        elif isinstance(table, dict):
            named = _inside(record.folder, table)
        else:
            return None, "its config names no data"
        if named is None:
            if given:
                return None, f"the data given with --data {others}"
            return None, "its data are not in its folder; --data FILE lets the page read them"
        with no_downloads():
            data = named.load()
    except (ValueError, OSError, MemoryError):
        return None, "its data are not on this machine or cannot be read, and nothing is downloaded for a page"
    return (data, "") if learned(data) else (None, f"the data here {others}")


def _is_named(table: str | dict) -> bool:
    name = table.get("name") if isinstance(table, dict) else table.partition(":")[0]
    return name in CATALOGUE


def _given(table: object, text: str) -> Samples:
    """Return what the user names: of a file, with the options that the config has for its own."""
    if isinstance(table, dict) and "file" in table and text not in CATALOGUE:
        return Samples.made_from(table | {"file": text})
    return Samples.made_from(text)


def _inside(folder: Path, table: dict) -> Samples | None:
    """Return the data in the files of a config's table, if all of these lie in the run folder itself."""
    places = {name: str(table[name]) for name in ("file", "y") if name in table}
    try:
        for place in places.values():
            open_inside(folder, *Path(place).parts).close()
    except (OSError, FolderError):
        return None
    return Samples.made_from(table | {name: str(folder / place) for name, place in places.items()})


def data_words(plain: object) -> str:
    """Return the data of a config in words, a name, a table or a list of these."""
    if isinstance(plain, list):
        return ", ".join(map(data_words, plain))
    if isinstance(plain, dict):
        return str(plain.get("name") or plain.get("file"))
    return str(plain)

"""The data that a run has learned, where a page may read them.

What a folder names is read only if it is a data set of ours that is on this machine, or lies in the folder itself. Any
other file the user has to name: a folder that was sent could name any file of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biorrr.sims.data import CATALOGUE, Dataset, load
from biorrr.sims.data.source import no_downloads
from biorrr.sims.page.files import is_inside
from biorrr.sims.page.record import Record

if TYPE_CHECKING:
    from biorrr.circuit import Run


def find_data(record: Record, run: Run, given: Sequence[Dataset]) -> tuple[Dataset | None, str]:
    """The very data that ``run`` has learned, or None and why they are not at hand; ``given`` are the user's word."""
    others = "are not those it learned (another checksum or size)"
    checksum, sizes = record.provenance.get("data_sha256"), (run.data.sizes["input"], run.data.sizes["instruction"])

    def learned(data: Dataset) -> bool:
        return (data.X.shape[1], data.Y.shape[1]) == sizes and checksum in (None, data.checksum)

    for data in given:
        if learned(data):
            return data, ""
    named = record.settings.get("data")
    if not isinstance(named, str):
        return None, "its config names no data"
    try:
        if named.partition(":")[0] in CATALOGUE:
            with no_downloads():
                data = load(named)
        elif paths := _inside(record.folder, named):
            data = load(*paths)
        elif given:
            return None, f"the data given with --data {others}"
        else:
            return None, "its data are not in its folder; --data FILE lets the page read them"
    except (ValueError, OSError, MemoryError):
        return None, "its data are not on this machine or cannot be read, and nothing is downloaded for a page"
    return (data, "") if learned(data) else (None, f"the data here {others}")


def _inside(folder: Path, named: str) -> list[Path]:
    """The files in ``folder`` that are ``named`` in its config, one or two; none if one of them is elsewhere."""
    for names in ([named], named.split(",")):
        paths = [folder / name.strip() for name in names]
        if len(paths) <= 2 and all(path.is_relative_to(folder) and is_inside(path, folder) for path in paths):
            return paths
    return []

"""The inventory of a run folder: a file that says what each file is, and what each number means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from biorrr.sims.lab.findings import Quantity

INVENTORY = "inventory.json"
RUN, DATASET, FIGURE, CAPTION, OTHER = (
    "run",
    "dataset",
    "figure",
    "caption",
    "file",
)  # kinds of files


@dataclass(frozen=True)
class Entry:
    """One file of a run folder.

    Parameters
    ----------
    file
        Name of the file, in the run folder itself.
    kind
        ``"run"`` (a circuit's weights and traces), ``"dataset"``, ``"figure"``, ``"caption"`` or
        ``"file"``.
    name
        Name that the experiment gives to the figure or the data.
    experiment, chapter
        Experiment that the file is of, and the chapter of the run that it belongs to.
    """

    file: str
    kind: str = OTHER
    name: str = ""
    experiment: str = ""
    chapter: str = ""


@dataclass
class Inventory:
    """All files of a run folder, and unit and words of the numbers in its summary by their
    names.
    """

    entries: list[Entry] = field(default_factory=list)
    quantities: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """Names of all files."""
        return [entry.file for entry in self.entries]

    def of_kind(self, *kinds: str) -> Iterable[Entry]:
        """Yield the entries of these kinds, in their order."""
        return (entry for entry in self.entries if entry.kind in kinds)

    def unit_of(self, name: str) -> str:
        """Return the unit of a number of the summary."""
        return self.quantities.get(name, {}).get("unit", "")

    def describe(self, quantities: Iterable[Quantity]) -> None:
        """Add unit and words of each quantity."""
        for one in quantities:
            said = {"unit": one.unit, "words": one.words}
            said = {key: text for key, text in said.items() if text}
            self.quantities |= {name: said for name in one.numbers if said}

    def text(self) -> str:
        """Return the inventory as JSON, without what is empty."""
        listed = [
            {name: value for name, value in asdict(entry).items() if value}
            for entry in self.entries
        ]
        return json.dumps({"files": listed, "quantities": self.quantities}, indent=2) + "\n"

    @classmethod
    def read(cls, found: Any) -> Inventory:
        """Read an inventory from parsed JSON; leave out what is no entry, since the file may be
        from others.
        """
        found = found if isinstance(found, Mapping) else {}
        listed, said = found.get("files"), found.get("quantities")
        entries = [_entry(one) for one in listed] if isinstance(listed, list) else []
        return cls(
            [entry for entry in entries if is_plain_name(entry.file)],
            {name: _texts(one) for name, one in said.items()} if isinstance(said, Mapping) else {},
        )


def _entry(found: Any) -> Entry:
    known = [one.name for one in fields(Entry)]
    return Entry(
        **{"file": ""} | {name: one for name, one in _texts(found).items() if name in known}
    )


def _texts(found: Any) -> dict[str, str]:
    """Return the texts of a table, by name; nothing where there is no table."""
    items = found.items() if isinstance(found, Mapping) else ()
    return {name: value for name, value in items if isinstance(value, str)}


def is_plain_name(name: str) -> bool:
    """Return True if ``name`` can only mean a file in the folder itself."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name

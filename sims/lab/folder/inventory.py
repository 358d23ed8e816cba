"""The inventory of a run folder: a file that says what each file is, and what each number means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

INVENTORY = "inventory.json"
RUN, DATASET, FIGURE, OTHER = "run", "dataset", "figure", "file"  # kinds of files


@dataclass(frozen=True)
class Entry:
    """One file of a run folder.

    Parameters
    ----------
    file
        Name of the file, in the run folder itself.
    kind
        ``"run"`` (a circuit's weights and traces), ``"dataset"``, ``"figure"`` or ``"file"``.
    name
        Name that the experiment gives to the figure or the data.
    caption
        Caption of a figure.
    experiment, chapter
        Experiment that the file is of, and the chapter of the run that it belongs to.
    """

    file: str
    kind: str = OTHER
    name: str = ""
    caption: str = ""
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
        found = found if isinstance(found, dict) else {}
        listed, quantities = found.get("files"), found.get("quantities")
        return cls(
            [_entry(one) for one in listed if _is_entry(one)] if isinstance(listed, list) else [],
            (
                {
                    str(name): {str(key): str(value) for key, value in said.items()}
                    for name, said in quantities.items()
                    if isinstance(said, Mapping)
                }
                if isinstance(quantities, Mapping)
                else {}
            ),
        )


def _is_entry(one: Any) -> bool:
    name = one.get("file") if isinstance(one, dict) else None
    return (
        isinstance(name, str)
        and name not in ("", ".", "..")
        and "/" not in name
        and "\0" not in name
    )


def _entry(one: Mapping[str, Any]) -> Entry:
    known = {
        field.name: type(field.default) if field.name != "file" else str for field in fields(Entry)
    }
    held: dict[str, Any] = {
        name: value for name, value in one.items() if type(value) is known.get(name)
    }
    return Entry(**held)

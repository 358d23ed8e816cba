"""The inventory of a run folder: a file that says what each file is, and what each number means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from biorrr.sims.lab.findings import Quantity

INVENTORY = "inventory.json"
# Kinds of files; a run is a circuit's weights and traces.
RUN, DATASET, FIGURE, CAPTION, OTHER = "run", "dataset", "figure", "caption", "file"


@dataclass
class Inventory:
    """The contents of a run folder.

    Parameters
    ----------
    files
        Kind of each file, by its name in the folder itself.
    quantities
        Unit and words of each number in the summary, by its name.
    """

    files: dict[str, str] = field(default_factory=dict)
    quantities: dict[str, dict[str, str]] = field(default_factory=dict)

    def of_kind(self, *kinds: str) -> list[str]:
        """Return the names of the files of these kinds, in their order."""
        return [name for name, kind in self.files.items() if kind in kinds]

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
        """Return the inventory as JSON."""
        return json.dumps({"files": self.files, "quantities": self.quantities}, indent=2) + "\n"

    @classmethod
    def read(cls, found: Any) -> Inventory:
        """Read an inventory from parsed JSON; leave out what is no entry, since the file may be
        from others.
        """
        files, quantities = _table(found, "files"), _table(found, "quantities")
        return cls(
            {name: str(kind) for name, kind in files.items() if is_plain_name(name)},
            {name: dict(said) for name, said in quantities.items() if _is_text(said)},
        )


def _table(found: Any, key: str) -> Mapping[str, Any]:
    table = found.get(key) if isinstance(found, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def _is_text(said: Any) -> bool:
    return isinstance(said, Mapping) and all(isinstance(one, str) for one in said.values())


def is_plain_name(name: str) -> bool:
    """Return True if ``name`` can only mean a file in the folder itself."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name

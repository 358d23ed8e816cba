"""The meaning of a name in an expression: a variable of the part itself, of one of its two cells, or broadcast."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from biorrr.models.parts import Parts, Pathway, Population


@dataclass(frozen=True)
class Meaning:
    """A variable that a name stands for.

    Parameters
    ----------
    place
        "own", for a variable of the part whose code it is; "pre" or "post", for one of a synapse's two cells;
        "broadcast", for one that all parts can read.
    part, variable
        The part that has the variable, and its name there.
    """

    place: str
    part: str
    variable: str

    @property
    def key(self) -> str:
        """The variable as "part.variable"."""
        return f"{self.part}.{self.variable}"


class Meanings:
    """The rule by which names in the code of parts are understood.

    A part's own variables come first. In the code of a pathway, an ending `_pre` or `_post` then marks a variable of
    its source or target cell. Every other name must be broadcast.

    Parameters
    ----------
    parts
        The circuit's populations and pathways.
    further
        Variables that parts have beyond those they declare, as (part, variable).

    Attributes
    ----------
    declared
        Variables of each part, by its name and theirs.
    broadcast
        The part that broadcasts each name that all parts can read.
    """

    def __init__(self, parts: Parts, further: Iterable[tuple[str, str]] = ()) -> None:
        self.parts = parts
        self.declared = {part.name: part.declared for part in parts.everything}
        self.broadcast = {v.name: p.name for p in parts.populations for v in p.variables if v.per == "circuit"}
        self._known = {(part, name) for part, variables in self.declared.items() for name in variables} | {*further}

    def find(self, part: Population | Pathway, name: str) -> Meaning | None:
        """Return what ``name`` means in the code of ``part``; None if it is no variable that the part can read."""
        if (part.name, name) in self._known:
            return Meaning("own", part.name, name)
        stem, _, side = name.rpartition("_")
        if isinstance(part, Pathway) and side in ("pre", "post"):
            end = part.source if side == "pre" else part.target
            if (end, stem) in self._known:
                return Meaning(side, end, stem)
        return Meaning("broadcast", self.broadcast[name], name) if name in self.broadcast else None

    def keys(self, part: Population | Pathway, names: Iterable[str]) -> frozenset[str]:
        """Return the variables that ``names`` mean in the code of ``part``, as "part.variable".

        Names that live within the code alone are left out.
        """
        return frozenset(found.key for name in names if (found := self.find(part, name)))

    def role(self, key: str) -> str:
        """Return the role of the declared variable ``key``, "part.variable"; empty if nothing declares it."""
        part, _, name = key.partition(".")
        return self.declared[part][name].role if name in self.declared[part] else ""

"""The meaning of a name in an expression: a variable of the part itself, of one of its two cells, or broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


@dataclass(frozen=True)
class Meanings:
    """The rule by which names in the code of parts are understood.

    A part's own variables come first. In the code of a pathway, an ending `_pre` or `_post` then marks a variable of
    its source or target cell. Every other name must be broadcast.

    Parameters
    ----------
    declares
        Tells of (part, variable) if the part has such a variable.
    broadcast
        The part that broadcasts each name that all parts can read.
    """

    declares: Callable[[str, str], bool]
    broadcast: Mapping[str, str]

    @classmethod
    def of(cls, parts: Parts, further: Callable[[str, str], bool] = lambda part, name: False) -> Meanings:
        """Return the meanings of names among ``parts``, and of ``further`` variables that they do not declare."""
        declared = {(part.name, variable.name) for part in parts.everything for variable in part.variables}
        declared |= {(pathway.name, name) for pathway in parts.pathways for name in _given(pathway)}
        holders = {v.name: p.name for p in parts.populations for v in p.variables if v.per == "circuit"}
        return cls(lambda part, name: (part, name) in declared or further(part, name), holders)

    def find(self, part: Population | Pathway, name: str) -> Meaning | None:
        """Return what ``name`` means in the code of ``part``; None if it is no variable that the part can read."""
        if self.declares(part.name, name):
            return Meaning("own", part.name, name)
        stem, _, side = name.rpartition("_")
        if isinstance(part, Pathway) and side in ("pre", "post"):
            end = part.source if side == "pre" else part.target
            if self.declares(end, stem):
                return Meaning(side, end, stem)
        return Meaning("broadcast", self.broadcast[name], name) if name in self.broadcast else None


def _given(pathway: Pathway) -> list[str]:
    """Return the names of variables that ``pathway`` has without declaring them."""
    given = (("w", pathway.weighted), ("plastic", pathway.plastic), ("pending", pathway.averaged))
    return [name for name, has in given if has]

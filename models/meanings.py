"""The meaning of a name in the code of a part: a variable of its own, of one of its two cells, or
broadcast.

A name without a meaning is refused in one sentence, when a circuit is made and long before Brian2
sees any of it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from biorrr.errors import InputError
from biorrr.models.expressions import Names, names_in
from biorrr.models.parts import Parts, Pathway, Population, Variable


@dataclass(frozen=True)
class Meaning:
    """A variable that a name stands for.

    Parameters
    ----------
    place
        "own", for a variable of the part whose code it is; "pre" or "post", for one of a synapse's
        two cells; "broadcast", for one that all parts can read.
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

    A part's own variables come first. In the code of a pathway, an ending `_pre` or `_post` then
    marks a variable of its source or target cell, or one that these call otherwise. Every other
    name must be broadcast: in a hierarchy, `eta_x` in area 2 is `eta_x_2` where that is broadcast.

    Parameters
    ----------
    parts
        The circuit's populations and pathways.

    Attributes
    ----------
    declared
        Variables of each part, by its name and theirs: its own, and those that it is given.
    broadcast
        The part that broadcasts each name that all parts can read.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.declared = {part.name: part.declared for part in parts.everything}
        self.broadcast = {
            v.name: p.name for p in parts.populations for v in p.variables if v.per == "circuit"
        }
        self._aliases = {(p.name, n): v for p in parts.populations for n, v in p.aliases}

    def declare(self, part: str, name: str, unit: str = "1") -> str:
        """Give each cell or synapse of ``part`` a further activity; return it as "part.name"."""
        pathway = isinstance(self.parts[part], Pathway)
        variable = Variable(name, per="synapse" if pathway else "cell", unit=unit)
        self.declared[part][name] = variable
        return f"{part}.{name}"

    def find(self, part: Population | Pathway, name: str) -> Meaning | None:
        """Return what ``name`` means in the code of ``part``; None if it is no variable that the
        part can read.
        """
        if name in self.declared.get(part.name, ()):
            return Meaning("own", part.name, name)
        stem, _, side = name.rpartition("_")
        if isinstance(part, Pathway) and side in ("pre", "post"):
            end = part.source if side == "pre" else part.target
            known = stem in self.declared.get(end, ())
            variable = stem if known else self._aliases.get((end, stem))
            if variable is not None:
                return Meaning(side, end, variable)
        heard = next((n for n in (f"{name}_{part.area}", name) if n in self.broadcast), None)
        return None if heard is None else Meaning("broadcast", self.broadcast[heard], heard)

    def keys(self, part: Population | Pathway, names: Iterable[str]) -> frozenset[str]:
        """Return the variables that ``names`` mean in the code of ``part``, as "part.variable".

        Names that live within the code alone are left out.
        """
        return frozenset(found.key for name in names if (found := self.find(part, name)))

    def role(self, key: str) -> str:
        """Return the role of the variable ``key``, "part.variable"."""
        part, _, name = key.partition(".")
        return self.declared[part][name].role

    def keys_of(self, role: str) -> frozenset[str]:
        """Return the variables of one ``role``, as "part.variable"."""
        return frozenset(
            f"{part}.{name}"
            for part, variables in self.declared.items()
            for name, variable in variables.items()
            if variable.role == role
        )

    def names(
        self, part: Population | Pathway, where: str, code: str, given: tuple[str, ...] = ()
    ) -> Names:
        """Return the names in ``code`` of ``part``, after a check that each read one has a meaning
        or is ``given``.

        ``where`` is the field of the part that holds the code.
        """
        found = names_in(code)
        for name in found.read:
            if name not in given and self.find(part, name) is None:
                raise InputError(
                    f"{part.name}.{where}: reads {name}, {self._why_unknown(part, name)}"
                )
        return found

    def _why_unknown(self, part: Population | Pathway, name: str) -> str:
        """Return the reason why ``name`` means nothing in the code of ``part``, and what to do."""
        holders = [p.name for p in self.parts.populations if name in self.declared[p.name]]
        matrices = [p.name for p in self.parts.pathways if name in (p.name, p.weight)]
        if isinstance(part, Pathway) and (holders or matrices):
            hint = (
                f"; write {name}_pre or {name}_post for that of its own two cells"
                if holders
                else ""
            )
            return (
                f"which belongs to {(holders or matrices)[0]} and is not local: a synapse knows its"
                f" weight w, its own variables, what its two cells have and what is broadcast{hint}"
            )
        if holders:
            return (
                f"which belongs to {holders[0]}; cells know their own variables and what is"
                " broadcast, and need a Pathway to hear of others"
            )
        ends = ((part.source, "pre"), (part.target, "post")) if isinstance(part, Pathway) else ()
        marked = [f"{variable}_{side}" for end, side in ends for variable in self.declared[end]]
        usable = [*self.declared[part.name], *self.broadcast, *marked]
        near = difflib.get_close_matches(name, usable, n=1, cutoff=0.75)
        meant = f"did you mean {near[0]}? Else " if near else ""
        return (
            f"which nothing declares; {meant}add Variable({name!r}, ...) to {part.name}, with a"
            " value where it is a parameter"
        )

    def check_values(self, part: Population | Pathway) -> None:
        """Check that values of parameters and memories, and the weights of a start, need nothing
        that changes.
        """
        codes = {f"{v.name}.value": v.value for v in part.variables if isinstance(v.value, str)}
        if isinstance(part, Pathway) and part.weighted:
            codes["start"] = part.start
        for where, code in codes.items():
            for name in self.names(
                part, where, code, () if where == "start" else ("seed", "i")
            ).read:
                found = self.find(part, name)
                if found and name not in ("seed", "w") and self.role(found.key) != "parameter":
                    raise InputError(
                        f"{part.name}.{where}: reads {name}, which is not a parameter; a value is"
                        " found once, before the circuit runs"
                    )

    def check_writes(self, part: Population | Pathway, names: Names) -> None:
        """Check that a step of ``part`` assigns to variables of its own, and to none that is a
        parameter.
        """
        for name in names.written:
            found = self.find(part, name)
            if found and found.place != "own":
                raise InputError(
                    f"{part.name}: a step assigns to {name}, which belongs to {found.part}; a part"
                    " changes its own variables only"
                )
            if found and self.role(found.key) == "parameter":
                raise InputError(
                    f"{part.name}: a step assigns to {name}, which is a parameter; declare it as"
                    " memory to change it"
                )

"""The operations of a circuit as C++ functions with plain loops.

A pathway connects all cells of its source to all of its target, or cells within groups, so two
nested loops reach every synapse without an index array. Arrays, names and loops are written here;
Brian2 translates the expressions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import Operation
from biorrr.errors import InputError
from biorrr.models import Pathway, Population
from biorrr.models.expressions import names_in, parse
from biorrr.models.meanings import Meanings

_SPELLING = {
    "abs": "fabs",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "clip": "_clip",
    "sign": "_sign",
    "int": "_int",
}
_ADDED = "_added"  # what one synapse adds to a sum


class Place(NamedTuple):
    """A value in the memory of a run: its array, and "0" for what is shared or a counter of a
    loop, in C++.
    """

    array: str
    at: str


@dataclass(frozen=True)
class CppFunction:
    """One C++ function of the program, as the template writes it.

    Parameters
    ----------
    name
        Name of the function.
    due
        C++ conditions without which it changes nothing.
    pointers
        The C++ array behind each name of its code. They are parameters that cannot overlap, so
        that compilers make faster loops: at 100x120x4 a sample takes 0.16 us, and 0.20 us where
        pointers are declared in the function (GCC 12).
    once, each
        C++ statements before the loops, and for each cell or synapse.
    cells
        The number of cells; for synapses, of target cells.
    sources
        For synapses, the first source cell that contributes and the one after the last, in C++.
    grouped
        True for synapses within groups: those of a target cell `_j` have the ``sources``.
    total
        For a current, the C++ array that it fills.
    driver
        The input without which synapses add and change nothing, as (population, variable); None
        where there is none.
    alone
        True where it visits the synapses of the replayed input alone.
    """

    name: str
    due: list[str]
    pointers: dict[str, str]
    once: list[str]
    each: list[str]
    cells: int
    sources: tuple[str, str] | None = None
    total: str | None = None
    grouped: bool = False
    driver: tuple[str, str] | None = None
    alone: bool = False


class Translator:
    """Turns operations into C++ functions.

    Parameters
    ----------
    blueprint
        The circuit.
    translate
        Brian2's translator of expressions to C++.

    Attributes
    ----------
    presented
        Inputs that are active only as presented, as (population, variable). Cells that change an
        input themselves may be active beside it.
    """

    declares = "_real"  # the word by which a local variable is declared

    def __init__(self, blueprint: Blueprint, translate: Callable[[str], str]) -> None:
        self.blueprint, self.parts, self.translate = blueprint, blueprint.parts, translate
        self.sizes = {(array.part, array.name): array.size for array in blueprint.arrays}
        self.meanings = Meanings(self.parts, self.sizes)
        written = {name for one in blueprint.program.operations for name in one.writes}
        self.presented = [
            (port.population, port.variable) for port in blueprint.ports if port.key not in written
        ]

    def function(self, operation: Operation) -> CppFunction:
        """Return the C++ function of ``operation``."""
        part = self.parts[operation.part]
        code = f"{_ADDED} = {operation.code}" if operation.fills else operation.code
        assigned = tuple((name, ast.unparse(value)) for name, value in parse(code))
        names = names_in(code)
        used = dict.fromkeys((*names.read, *names.written))
        places = {name: place for name in used if (place := self._place(part, name))}
        shared = {name for name, place in places.items() if place.at == "0"}
        set_once = self._set_once(part, assigned, shared)
        once: list[str] = []
        each: list[str] = []
        for name in used:
            before = name in set_once or (name in shared and name not in names.written)
            value = f" = _at_{name}[{places[name].at}]" if name in places else f" = _{name}"
            (once if before else each).append(
                f"{self.declares} {self.local(name)}{value if name in names.read else ''};"
            )
        for name, value in assigned:
            (once if name in set_once else each).append(
                f"{self.local(name)} = {self.expression(value)};"
            )
        for name in names.written:
            if name in places:
                (once if name in set_once else each).append(
                    f"_at_{name}[{places[name].at}] = {self.local(name)};"
                )
        pointers = {name: place.array for name, place in places.items()}
        due = self._due(part, operation)
        if isinstance(part, Population):
            return CppFunction(operation.name, due, pointers, once, each, part.size or 1)
        target = self.parts[part.target]
        total = array_of(target.name, operation.fills) if operation.fills else None
        sources, grouped = self._sources(part), part.wiring == "groups"
        driver = None if grouped else self._driver(part, operation)
        return CppFunction(
            operation.name, due, pointers, once, each, target.size, sources, total, grouped, driver
        )

    def _place(self, part: Population | Pathway, name: str) -> Place | None:
        """Return the place of what ``name`` means in ``part``; None if it is no variable."""
        found = self.meanings.find(part, name)
        if found is None:
            return None
        own = "_synapse" if isinstance(part, Pathway) else "_i"
        index = {"own": own, "pre": "_i", "post": "_j", "broadcast": "0"}[found.place]
        alone = self.sizes[found.part, found.variable] == 1
        return Place(array_of(found.part, found.variable), "0" if alone else index)

    def _set_once(
        self, part: Population | Pathway, assigned: tuple[tuple[str, str], ...], shared: set[str]
    ) -> set[str]:
        """Return the names that are set before the loop over many cells, after a check that they
        can be.
        """
        ends = (part.source, part.target) if isinstance(part, Pathway) else (part.name,)
        if all(self.parts[end].size == 1 for end in ends):
            return set()
        once = shared.intersection(name for name, _ in assigned)
        for place, (name, value) in enumerate(assigned):
            first = all(earlier in once for earlier, _ in assigned[:place])
            if name in once and not (first and shared.issuperset(names_in(value).read)):
                raise InputError(
                    f"{part.name}.{name}: is one for all, so a step must set it before what each"
                    f" cell or synapse has, and from shared variables only (got {name} = {value})"
                )
        return once

    def _sources(self, pathway: Pathway) -> tuple[str, str]:
        """Return the range of source cells of a target cell."""
        sources, targets = (self.parts[end].size for end in (pathway.source, pathway.target))
        if pathway.wiring != "groups":
            return "0", str(sources)
        size = self.blueprint.group(pathway.name)
        if sources > targets:
            return f"_j * {size}", f"(_j + 1) * {size}"
        return f"_j / {size}", f"_j / {size} + 1"

    def _driver(self, pathway: Pathway, operation: Operation) -> tuple[str, str] | None:
        """Return the presented input that silences ``operation`` where it is 0."""
        for name in sorted(operation.silencers):
            found = self.meanings.find(pathway, name)
            if found and found.place == "pre" and (found.part, found.variable) in self.presented:
                return found.part, found.variable
        return None

    def _due(self, part: Population | Pathway, operation: Operation) -> list[str]:
        """Return C++ conditions without which ``operation`` changes nothing."""
        if operation.fills:
            return []
        places = [self._place(part, name) for name in sorted(operation.silencers)]
        return [f"any({place.array}[0] != 0)" for place in places if place and place.at == "0"]

    def local(self, name: str) -> str:
        """Return the name of a local variable that holds what the code calls ``name``."""
        return name

    def expression(self, expression: str) -> str:
        """Return ``expression`` in C++."""
        return self.translate(ast.unparse(_Spelling().visit(ast.parse(expression, mode="eval"))))


def array_of(part: str, name: str) -> str:
    """Return the array of a variable in C++."""
    return f"_circuit.{part}.{name}"


class _Spelling(ast.NodeTransformer):
    """An expression with the names that functions have in the program, where all values are
    floating-point.

    Comparisons are 1.0 or 0.0: as truth values they would keep loops from being vectorised.
    """

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(float(node.value)) if isinstance(node.value, int) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(ast.Name("_is"), [node], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = ast.unparse(node.func)
        if name == "int" and isinstance(node.args[0], ast.Compare):
            return self.visit(node.args[0])
        self.generic_visit(node)
        node.func = ast.Name(_SPELLING.get(name, name))
        return node

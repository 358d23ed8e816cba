"""The C++ source of a circuit: one file, written from the circuit's own description.

Each operation of the circuit's program is one C++ function with plain loops, and each block calls
its operations in order. A pathway connects all cells of its source to all of its
target, or cells within groups, so two nested loops reach every synapse without an index array.
Arrays, names and loops are written here; Brian2 checks units and translates the expressions.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import Operation
from biorrr.circuit.engines.brian2_private import (
    check_units,
    cpp_translator,
    import_brian2,
)
from biorrr.circuit.engines.memory import ELEMENT_TYPES, LINE, Memory
from biorrr.errors import InputError
from biorrr.models import Pathway, Population, random_draws
from biorrr.models.expressions import names_in, parse
from biorrr.models.meanings import Meaning

# Functions of one number that are applied to each of several runs.
_ELEMENTWISE = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "exp", "expm1"),
    *("log", "log10", "log1p", "sqrt", "ceil", "floor", "fabs", "_int"),
)
_HEADERS = ("algorithm", "cmath", "cstddef", "cstdint", "vector")
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


def write_source(circuit: Blueprint, lanes: int = 1) -> str:
    """Return the C++ source of ``circuit``, of which so many ``lanes`` run side by side."""
    import_brian2()
    check_units(circuit)
    translator = Translator(circuit, cpp_translator())
    functions = {one: translator.function(one) for one in circuit.program.operations}
    alone = {one: _in_replay(circuit, function) for one, function in functions.items()}
    blocks = [
        (f"{presented}_{name}", [(alone if presented == "replay" else functions)[o] for o in block])
        for presented, name, block in circuit.program.blocks
    ]
    return render(
        Path(__file__).parent / "templates" / "circuit.cpp",
        headers=_HEADERS,
        memory=Memory(circuit, lanes),
        lanes=lanes,
        elementwise=_ELEMENTWISE,
        # Loops over vectors are not made into vectors.
        simd="#pragma omp simd" if lanes == 1 else "",
        line=LINE,
        random=random_draws,
        functions={one.name: one for _, block in blocks for one in block}.values(),
        blocks=blocks,
        circuit=circuit,
        element_types=ELEMENT_TYPES.values(),
    )


def render(template: Path, **values: Any) -> str:
    """Return a ``template``, filled in."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template.name).render(**values)


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
        The input without which synapses add and change nothing, as "population.variable"; empty
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
    grouped: bool = False
    total: str | None = None
    driver: str = ""
    alone: bool = False


class Translator:
    """Turns operations into C++ functions.

    Parameters
    ----------
    blueprint
        The circuit.
    translate
        Brian2's translator of expressions to C++.
    """

    declares = "_real"  # the word by which a local variable is declared

    def __init__(self, blueprint: Blueprint, translate: Callable[[str], str]) -> None:
        self.blueprint, self.parts, self.translate = blueprint, blueprint.parts, translate
        self.meanings = blueprint.meanings

    def function(self, operation: Operation) -> CppFunction:
        """Return the C++ function of ``operation``."""
        part = self.parts[operation.part]
        code = f"{_ADDED} = {operation.code}" if operation.fills else operation.code
        names = names_in(code)
        used = dict.fromkeys((*names.read, *names.written))
        meant = {name: found for name in used if (found := self.meanings.find(part, name))}
        at = {name: self._index(part, found) for name, found in meant.items()}
        shared = {name for name, index in at.items() if index == "0"}
        early = shared.difference(names.written) | self._set_once(part, code, shared)
        lines = self._lines(code, at)
        function = CppFunction(
            operation.name,
            self._due(operation),
            {name: array_of(found.key) for name, found in meant.items()},
            [line for name, line in lines if name in early],
            [line for name, line in lines if name not in early],
            part.size or 1 if isinstance(part, Population) else self.parts[part.target].size,
        )
        if isinstance(part, Population):
            return function
        return replace(
            function,
            sources=self._sources(part),
            grouped=part.wiring == "groups",
            total=array_of(f"{part.target}.{operation.fills}") if operation.fills else None,
            driver="" if part.wiring == "groups" else self._driver(part, operation),
        )

    def _lines(self, code: str, at: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the statements of ``code`` in C++, each with the name that it sets: what lies
        ``at`` an index of an array is read before, and written after.
        """
        names, lines = names_in(code), []
        for name in dict.fromkeys((*names.read, *names.written)):
            value = f" = _at_{name}[{at[name]}]" if name in at else f" = _{name}"
            value = value if name in names.read else ""
            lines.append((name, f"{self.declares} {self.local(name)}{value};"))
        for name, node in parse(code):
            lines.append((name, f"{self.local(name)} = {self.expression(ast.unparse(node))};"))
        for name in names.written:
            if name in at:
                lines.append((name, f"_at_{name}[{at[name]}] = {self.local(name)};"))
        return lines

    def _index(self, part: Population | Pathway, meant: Meaning) -> str:
        """Return the index of a variable in its array, for the code of ``part``: a counter of a
        loop, or "0" for what is shared.
        """
        if self.blueprint.by_key[meant.key].size == 1:
            return "0"
        own = "_synapse" if isinstance(part, Pathway) else "_i"
        return {"own": own, "pre": "_i", "post": "_j", "broadcast": "0"}[meant.place]

    def _set_once(self, part: Population | Pathway, code: str, shared: set[str]) -> set[str]:
        """Return the names that are set before the loop over many cells, after a check that they
        can be.
        """
        ends = (part.source, part.target) if isinstance(part, Pathway) else (part.name,)
        if all(self.parts[end].size == 1 for end in ends):
            return set()
        assigned = [(name, ast.unparse(value)) for name, value in parse(code)]
        first = [
            *itertools.takewhile(
                lambda one: one[0] in shared and shared.issuperset(names_in(one[1]).read), assigned
            )
        ]
        for name, value in assigned[len(first) :]:
            if name in shared:
                raise InputError(
                    f"{part.name}.{name}: is one for all, so a step must set it before what each"
                    f" cell or synapse has, and from shared variables only (got {name} = {value})"
                )
        return {name for name, _ in first}

    def _sources(self, pathway: Pathway) -> tuple[str, str]:
        """Return the range of source cells of a target cell."""
        sources, targets = (self.parts[end].size for end in (pathway.source, pathway.target))
        if pathway.wiring != "groups":
            return "0", str(sources)
        size = self.blueprint.group(pathway.name)
        if sources > targets:
            return f"_j * {size}", f"(_j + 1) * {size}"
        return f"_j / {size}", f"_j / {size} + 1"

    def _driver(self, pathway: Pathway, operation: Operation) -> str:
        """Return the input that silences ``operation`` where it is 0, if it is active only as
        presented: cells that change an input themselves may be active beside it.
        """
        written = {key for one in self.blueprint.program.operations for key in one.writes}
        inputs = [p.key for p in self.blueprint.ports if p.population == pathway.source]
        silent = (key for key in inputs if key in operation.silencers and key not in written)
        return next(silent, "")

    def _due(self, operation: Operation) -> list[str]:
        """Return C++ conditions without which ``operation`` changes nothing."""
        shared = [
            key for key in sorted(operation.silencers) if self.blueprint.by_key[key].size == 1
        ]
        return [f"any({array_of(key)}[0] != 0)" for key in shared if not operation.fills]

    def local(self, name: str) -> str:
        """Return the name of a local variable that holds what the code calls ``name``."""
        return name

    def expression(self, expression: str) -> str:
        """Return ``expression`` in C++."""
        return self.translate(ast.unparse(_Spelling().visit(ast.parse(expression, mode="eval"))))


def array_of(key: str) -> str:
    """Return the array of the variable "part.name" in C++."""
    return f"_circuit.{key}"


def _in_replay(circuit: Blueprint, function: CppFunction) -> CppFunction:
    """Return what ``function`` is while one input is presented alone."""
    if not function.driver:
        return function
    if function.driver == circuit.replayed_port.key:
        return replace(function, name=f"{function.name}_alone", alone=True)
    # Other inputs are silent.
    each = [f"{function.total}[_i] = 0;"] if function.total else []
    return CppFunction(f"{function.name}_silent", [], {}, [], each, function.cells)


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

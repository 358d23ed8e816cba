"""The actions of a circuit as C++ functions with plain loops.

Every pathway connects all cells of its source to all of its target, so two nested loops reach every synapse without an
index array. Arrays, names and loops are written here; Brian2 translates the expressions.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.schedule import Action
from biorrr.errors import InputError
from biorrr.models import Pathway, Population
from biorrr.models.algebra import assignments, code_of, vanishes
from biorrr.models.expressions import FUNCTIONS, names_in
from biorrr.models.meanings import Meanings

_SPELLING = {"abs": "fabs", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "clip": "_clip", "sign": "_sign",
             "int": "_int"}  # fmt: skip
_ADDED = "_added"  # what one synapse adds to a sum


@dataclass(frozen=True)
class Array:
    """A variable in the memory of the program.

    Parameters
    ----------
    part, name
        The part that has it, and its name there.
    size
        The number of values.
    """

    part: str
    name: str
    size: int

    @property
    def symbol(self) -> str:
        """Its name in C++."""
        return f"circuit::{self.part}::{self.name}"


@dataclass(frozen=True)
class Element:
    """The value of an array that one cell or synapse reads or writes.

    Parameters
    ----------
    array
        The array.
    index
        Its place in C++: "0" for what is shared, else a counter of a loop.
    """

    array: Array
    index: str

    @property
    def symbol(self) -> str:
        """The value in C++."""
        return f"{self.array.symbol}[{self.index}]"

    def pointed_at(self, name: str) -> str:
        """Return the value in C++ by way of the pointer that a step has for ``name``."""
        return f"_at_{name}[{self.index}]"


@dataclass(frozen=True)
class Step:
    """One C++ function of the program, as the template writes it.

    Parameters
    ----------
    name
        Name of the function.
    due
        C++ conditions without which the step changes nothing.
    pointers
        The array behind each name of its code. By way of pointers that cannot overlap, compilers make faster loops: at
        100x120x4 a sample takes 0.16 us, and 0.28 us where loops name the arrays themselves (GCC 12).
    once, each
        C++ statements before the loops, and for each cell or synapse.
    cells
        The number of cells; for synapses, of target cells.
    sources
        For synapses, the first source cell that contributes in this tick and the one after the last, in C++.
    total
        For a current, the C++ array that it fills.
    """

    name: str
    due: list[str]
    pointers: dict[str, Array]
    once: list[str]
    each: list[str]
    cells: int
    sources: tuple[str, str] | None = None
    total: str | None = None


class Translator:
    """Turns actions into steps of the C++ program.

    Parameters
    ----------
    blueprint
        The circuit.
    actions
        All that happens in a tick.
    scratch
        Arrays beyond those of the circuit.
    translate
        Brian2's translator of expressions to C++.

    Attributes
    ----------
    arrays
        Variables in the memory of the program, by (part, name).
    """

    def __init__(
        self,
        blueprint: Blueprint,
        actions: Iterable[Action],
        scratch: Iterable[tuple[str, str]],
        translate: Callable[[str], str],
    ) -> None:
        self.parts, self.translate = blueprint.parts, translate
        sizes = {(q.part, q.name): q.size for q in blueprint.quantities}
        for part, name in (*blueprint.program.kept, *scratch):
            sizes[part, name] = self._count(self.parts[part])
        for action in actions:
            if action.drives:
                target = self.parts[self.parts[action.part].target]
                sizes.setdefault((target.name, action.drives), target.size)
        self.arrays = {place: Array(*place, size) for place, size in sizes.items()}
        self.meanings = Meanings(self.parts, self.arrays)
        # Input fibres that are active only as presented: `active_<population>` is the range of those that are not 0.
        # Fibres that change their activity themselves may be active outside it.
        written = {name for action in blueprint.schedule for name in action.writes}
        self.presented = {
            port.population: port.variable
            for port in blueprint.ports
            if f"{port.population}.{port.variable}" not in written
        }

    def _count(self, part: Population | Pathway) -> int:
        """Return the number of cells or synapses of ``part``."""
        ends = (part.source, part.target) if isinstance(part, Pathway) else (part.name,)
        return math.prod(self.parts[end].size for end in ends)

    def step(self, action: Action) -> Step:
        """Return the step that carries out ``action``."""
        part = self.parts[action.part]
        step = self._loop(part, action)
        if isinstance(part, Population):
            return step
        total = self.arrays[part.target, action.drives].symbol if action.drives else None
        return replace(step, sources=self._sources(part, action), total=total)

    def _sources(self, pathway: Pathway, action: Action) -> tuple[str, str]:
        """Return the range of source cells without which ``action`` has the same result."""
        activity = self.presented.get(pathway.source)
        if activity is not None and vanishes(action.code if action.drives else action.addend, f"{activity}_pre"):
            return f"active_{pathway.source}.begin", f"active_{pathway.source}.end"
        return "0", str(self.parts[pathway.source].size)

    def _due(self, part: Population | Pathway, action: Action) -> list[str]:
        """Return C++ conditions without which ``action`` changes nothing."""
        due = {"": [], "waking": ["waking"], "replaying": ["!waking"]}[action.gate]
        due += {"": [], "onset": ["(onset || !waking)"], "recorded": ["recorded"]}[action.when]
        if action.addend:
            # A step whose addend is 0 changes nothing: a weight is within its bound already.
            factors = [name for name in names_in(action.addend).read if vanishes(action.addend, name)]
            shared = [self._element(part, name) for name in ("plastic", *factors)]
            due += [self._is_set(element) for element in shared if element is not None and element.index == "0"]
        return due

    def _is_set(self, element: Element) -> str:
        """Return the C++ condition that a shared value is not 0; what the tick has found out already has a name."""
        array = element.array
        return array.name if (array.part, array.name) == ("clock", "closing") else f"{element.symbol} != 0"

    def _element(self, part: Population | Pathway, name: str, written: Iterable[str] = ()) -> Element | None:
        """Return what ``name`` means in ``part``; None for a counter of cells, or a name of the step's own."""
        found = self.meanings.find(part, name)
        if found is not None:
            array = self.arrays[found.part, found.variable]
            own = "_synapse" if isinstance(part, Pathway) else "_i"
            index = {"own": own, "pre": "_i", "post": "_j", "broadcast": "0"}[found.place]
            return Element(array, "0" if array.size == 1 else index)
        if name not in ("i", "j", *written):
            raise InputError(f"engine 'cpp': {part.name} must know {name}, which its code reads (got no such variable)")
        return None

    def _loop(self, part: Population | Pathway, action: Action) -> Step:
        """Return ``action`` as a loop over cells, with its statements in C++."""
        assigned = [(_ADDED, action.code)] if action.drives else list(assignments(action.code))
        names = names_in(code_of(assigned))
        elements = {name: self._element(part, name, names.written) for name in (*names.read, *names.written)}
        shared = {name for name, element in elements.items() if element is not None and element.index == "0"}
        set_once = shared & set(names.written) if self._count(part) > 1 else set()
        self._check_shared(part, assigned, shared, set_once)
        once: list[str] = []
        each: list[str] = []
        for name, element in elements.items():
            constant = "" if name in names.written else "const "
            if name in ("i", "j"):
                each.append(f"const double {name} = _{name};")
            elif element is None or name not in names.read:
                (once if name in set_once else each).append(f"double {name};")
            else:
                before = name in set_once or (name in shared and constant)
                (once if before else each).append(f"{constant}double {name} = {element.pointed_at(name)};")
        for name, value in assigned:
            (once if name in set_once else each).append(f"{name} = {self._expression(part, value)};")
        for name in names.written:
            if element := elements[name]:
                (once if name in set_once else each).append(f"{element.pointed_at(name)} = {name};")
        pointers = {name: element.array for name, element in elements.items() if element is not None}
        cells = self.parts[part.target] if isinstance(part, Pathway) else part
        return Step(action.name, self._due(part, action), pointers, once, each, cells.size or 1)

    @staticmethod
    def _check_shared(part, assigned: list[tuple[str, str]], shared: set[str], set_once: set[str]) -> None:
        """Refuse to set what cells share from what each of them has, or after it."""
        for place, (name, value) in enumerate(assigned):
            first = all(earlier in set_once for earlier, _ in assigned[:place])
            if name in set_once and not (first and shared.issuperset(names_in(value).read)):
                raise InputError(
                    f"{part.name}.{name}: is one for all, so a step must set it before what each cell or synapse has, "
                    f"and from shared variables only (got {name} = {value})"
                )

    def _expression(self, part: Population | Pathway, expression: str) -> str:
        """Return ``expression`` in C++."""
        try:
            return self.translate(ast.unparse(_Spelling().visit(ast.parse(expression, mode="eval"))))
        except (SyntaxError, KeyError) as error:
            raise InputError(f"engine 'cpp': {part.name}: cannot be translated ({error}): {expression!r}") from error


class _Spelling(ast.NodeTransformer):
    """An expression with the names that functions have in the program, where all values are floating-point.

    Comparisons are 1.0 or 0.0: as truth values they would keep loops from being vectorised.
    """

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(float(node.value)) if isinstance(node.value, int) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(ast.Name("_is"), [node], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name not in FUNCTIONS:
            raise KeyError(f"{name} is not a function")
        if name == "int" and ast.unparse(node.args[0]).startswith("_is("):
            return node.args[0]
        node.func = ast.Name(_SPELLING.get(name, name))
        return node

"""Calls such as exp as actions of their own.

The compiler does not vectorise them: in a loop of their own they do not hold up the rest of a step.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.schedule import Action
from biorrr.models import Population
from biorrr.models.algebra import assignments, code_of
from biorrr.models.expressions import names_in

_SLOW = frozenset(
    ("exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan")
)
_MANY = 8  # cells, from which on a loop over them is worth vectorising


def calls_apart(blueprint: Blueprint) -> tuple[list[Action], list[tuple[str, str]]]:
    """Return the actions of ``blueprint`` with slow calls of many cells as actions of their own, and their arrays.

    A call can come first if nothing that it reads has changed by then.
    """
    actions: list[Action] = []
    scratch: list[tuple[str, str]] = []
    for action in blueprint.program.actions:
        part = blueprint.parts[action.part]
        if isinstance(part, Population) and (part.size or 1) >= _MANY:
            apart = _CallsApart(f"{action.name}_call")
            rest = [(name, apart.taken_from(name, value)) for name, value in assignments(action.code)]
            if apart.calls:
                actions.append(replace(action, name=f"{action.name}_calls", code=code_of(apart.calls.items())))
                scratch += [(part.name, name) for name in apart.calls]
                action = replace(action, code=code_of(rest))
        actions.append(action)
    return actions, scratch


class _CallsApart(ast.NodeTransformer):
    """Statements without the slow calls that can come first; ``calls`` has those by the names that replace them."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.changed: set[str] = set()
        self.calls: dict[str, str] = {}

    def taken_from(self, name: str, value: str) -> str:
        """Return ``value``, which is assigned to ``name``, with names in place of the calls."""
        rest = ast.unparse(self.visit(ast.parse(value, mode="eval")))
        self.changed.add(name)
        return rest

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        call = ast.unparse(node)
        if node.func.id not in _SLOW or not self.changed.isdisjoint(names_in(call).read):  # type: ignore[attr-defined]
            return node
        name = f"{self.prefix}_{len(self.calls)}"
        self.calls[name] = call
        return ast.Name(name)

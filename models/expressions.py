"""Expressions and statements in Brian2's equation language: what they read, and what they are worth in NumPy.

The language is a subset of Python's, so Python's own parser reads it; no text is ever searched or cut.
"""

from __future__ import annotations

import ast
import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biorrr.models import random_draws

CONSTANTS = ("inf", "pi")
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
# What Brian2 offers to equations, less what differs between engines: random numbers come from biorrr's own draws.
FUNCTIONS: dict[str, Callable] = {
    **{
        name: getattr(np, name)
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "log10", "expm1", "log1p", "sqrt")
    },
    **{name: getattr(np, name) for name in ("ceil", "floor", "sign", "abs", "clip")},
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "int": lambda value: np.asarray(value).astype(np.int64),
    **random_draws.DRAWS,
}


@dataclass(frozen=True)
class Names:
    """The names that occur in a piece of code.

    Parameters
    ----------
    read
        Names whose value is needed from outside, in the order in which they are met.
    written
        Names that statements assign to, in the same order.
    called
        Functions.
    """

    read: tuple[str, ...]
    written: tuple[str, ...]
    called: tuple[str, ...]


@functools.cache
def names_in(code: str) -> Names:
    """All names in ``code``: an expression, or statements that each assign to one name.

    Raises
    ------
    ValueError
        Where it is neither.
    """
    read: dict[str, None] = {}
    written: dict[str, None] = {}
    called: dict[str, None] = {}
    for statement in _parsed(code):
        value = statement.value
        functions = {id(node.func) for node in ast.walk(value) if isinstance(node, ast.Call)}
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and id(node) in functions:
                called[node.id] = None
            elif isinstance(node, ast.Name) and node.id not in written and node.id not in CONSTANTS:
                read[node.id] = None
        if isinstance(statement, ast.AugAssign) and statement.target.id not in written:  # type: ignore[union-attr]
            read[statement.target.id] = None  # type: ignore[union-attr]
        for name in _assigned(statement):
            written[name] = None
    return Names(tuple(read), tuple(written), tuple(called))


@functools.cache
def only_where(gate: str, code: str, temporary: frozenset[str] = frozenset()) -> str:
    """Statements that do what ``code`` does where ``gate`` is 1, and nothing where it is 0.

    Names in ``temporary`` live within the statements and need no guarding. For a language without branches.
    """
    lines = []
    for statement in _parsed(code):
        (name,) = _assigned(statement)
        value = ast.unparse(statement.value)
        if name in temporary:
            lines.append(ast.unparse(statement))
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub)):
            sign = "+" if isinstance(statement.op, ast.Add) else "-"
            lines.append(f"{name} {sign}= {gate} * ({value})")
        else:
            if isinstance(statement, ast.AugAssign):
                value = ast.unparse(ast.BinOp(ast.Name(name), statement.op, statement.value))
            lines.append(f"{name} = {gate} * ({value}) + (1 - {gate}) * {name}")
    return "\n".join(lines)


class _Renaming(ast.NodeTransformer):
    """Gives names in a tree other names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def renamed(expression: str, names: Mapping[str, str]) -> str:
    """``expression`` with other names in place of those that ``names`` lists; all else stays.

    >>> renamed("eta_x * x_pre * x", {"x_pre": "trace_pre"})
    'eta_x * trace_pre * x'
    """
    return "\n".join(ast.unparse(_Renaming(names).visit(statement)) for statement in _parsed(expression))


def evaluate(expression: str | float, values: Mapping[str, object]):
    """Return ``expression`` in NumPy, given the ``values`` of its names (and of functions that come with them)."""
    if not isinstance(expression, str):
        return expression
    return _value(_tree(expression), {**FUNCTIONS, "inf": np.inf, "pi": np.pi, **values})


@functools.cache
def _tree(expression: str) -> ast.expr:
    (statement,) = _parsed(expression)
    return statement.value


def _value(node: ast.expr, known: Mapping[str, Any]):
    """What a node of an expression is worth: arithmetic, comparisons and calls of known functions, nothing else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return known[node.func.id](*(_value(argument, known) for argument in node.args))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand, known))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, known), _value(node.right, known))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        return _OPERATORS[type(node.ops[0])](_value(node.left, known), _value(node.comparators[0], known))
    raise ValueError(f"must be arithmetic, a comparison or a call of a function (got {ast.unparse(node)!r})")


def _parsed(code: str) -> list:
    """The statements of ``code``, each checked to be an expression or an assignment to one name."""
    try:
        statements = ast.parse(inspect.cleandoc(code)).body
    except SyntaxError as error:
        raise ValueError(f"cannot be read ({error.msg}): {code.strip()!r}") from None
    for statement in statements:
        if not isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)) or None in _assigned(statement):
            raise ValueError(
                f"must be expressions or assignments to a name (got {ast.unparse(statement)!r}); Brian2's equation "
                "language has no others"
            )
    return statements


def _assigned(statement) -> list:
    if isinstance(statement, ast.Expr):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [getattr(target, "id", None) for target in targets]

"""Expressions and statements in Brian2's equation language: the names they use, their rewriting,
their terms, their value in NumPy.

The language is a subset of Python's, so Python's own parser reads it; no text is ever searched or
cut. :mod:`biorrr.models.language` says what belongs to it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from biorrr.errors import InputError
from biorrr.models import random_draws

_MOST_TERMS = 16  # a rule of more is evaluated as it stands
CONSTANTS = {"inf": np.inf, "pi": np.pi}
OPERATORS: dict[type, Callable] = {
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
_IN_PLACE = (ast.Add, ast.Sub, ast.Mult, ast.Div)  # += -= *= /=
_OF_NUMPY = (
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "log10",
    "expm1",
    "log1p",
    "sqrt",
    "ceil",
    "floor",
    "sign",
    "abs",
    "clip",
    "arcsin",
    "arccos",
    "arctan",
)
# What Brian2 offers to equations, less what differs between engines: random numbers come from
# biorrr's own draws.
FUNCTIONS: dict[str, Callable] = {
    **{name: getattr(np, name) for name in _OF_NUMPY},
    "int": lambda value: np.asarray(value).astype(np.int64),
    **random_draws.DRAWS,
}


@functools.cache
def parse(code: str) -> tuple[tuple[str, ast.expr], ...]:
    """Return the statements of ``code``, each as the name that it assigns to and the expression
    that is assigned: v + x for `v += x`. The name is empty for an expression that stands alone.
    """
    try:
        nodes = ast.parse(inspect.cleandoc(code)).body
    except SyntaxError as error:
        raise InputError(f"cannot be read ({error.msg}): {code.strip()[:80]!r}") from None
    except (MemoryError, RecursionError, ValueError) as error:  # nested too deeply, or not text
        raise InputError(
            f"cannot be read ({error or 'nested too deeply'}): {code.strip()[:40]!r}..."
        ) from None
    return tuple(_statement(node) for node in nodes)


def _statement(node: ast.stmt) -> tuple[str, ast.expr]:
    """Return a parsed statement; refuse all but expressions and assignments to one name."""
    match node:
        case ast.Expr(value=value):
            return "", value
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=added):
            value = ast.BinOp(ast.Name(name), op, added)
            if isinstance(op, _IN_PLACE):
                return name, value
            raise InputError(
                f"must assign with = += -= *= or /=; write {name} = {ast.unparse(value)}"
            )
    raise InputError(
        f"must be expressions or assignments to one name (got {ast.unparse(node)[:80]!r}); the"
        " language of equations has no others"
    )


class Names(NamedTuple):
    """The names that occur in a piece of code.

    Attributes
    ----------
    read
        Names whose value is needed from outside, in the order in which they are met.
    written
        Names that statements assign to, in the same order.
    """

    read: tuple[str, ...]
    written: tuple[str, ...]


@functools.cache
def names_in(code: str) -> Names:
    """Return all names in ``code``: an expression, or statements."""
    read: dict[str, None] = {}
    written: dict[str, None] = {}
    for name, value in parse(code):
        nodes = list(ast.walk(value))
        functions = [node.func for node in nodes if isinstance(node, ast.Call)]
        names = [n.id for n in nodes if isinstance(n, ast.Name) and n not in functions]
        read |= dict.fromkeys(n for n in names if n not in written and n not in CONSTANTS)
        if name:
            written[name] = None
    return Names(tuple(read), tuple(written))


def rename(code: str, names: Mapping[str, str]) -> str:
    """Return ``code`` with other names in place of those that ``names`` lists.

    >>> rename("eta_x * x_pre * x", {"x_pre": "trace_pre"})
    'eta_x * trace_pre * x'
    """
    tree = ast.parse(inspect.cleandoc(code))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


def subtracts(code: str, name: str) -> bool:
    """Return True if statements subtract what is called ``name``.

    >>> subtracts("plateau = a - inhibition", "inhibition")
    True
    """
    values = (node for _, value in parse(code) for node in ast.walk(value))
    taken = [
        node.right if isinstance(node, ast.BinOp) else node.operand  # type: ignore[attr-defined]
        for node in values
        if isinstance(getattr(node, "op", None), (ast.Sub, ast.USub))
    ]
    return any(name in names_in(ast.unparse(node)).read for node in taken)


def terms_of(rule: str, own: Collection[str]) -> list[list[str]]:
    """Return the factors of each term of a rule; ``own`` are the synapse's variables.

    What is no sum of products is a single factor.

    >>> terms_of("eta * (x_pre * (u_post - v_post) - w / n)", {"w"})
    [['eta', 'x_pre', 'u_post - v_post'], ['eta', '-1', 'w', '1 / n']]
    """
    found = _products(ast.parse(rule, mode="eval").body, own)
    if len(found) > _MOST_TERMS:
        return [[rule]]
    return [[ast.unparse(factor) for factor in factors] for factors in found]


def _products(node: ast.expr, own: Collection[str]) -> list[list[ast.expr]]:
    """Return an expression as a sum of products, each a list of its factors; a sum whose variables
    one cell has, or the synapse, stays whole.
    """
    minus, one = ast.Constant(-1), ast.Constant(1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [[minus, *factors] for factors in _products(node.operand, own)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        by_one = isinstance(node.op, ast.Div)
        left = _products(node.left, own)
        right = [[ast.BinOp(one, ast.Div(), node.right)]] if by_one else _products(node.right, own)
        if len(left) * len(right) <= _MOST_TERMS:
            return [[*factors, *others] for factors in left for others in right]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        names = names_in(ast.unparse(node)).read
        holders = {"own" if name in own else name.rpartition("_")[2] for name in names}
        if len(holders & {"own", "pre", "post"}) > 1:  # what is broadcast counts for nobody
            negative = ast.UnaryOp(ast.USub(), node.right)
            right = negative if isinstance(node.op, ast.Sub) else node.right
            return [*_products(node.left, own), *_products(right, own)]
    return [[node]]


def product(factors: Iterable[str]) -> str:
    """Return the product of ``factors`` as an expression.

    >>> product(["eta", "-1", "u - v"]), product([])
    ('-eta * (u - v)', '1')
    """
    listed = [factor for factor in factors if factor != "1"]
    others = [f"({factor})" for factor in listed if factor != "-1"]
    sign = "-" * (listed.count("-1") % 2)
    return ast.unparse(ast.parse(sign + " * ".join(others or ["1"])))


def add(terms: Iterable[str]) -> str:
    """Return the sum of ``terms`` as an expression.

    >>> add(["x", "-y * z"])
    'x - y * z'
    """
    return " + ".join(terms).replace("+ -", "- ")


def silencers(expression: str) -> frozenset[str]:
    """Return the names of which any that is 0 makes ``expression`` 0.

    >>> sorted(silencers("eta * (x**2 * z - eta * x * w)"))
    ['eta', 'x']
    """
    return _zeros(ast.parse(expression, mode="eval").body)


def _zeros(node: ast.expr) -> frozenset[str]:
    match node:
        case ast.Name():
            return frozenset({node.id})
        case ast.UnaryOp():
            return _zeros(node.operand)
        case ast.BinOp(op=ast.Mult()):
            return _zeros(node.left) | _zeros(node.right)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return _zeros(node.left) & _zeros(node.right)
        case ast.BinOp(op=ast.Div()):
            return _zeros(node.left)
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int() | float() as power)) if (
            power > 0
        ):
            return _zeros(node.left)
    return frozenset()


def evaluate(expression: str, values: Mapping[str, object]):
    """Return ``expression`` in NumPy, given the ``values`` of its names (and of functions that come
    with them).
    """
    ((_, node),) = parse(expression)
    with np.errstate(all="ignore"):  # a value that is not finite is refused where it is used
        return value_of(node, {**FUNCTIONS, **CONSTANTS, **values})


def value_of(node: ast.expr, known: Mapping[str, Any]):
    """Return the value of a node of an expression: arithmetic, comparisons and calls of known
    functions.
    """
    if isinstance(node, ast.Constant):
        # Python's whole numbers have any number of digits, and powers of them may take for ever.
        return node.value if isinstance(node.value, str) else np.float64(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return known[node.id]
    values = [value_of(operand, known) for operand in operands(node)]
    if isinstance(node, ast.Call):
        return values[0](*values[1:])
    operation = node.ops[0] if isinstance(node, ast.Compare) else node.op  # type: ignore[attr-defined]
    return OPERATORS[type(operation)](*values)


def operands(node: ast.expr) -> list[ast.expr]:
    """Return what an operator works on; of a call, the function and its arguments."""
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]

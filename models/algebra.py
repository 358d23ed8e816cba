"""Algebra of expressions: whether they vanish where a name is 0, and their expansion into sums of
products.

Only sums, differences, products, quotients and powers are looked into; all else stays in one piece.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable

from biorrr.models.expressions import names_in, parsed

Whole = Callable[[Iterable[str]], bool]


@functools.cache
def assignments(code: str) -> tuple[tuple[str, str], ...]:
    """Return the statements of ``code`` as (name, expression): `v += x` is v with the expression v
    + x.

    >>> assignments("v += 2 * x")
    (('v', 'v + 2 * x'),)
    """
    return tuple((name, ast.unparse(value)) for name, value in parsed(code))


@functools.cache
def vanishes(expression: str, name: str) -> bool:
    """Return True if ``expression`` reads ``name``, and is 0 wherever that is.

    >>> vanishes("eta * (x * z - w / n)", "eta"), vanishes("eta * (x * z - w / n)", "x")
    (True, False)
    """
    return name in names_in(expression).read and _is_zero(
        ast.parse(expression, mode="eval").body, name
    )


def _is_zero(node: ast.expr, name: str) -> bool:
    """Return True if a node is 0 where ``name`` is."""
    if isinstance(node, ast.UnaryOp):
        return _is_zero(node.operand, name)
    if isinstance(node, ast.BinOp):
        left, right = _is_zero(node.left, name), _is_zero(node.right, name)
        positive = isinstance(node.right, ast.Constant) and float(node.right.value) > 0  # type: ignore[arg-type]
        if isinstance(node.op, ast.Mult):
            return left or right
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return left and right
        return left and (
            isinstance(node.op, ast.Div) or (isinstance(node.op, ast.Pow) and positive)
        )
    return isinstance(node, ast.Name) and node.id == name


def products(expression: str, whole: Whole) -> list[list[str]]:
    """Return ``expression`` as a sum of products, each a list of its factors.

    A sum stays in one piece, as a factor, where ``whole`` says so of its names.

    >>> products("eta * (x * (u - v) - w / n)", lambda names: set(names) <= {"u", "v"})
    [['eta', 'x', 'u - v'], ['eta', '-1', 'w', '1 / n']]
    """
    node = ast.parse(expression, mode="eval").body
    return [[ast.unparse(factor) for factor in factors] for factors in _products(node, whole)]


def _products(node: ast.expr, whole: Whole) -> list[list[ast.expr]]:
    minus = ast.UnaryOp(ast.USub(), ast.Constant(1))
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and not isinstance(node.operand, ast.Constant)
    ):
        return [[minus, *factors] for factors in _products(node.operand, whole)]
    if not isinstance(node, ast.BinOp):
        return [[node]]
    if isinstance(node.op, ast.Mult):
        left, right = _products(node.left, whole), _products(node.right, whole)
        return [[*one, *other] for one in left for other in right]
    if isinstance(node.op, ast.Div) and not isinstance(node.left, ast.Constant):
        inverse = ast.BinOp(ast.Constant(1), ast.Div(), node.right)
        return [[*factors, inverse] for factors in _products(node.left, whole)]
    if isinstance(node.op, (ast.Add, ast.Sub)) and not whole(names_in(ast.unparse(node)).read):
        right = _products(node.right, whole)
        if isinstance(node.op, ast.Sub):
            right = [[minus, *factors] for factors in right]
        return [*_products(node.left, whole), *right]
    return [[node]]


def product(factors: Iterable[str]) -> str:
    """Return the product of ``factors`` as an expression.

    >>> product(["eta", "u - v"]), product([])
    ('eta * (u - v)', '1')
    """
    return " * ".join(f if f.isidentifier() else f"({f})" for f in factors) or "1"

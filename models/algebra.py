"""Algebra of expressions: their value where some names are 0 or 1, and their expansion into sums of products.

Only sums, differences, products, quotients and powers are looked into; all else stays in one piece.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Mapping

from biorrr.models.expressions import names_in, parsed

Whole = Callable[[Iterable[str]], bool]


@functools.cache
def assignments(code: str) -> tuple[tuple[str, str], ...]:
    """Return the statements of ``code`` as (name, expression): `v += x` is v with the expression v + x.

    >>> assignments("v += 2 * x")
    (('v', 'v + 2 * x'),)
    """
    return tuple((name, ast.unparse(value)) for name, value, _ in parsed(code))


def code_of(assigned: Iterable[tuple[str, str]]) -> str:
    """Return the statements that :func:`assignments` takes apart.

    >>> code_of([("v", "v + 2 * x")])
    'v = v + 2 * x'
    """
    return "\n".join(f"{name} = {value}" for name, value in assigned)


def reduced(expression: str, values: Mapping[str, int]) -> str:
    """Return ``expression`` where some names have ``values``, without terms that are then 0.

    >>> reduced("(1 - onset) * v + onset * x", {"onset": 0})
    'v'
    """
    return ast.unparse(_reduced(ast.parse(expression, mode="eval").body, values))


def _reduced(node: ast.expr, values: Mapping[str, int]) -> ast.expr:
    if isinstance(node, ast.Name) and node.id in values:
        return ast.Constant(values[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = _reduced(node.operand, values)
        return operand if _is_zero(operand) else ast.UnaryOp(node.op, operand)
    if isinstance(node, ast.BinOp) and (isinstance(node.op, ast.Div) or _is_power(node)):
        left = _reduced(node.left, values)
        return left if _is_zero(left) else ast.BinOp(left, node.op, node.right)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        return node
    left, right = _reduced(node.left, values), _reduced(node.right, values)
    worth = [side.value if isinstance(side, ast.Constant) else None for side in (left, right)]
    if isinstance(node.op, ast.Mult):
        if 0 in worth:
            return ast.Constant(0)
        if worth[0] == 1 or worth[1] == 1:
            return right if worth[0] == 1 else left
    else:
        if worth[1] == 0:
            return left
        if worth[0] == 0 and isinstance(node.op, ast.Add):
            return right
        if worth == [1, 1] and isinstance(node.op, ast.Sub):
            return ast.Constant(0)
    return ast.BinOp(left, node.op, right)


def _is_power(node: ast.BinOp) -> bool:
    """Return True for a power with a positive exponent, such as x ** 2."""
    exponent = node.right.value if isinstance(node.right, ast.Constant) else None
    return isinstance(node.op, ast.Pow) and isinstance(exponent, (int, float)) and exponent > 0


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


@functools.cache
def vanishes(expression: str, name: str) -> bool:
    """Return True if ``expression`` reads ``name``, and is 0 wherever that is.

    >>> vanishes("eta * (x * z - w / n)", "eta"), vanishes("eta * (x * z - w / n)", "x")
    (True, False)
    """
    return name in names_in(expression).read and reduced(expression, {name: 0}) == "0"


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
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        return [[minus, *factors] for factors in _products(node.operand, whole)]
    if not isinstance(node, ast.BinOp):
        return [[node]]
    if isinstance(node.op, ast.Mult):
        left, right = _products(node.left, whole), _products(node.right, whole)
        return [[*one, *other] for one in left for other in right]
    if isinstance(node.op, ast.Div) and not isinstance(node.left, ast.Constant):
        inverse = ast.BinOp(ast.Constant(1), ast.Div(), node.right)
        return [[*factors, inverse] for factors in _products(node.left, whole)]
    names = (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
    if isinstance(node.op, (ast.Add, ast.Sub)) and not whole(names):
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

"""Plasticity rules: sums of terms, each a product of what a synapse, its source and its target
know.

A rule is kept as one expression, whose arithmetic stays as the user has written it. While a sample
is held, most of its factors stand still, so a circuit sums up what moves once per cell and term in
place of once per synapse (:func:`terms_of`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from biorrr.errors import InputTypeError
from biorrr.models.expressions import names_in
from biorrr.models.language import Expression, check_code
from biorrr.models.validation import check_fields

_MOST_TERMS = 16  # a rule of more is evaluated as it stands


@dataclass(frozen=True)
class Term:
    """A product that is added to a weight.

    Parameters
    ----------
    own
        A factor of what the synapse has, and of what is broadcast. One that reads the variables of
        both cells, too, is evaluated for each synapse in every tick.
    pre, post
        Factors of what the source cell has, such as "x_pre", and of what the target cell has, such
        as "z_post - s * a_post".
    """

    own: Expression = "1"
    pre: Expression = "1"
    post: Expression = "1"

    def __post_init__(self) -> None:
        check_fields(self)

    def __str__(self) -> str:
        return product((self.own, self.pre, self.post))


def check_rule(field: str, given: Any) -> str:
    """Return a rule as one expression, given as such or as terms; empty if it changes nothing."""
    if isinstance(given, str):
        return given and check_code(field, given)
    terms = (given,) if isinstance(given, Term) else given
    if not isinstance(terms, Sequence) or not all(isinstance(term, Term) for term in terms):
        raise InputTypeError(
            f"{field}: must be text in the language of equations, or Term(...) for each product"
            f" (got {given!r})"
        )
    return add(map(str, terms))


RuleText = Annotated[str, check_rule]


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


def _owners(text: str, own: Collection[str]) -> set[str]:
    """Return who has the variables that ``text`` reads: "pre", "post" or "own"; what is broadcast
    counts for nobody.
    """
    ends = {name: name.rpartition("_")[2] for name in names_in(text).read}
    sides = {end for end in ends.values() if end in ("pre", "post")}
    return sides | ({"own"} if any(name in own for name in ends) else set())


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
    several = len(_owners(ast.unparse(node), own)) > 1
    if several and isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        right = _products(node.right, own)
        if isinstance(node.op, ast.Sub):
            right = [[minus, *factors] for factors in right]
        return [*_products(node.left, own), *right]
    return [[node]]


def product(factors: Iterable[str]) -> str:
    """Return the product of ``factors`` as an expression.

    >>> product(["eta", "-1", "u - v"]), product([])
    ('-eta * (u - v)', '1')
    """
    listed = [factor for factor in factors if factor != "1"]
    nodes = [ast.parse(factor, mode="eval").body for factor in listed if factor != "-1"]
    whole, *others = nodes or [ast.Constant(1)]
    if listed.count("-1") % 2:
        whole = ast.UnaryOp(ast.USub(), whole)
    for node in others:
        whole = ast.BinOp(whole, ast.Mult(), node)
    return ast.unparse(whole)


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
    if isinstance(node, ast.Name):
        return frozenset({node.id})
    if isinstance(node, ast.UnaryOp):
        return _zeros(node.operand)
    if not isinstance(node, ast.BinOp):
        return frozenset()
    left, right = _zeros(node.left), _zeros(node.right)
    if isinstance(node.op, ast.Mult):
        return left | right
    if isinstance(node.op, (ast.Add, ast.Sub)):
        return left & right
    power = isinstance(node.op, ast.Pow)
    positive = isinstance(node.right, ast.Constant) and float(node.right.value) > 0  # type: ignore[arg-type]
    return left if isinstance(node.op, ast.Div) or (power and positive) else frozenset()

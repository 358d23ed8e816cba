"""Plasticity rules: sums of terms, each a product of what a synapse, its source and its target
know.

While a sample is held, most of these factors stand still. Since a rule says what belongs to which
cell, a circuit can sum up what moves once per cell and term in place of once per synapse.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from biorrr.errors import InputTypeError
from biorrr.models.expressions import names_in, renamed
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

    @property
    def factors(self) -> tuple[str, ...]:
        """All its factors, as expressions."""
        return tuple(f for f in (*factors_of(self.own), self.pre, self.post) if f != "1")

    def __str__(self) -> str:
        return product(self.factors)


@dataclass(frozen=True)
class Rule:
    """A plasticity rule; as text it is one expression, and empty if it changes nothing.

    Parameters
    ----------
    terms
        The products of which it is the sum.
    text
        The same as the user has written it, whose arithmetic stays as it stands; that of the terms
        unless given.
    """

    terms: tuple[Term, ...] = ()
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __str__(self) -> str:
        return self.text or add(map(str, self.terms))

    def times(self, factor: str) -> Rule:
        """Return the rule multiplied by ``factor``, which the synapse knows."""
        terms = (replace(t, own=product((factor, *factors_of(t.own)))) for t in self.terms)
        return Rule(tuple(terms), self.text and f"{factor} * ({self.text})")

    def plus(self, term: Term) -> Rule:
        """Return the rule with one more term."""
        return Rule((*self.terms, term), self.text and add((self.text, str(term))))

    def reading(self, names: Mapping[str, str]) -> Rule:
        """Return the rule with other names in place of those that ``names`` lists."""
        terms = (Term(*(renamed(f, names) for f in (t.own, t.pre, t.post))) for t in self.terms)
        return Rule(tuple(terms), self.text and renamed(self.text, names))


def check_rule(field: str, given: Any) -> Any:
    """Return ``given`` if it is a rule: terms, or one expression."""
    if isinstance(given, str):
        return given and check_code(field, given)
    terms = (given,) if isinstance(given, Term) else given
    if isinstance(terms, Sequence) and all(isinstance(term, Term) for term in terms):
        return Rule(tuple(terms))
    if not isinstance(given, Rule):
        raise InputTypeError(
            f"{field}: must be text in the language of equations, or Term(...) for each product"
            f" (got {given!r})"
        )
    return given


GivenRule = Annotated[Any, check_rule]


def as_rule(text: str, own: Collection[str]) -> Rule:
    """Return the rule that ``text`` writes as one expression; ``own`` are the synapse's variables.

    What is no sum of products is a single term.

    >>> [str(t) for t in as_rule("eta * (x_pre * (u_post - v_post) - w / n)", {"w"}).terms]
    ['eta * x_pre * (u_post - v_post)', '-eta * w * (1 / n)']
    """
    found = _products(ast.parse(text, mode="eval").body, own) if text else []
    terms = []
    for factors in map(list, found):
        texts = [ast.unparse(factor) for factor in factors]
        alone = {side: [t for t in texts if _owners(t, own) == {side}] for side in ("pre", "post")}
        rest = [t for t in texts if _owners(t, own) not in ({"pre"}, {"post"})]
        terms.append(Term(*map(product, (rest, *alone.values()))))
    return Rule((Term(text),) if len(terms) > _MOST_TERMS else tuple(terms), text)


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


def factors_of(expression: str) -> tuple[str, ...]:
    """Return the factors of ``expression`` as expressions.

    >>> factors_of("-w * (x_pre - 1)")
    ('-1', 'w', 'x_pre - 1')
    """
    node = ast.parse(expression, mode="eval").body
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return ("-1", *factors_of(ast.unparse(node.operand)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return (*factors_of(ast.unparse(node.left)), *factors_of(ast.unparse(node.right)))
    return (expression,)


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

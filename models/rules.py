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

from biorrr.errors import InputError, InputTypeError
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
        A factor of the synapse's own variables and of what is broadcast. One that reads the
        variables of both cells, too, is evaluated for each synapse in every tick.
    pre, post
        Factors of variables of the source cell, such as "x_pre", and of the target cell, such as
        "z_post - s * a_post"; they may also read what is broadcast.
    """

    own: Expression = "1"
    pre: Expression = "1"
    post: Expression = "1"

    def __post_init__(self) -> None:
        check_fields(self)
        for field, other in (("pre", "_post"), ("post", "_pre")):
            wrong = [name for name in names_in(getattr(self, field)).read if name.endswith(other)]
            if wrong:
                raise InputError(
                    f"Term.{field}: must read variables of one cell (got {wrong[0]}, which the"
                    " other has); write a factor of both in own"
                )

    @property
    def sides(self) -> tuple[str, str]:
        """Its factors of the source and of the target cell."""
        return self.pre, self.post

    @property
    def factors(self) -> tuple[str, ...]:
        """All its factors, as expressions."""
        parts = [factors_of(part) for part in (self.own, self.pre, self.post)]
        return tuple(factor for part in parts for factor in part if factor != "1")

    def __str__(self) -> str:
        return product(self.factors)


@dataclass(frozen=True)
class Rule:
    """A plasticity rule, False if it changes nothing; as text it is one expression.

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
        return self.text or (add(map(str, self.terms)) if self.terms else "")

    def times(self, factor: str) -> Rule:
        """Return the rule multiplied by ``factor``, which the synapse knows."""
        terms = tuple(
            replace(t, own=product((factor, *(f for f in factors_of(t.own) if f != "1"))))
            for t in self.terms
        )
        return Rule(terms, self.text and f"{factor} * ({self.text})")

    def plus(self, term: Term) -> Rule:
        """Return the rule with one more term."""
        return Rule((*self.terms, term), self.text and add((self.text, str(term))))

    def reading(self, names: Mapping[str, str]) -> Rule:
        """Return the rule with other names in place of those that ``names`` lists."""
        terms = tuple(
            Term(*(renamed(part, names) for part in (t.own, t.pre, t.post))) for t in self.terms
        )
        return Rule(terms, self.text and renamed(self.text, names))


def check_rule(field: str, given: Any) -> Any:
    """Return ``given`` if it is a rule: terms, or one expression."""
    if isinstance(given, (str, Rule)):
        return check_code(field, given) if given and isinstance(given, str) else given
    terms = (given,) if isinstance(given, Term) else given
    if not isinstance(terms, Sequence) or not all(isinstance(term, Term) for term in terms):
        raise InputTypeError(
            f"{field}: must be text in the language of equations, or Term(...) for each product"
            f" (got {given!r})"
        )
    return Rule(tuple(terms))


GivenRule = Annotated[Any, check_rule]


def add(terms: Iterable[str]) -> str:
    """Return the sum of ``terms`` as an expression.

    >>> add(["x", "-y * z"])
    'x - y * z'
    """
    first, *others = terms
    return first + "".join(f" - {o[1:]}" if o.startswith("-") else f" + {o}" for o in others)


def as_rule(text: str, own: Collection[str]) -> Rule:
    """Return the rule that ``text`` writes as one expression; ``own`` are the synapse's variables.

    What is no sum of products is a single term.

    >>> [str(t) for t in as_rule("eta * (x_pre * (u_post - v_post) - w / n)", {"w"}).terms]
    ['eta * x_pre * (u_post - v_post)', '-eta * w * (1 / n)']
    """
    if not text:
        return Rule()
    found = _products(ast.parse(text, mode="eval").body, own)
    whole = len(found) > _MOST_TERMS
    return Rule((Term(text),) if whole else tuple(_term(f, own) for f in found), text)


def _term(factors: list[ast.expr], own: Collection[str]) -> Term:
    """Return the product of ``factors`` as a term."""
    sides: dict[str, list[str]] = {"own": [], "pre": [], "post": []}
    for factor in factors:
        text = ast.unparse(factor)
        sides[_side(text, own) or "own"].append(text)
    return Term(*map(product, sides.values()))


def _side(text: str, own: Collection[str]) -> str:
    """Return "pre" or "post" for what one cell knows, "own" for what the synapse does; empty for
    what is of several.
    """
    read = names_in(text).read
    sides = {side for name in read for side in ("pre", "post") if name.endswith(f"_{side}")}
    if sides and any(name in own for name in read):
        return ""
    return "" if len(sides) > 1 else next(iter(sides), "own")


def _products(node: ast.expr, own: Collection[str]) -> list[list[ast.expr]]:
    """Return an expression as a sum of products, each a list of its factors; a sum that one side
    knows stays whole.
    """
    minus = ast.UnaryOp(ast.USub(), ast.Constant(1))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        if isinstance(node.operand, ast.Constant):
            return [[node]]
        return [[minus, *factors] for factors in _products(node.operand, own)]
    if not isinstance(node, ast.BinOp):
        return [[node]]
    if isinstance(node.op, ast.Mult):
        left, right = _products(node.left, own), _products(node.right, own)
        if len(left) * len(right) > _MOST_TERMS:
            return [[node]]
        return [[*one, *other] for one in left for other in right]
    if isinstance(node.op, ast.Div) and not isinstance(node.left, ast.Constant):
        inverse = ast.BinOp(ast.Constant(1), ast.Div(), node.right)
        return [[*factors, inverse] for factors in _products(node.left, own)]
    if isinstance(node.op, (ast.Add, ast.Sub)) and not _side(ast.unparse(node), own):
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
    listed = list(factors)
    nodes = [ast.parse(factor, mode="eval").body for factor in listed if factor != "-1"]
    first, *others = nodes or [ast.Constant(1)]
    whole = ast.UnaryOp(ast.USub(), first) if listed.count("-1") % 2 else first
    for node in others:
        whole = ast.BinOp(whole, ast.Mult(), node)
    return ast.unparse(whole)


def factors_of(expression: str) -> tuple[str, ...]:
    """Return the factors of ``expression`` as expressions; powers of a product are products of
    powers.

    >>> factors_of("-w * (x_pre - 1)"), factors_of("(w * x_pre)**2")
    (('-1', 'w', 'x_pre - 1'), ('w ** 2', 'x_pre ** 2'))
    """
    return tuple(map(ast.unparse, _factors(ast.parse(expression, mode="eval").body)))


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        if isinstance(node.operand, ast.Constant):
            return [node]
        return [ast.UnaryOp(ast.USub(), ast.Constant(1)), *_factors(node.operand)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return [ast.BinOp(factor, ast.Pow(), node.right) for factor in _factors(node.left)]
    return [node]


def silencers(products: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return the names of which any that is 0 makes all ``products`` 0; each is given by its
    factors.

    >>> sorted(silencers([["eta", "x**2"], ["-1", "eta", "x", "w"]]))
    ['eta', 'x']
    """
    found = [{name for factor in factors if (name := _base(factor))} for factors in products]
    return frozenset.intersection(*map(frozenset, found)) if found else frozenset()


def _base(factor: str) -> str:
    """Return the name without which ``factor`` is 0; empty if there is none."""
    node = ast.parse(factor, mode="eval").body
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = node.right
        positive = isinstance(exponent, ast.Constant) and float(exponent.value) > 0  # type: ignore[arg-type]
        node = node.left if positive else node
    return node.id if isinstance(node, ast.Name) else ""

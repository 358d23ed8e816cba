"""The language of equations: its functions and names, and checks that a piece of code means the
same on every engine.

It has real numbers, names, + - * / // % **, calls of functions and, as the argument of int(...),
comparisons of two values. A statement is an assignment to one name, with = += -= *= or /=. The
types at the end declare fields that hold such code (:func:`biorrr.models.validation.check_fields`).
"""

from __future__ import annotations

import ast
import keyword
import math
import numbers
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from biorrr.errors import InputError, InputTypeError
from biorrr.models.expressions import (
    CONSTANTS,
    FUNCTIONS,
    OPERATORS,
    add,
    operands,
    parse,
    product,
    value_of,
)
from biorrr.models.validation import Checked

_DEEPEST = 120  # levels of an expression; Brian2 takes expressions apart recursively
_TOO_DEEP = f"must be nested at most {_DEEPEST} deep (got more levels)"
_ARGUMENTS = {
    "clip": 3,
    "uniform_draw": 4,
    "gaussian_draw": 4,
    "poisson_draw": 5,
}  # one for all others

# Brian2's variables of every group, its functions that differ between engines, and names that mean
# a number there.
_BRIAN2 = re.compile(
    "t|dt|N|xi|t_in_timesteps|refractory|not_refractory|refractory_until|lastspike|e|E|I|rand|"
    r"randn|poisson|exprel|timestep|xi_\w*"
)
_UNIT = re.compile(
    "(?:[yzafpnumcdhkMGTPEZY]|da)?(?:amp|ampere|becquerel|candle|coulomb|farad|gram|gramme|gray|henry|hertz|Hz|joule|"
    "katal|kelvin|kilogram|kilogramme|liter|litre|lumen|lux|meter|metre|mol|molar|mole|newton|ohm|pascal|radian|"
    "second|siemens|sievert|steradian|tesla|volt|watt|weber)[23]?|[mnu][AM]|[mu]V|[mu]s|[num]S|[pnu]F|pA|[cmu]m[23]?"
)
# Words of C++, and macros of the C library.
_COMPILED = re.compile(
    "alignas|alignof|and_eq|asm|auto|bitand|bitor|bool|case|catch|char|char16_t|char32_t|compl|"
    "const|constexpr|const_cast|decltype|default|delete|do|double|dynamic_cast|enum|explicit|"
    "export|extern|false|float|friend|goto|inline|int|long|mutable|namespace|new|noexcept|not_eq|"
    "nullptr|operator|or_eq|private|protected|public|register|reinterpret_cast|restrict|short|"
    "signed|sizeof|static|static_assert|static_cast|struct|switch|template|this|thread_local|"
    "throw|true|typedef|typeid|typename|typeof|union|unsigned|using|virtual|void|volatile|"
    r"wchar_t|xor|xor_eq|errno|stdin|stdout|stderr|NULL|NAN|INFINITY|EOF|std|main|M_\w*|_\w*"
)


def other_meaning(name: str, variable: bool = True) -> str:
    """Return the meaning of ``name`` for which no ``variable``, or no part, can have it; empty if
    there is none.
    """
    if variable and _BRIAN2.fullmatch(name):
        return "a name that Brian2 uses itself"
    if variable and _UNIT.fullmatch(name):
        return "a unit"
    if name in FUNCTIONS or name in CONSTANTS:
        return "a function or a constant of the language"
    taken = _COMPILED.fullmatch(name) or keyword.iskeyword(name)
    return "a word of Python or of C++" if taken else ""


def check_name(field: str, name: object, variable: bool = False) -> str:
    """Return ``name`` if it can be that of a part or of a matrix of weights, or of a
    ``variable``.
    """
    if not isinstance(name, str):
        raise InputTypeError(f"{field}: must be text (got {name!r})")
    if not (name.isidentifier() and name.isascii()):
        raise InputError(
            f"{field}: must be a name without spaces (got {name!r}); letters, digits and _"
        )
    if meaning := other_meaning(name, variable):
        raise InputError(
            f"{field}: must be a name without another meaning (got {name!r}, {meaning})"
        )
    return name


def check_code(
    field: str, code: object, statements: bool = False, further: tuple[str, ...] = ()
) -> str:
    """Return ``code`` if it is in the language: an expression, or ``statements``.

    Parameters
    ----------
    field
        The name by which errors refer to the code.
    code
        What was given.
    statements
        True where ``code`` must be statements.
    further
        Functions of one argument that the code may call beyond those of the language.
    """
    if not isinstance(code, str):
        raise InputTypeError(f"{field}: must be text in the language of equations (got {code!r})")
    try:
        lines = parse(code)
        if not statements and (len(lines) != 1 or "#" in code):
            raise InputError(f"must be one expression, without a comment (got {code[:80]!r})")
        for name, value in lines:
            if name and not statements:
                raise InputError(
                    f"must be an expression, not a statement (it assigns to {name}); what is added"
                    " to w is written without 'w +='"
                )
            if statements and not name:
                raise InputError(f"must assign to a name in every statement (got {_quote(value)})")
            if name in ("i", "j") or (name and other_meaning(name)):
                raise InputError(
                    f"assigns to {name}, which is {other_meaning(name) or 'a number of a cell'}"
                )
            _check(value, further)
    except InputError as error:
        raise InputError(f"{field}: {error}") from None
    except RecursionError:
        raise InputError(f"{field}: {_TOO_DEEP}") from None
    return code


def _quote(node: ast.AST) -> str:
    """Return the code of ``node`` as errors quote it."""
    text = ast.unparse(node)
    return repr(text if len(text) <= 80 else f"{text[:80]}...")


def _check(node: ast.expr, further: tuple[str, ...], depth: int = 0) -> float | None:
    """Check a tree; return its value if it consists of numbers alone, else None."""
    if depth > _DEEPEST:
        raise InputError(_TOO_DEEP)
    match node:
        case ast.Constant(value=number):
            if type(number) not in (int, float) or not abs(number) <= sys.float_info.max:  # type: ignore[arg-type]
                raise InputError(
                    f"must consist of real numbers of double precision (got {_quote(node)})"
                )
            return float(number)  # type: ignore[arg-type]
        case ast.Name(id=name):
            if (meaning := other_meaning(name)) and name not in CONSTANTS:
                raise InputError(
                    f"reads {name}, which is {meaning}; a variable must have another name"
                )
            return CONSTANTS.get(name)
        case ast.UnaryOp(op=operator) | ast.BinOp(op=operator) if type(operator) in OPERATORS:
            parts, known = operands(node), True
        case ast.Call(func=ast.Name(id=name)):
            parts, known = _arguments(node, name, further), name in FUNCTIONS
        case ast.Compare():
            raise InputError(
                f"compares where a number is needed (got {_quote(node)}); write int(a > b), 1 or 0"
            )
        case _:
            raise InputError(f"must be arithmetic or a call of a function (got {_quote(node)})")
    worth = [_check(part, further, depth + 1) for part in parts]
    if len(worth) == 3 and None not in worth[1:] and worth[1] > worth[2]:  # type: ignore[operator]
        raise InputError(f"clip: must have its lower bound first (got {_quote(node)})")
    value = None
    if known and None not in worth:
        with np.errstate(all="ignore"):
            value = float(np.ravel(value_of(node, {**FUNCTIONS, **CONSTANTS}))[0])
    dividing = isinstance(getattr(node, "op", None), (ast.Div, ast.FloorDiv, ast.Mod))
    overflows = value is not None and not math.isfinite(value) and all(map(math.isfinite, worth))  # type: ignore[arg-type]
    if overflows or (dividing and worth[1] == 0):
        raise InputError(f"must have a finite value (got {_quote(node)})")
    return value


def _arguments(call: ast.Call, function: str, further: tuple[str, ...]) -> list[ast.expr]:
    """Return the arguments of a call that must be numbers, after a check of the function and of
    their number.
    """
    if function not in FUNCTIONS and function not in further:
        raise InputError(
            f"calls {function}, which is not a function; there are"
            f" {', '.join((*FUNCTIONS, *further))}"
        )
    wanted = _ARGUMENTS.get(function, 1)
    if (
        call.keywords
        or len(call.args) != wanted
        or any(isinstance(each, ast.Starred) for each in call.args)
    ):
        raise InputError(
            f"{function}: must have {wanted} argument{'s' * (wanted > 1)} (got {_quote(call)})"
        )
    first, *_ = call.args
    if function == "cells":
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            raise InputError(
                f"cells: must have the name of a population, in quotes (got {_quote(call)})"
            )
        return []
    if function == "int" and isinstance(first, ast.Compare):
        if len(first.ops) != 1 or type(first.ops[0]) not in OPERATORS:
            raise InputError(
                f"must compare two values (got {_quote(first)}); multiply comparisons instead"
            )
        return [first.left, *first.comparators]
    return call.args


def _check_value(field: str, value: Any) -> Any:
    """Return ``value`` if it is a number, a Brian2 quantity, or an expression that is evaluated
    before a run.
    """
    if isinstance(value, str):
        return check_code(field, value, further=("cells", "relaxation"))
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    finite = number and (abs(value) <= sys.float_info.max or abs(value) == np.inf)
    if not finite and not hasattr(value, "dim"):
        raise InputTypeError(f"{field}: must be a number or an expression (got {value!r})")
    return value


Expression = Annotated[str, check_code]
OptionalExpression = Annotated[
    str, lambda field, code: code if isinstance(code, str) and not code else check_code(field, code)
]
Statements = Annotated[str, partial(check_code, statements=True)]
Value = Annotated[float | str, _check_value]


@dataclass(frozen=True)
class Term(Checked):
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

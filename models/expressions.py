"""Expressions and statements in Brian2's equation language: what they read, and what they are worth in NumPy.

The language is a subset of Python's, so Python's own parser reads it; no text is ever searched or cut.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biorrr.errors import InputError, InputTypeError
from biorrr.models import random_draws

CONSTANTS = ("inf", "pi")
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda base, exponent: _power(base, exponent),
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


_IN_PLACE = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_ARGUMENTS = {"clip": 3, "uniform_draw": 4, "gaussian_draw": 4, "poisson_draw": 5}  # one for all others
# Names that compiled engines cannot use: words of C++ and Cython, and macros of the C library.
_COMPILED = frozenset(
    {
        "alignas", "alignof", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "case", "catch", "cdef", "char",
        "char16_t", "char32_t", "compl", "const", "constexpr", "const_cast", "cpdef", "cimport", "ctypedef", "decltype",
        "default", "delete", "do", "double", "dynamic_cast", "enum", "explicit", "export", "extern", "false", "float",
        "friend", "goto", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not_eq", "nullptr",
        "operator", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "restrict", "short",
        "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
        "thread_local", "throw", "true", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using",
        "virtual", "void", "volatile", "wchar_t", "xor", "xor_eq", "errno", "stdin", "stdout", "stderr", "NULL", "NAN",
        "INFINITY", "EOF", "std", "main", "True", "False", "None",
    }
)  # fmt: skip


_BRIAN2 = ("t", "dt", "N", "xi", "t_in_timesteps")  # variables that Brian2 gives to every group
_DEEPEST = 120  # levels of an expression; Brian2 takes expressions apart recursively


def taken(name: str) -> bool:
    """Return True if variables cannot have ``name``, because it means something else in one of the engines."""
    return name in _COMPILED or name in FUNCTIONS or name in CONSTANTS or name.startswith(("M_", "_"))


def check_code(name: str, code: object, statements: bool = False) -> None:
    """Refuse ``code`` that is not in the language of equations, which means the same on every engine.

    The language has numbers, names, + - * / // % **, calls of functions and, as the argument of int(...), comparisons
    of two values. A statement is an assignment to one name, with = += -= *= or /=.

    Parameters
    ----------
    name
        The name by which errors speak of the code.
    code
        An expression.
    statements
        True where ``code`` is statements.
    """
    if not isinstance(code, str):
        raise InputTypeError(f"{name}: must be text in the language of equations (got {code!r})")
    try:
        lines = _parsed(code)
        if not statements and "#" in code:
            raise ValueError(f"must have no comment (got {code!r})")
        for line in lines:
            if _depth(line) > _DEEPEST:
                raise ValueError(f"must be nested at most {_DEEPEST} deep (got {code.strip()[:40]!r}...)")
            if not isinstance(line, ast.Expr):
                _check_target(line)
            elif statements:
                raise ValueError(f"must assign to a name in every statement (got {ast.unparse(line)!r})")
            _check_value(line.value)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    except RecursionError:
        raise InputError(f"{name}: must be shorter (got {len(code)} characters, nested too deeply)") from None
    if not statements and len(lines) != 1:
        raise InputError(f"{name}: must be one expression (got {code!r})")


def _depth(node: ast.AST) -> int:
    """Return the number of levels below ``node``."""
    depth, level = 0, list(ast.iter_child_nodes(node))
    while level:
        depth, level = depth + 1, [child for parent in level for child in ast.iter_child_nodes(parent)]
    return depth


def _check_target(line: ast.Assign | ast.AugAssign) -> None:
    """Check the left side of a statement."""
    if isinstance(line, ast.AugAssign) and not isinstance(line.op, _IN_PLACE):
        plain = ast.unparse(ast.BinOp(line.target, line.op, line.value))
        raise ValueError(
            f"must assign with = += -= *= or /= (got {ast.unparse(line)!r}); write {ast.unparse(line.target)} = {plain}"
        )
    if len(_assigned(line)) > 1:
        raise ValueError(f"must assign to one name in a statement (got {ast.unparse(line)!r})")
    for target in _assigned(line):
        if taken(target) or target in _BRIAN2:
            raise ValueError(f"assigns to {target}, which has a meaning already; use another name")


def _check_value(node: ast.expr) -> None:
    """Check that a tree is an expression of the language, with a number as its value."""
    if isinstance(node, ast.Constant):
        number = node.value if type(node.value) in (int, float) else None
        if number is None or not abs(number) <= sys.float_info.max:  # type: ignore[arg-type]
            raise ValueError(f"must consist of real numbers of double precision (got {ast.unparse(node)[:40]})")
    elif isinstance(node, ast.Name):
        if node.id in _COMPILED or node.id.startswith("M_"):
            raise ValueError(f"reads {node.id}, which is no name of a variable; use another name")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        _check_value(node.operand)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        _check_value(node.left)
        _check_value(node.right)
        by_zero = isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)) and _number(node.right) == 0
        if by_zero or not _finite(node):
            raise ValueError(f"must have a finite value (got {ast.unparse(node)!r})")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        _check_call(node, node.func.id)
    elif isinstance(node, ast.Compare):
        raise ValueError(f"compares where a number is needed (got {ast.unparse(node)!r}); write int(a > b), 1 or 0")
    else:
        raise ValueError(
            f"must be arithmetic or a call of a function (got {ast.unparse(node)!r}); the language of equations has "
            "no others"
        )


def _check_call(call: ast.Call, function: str) -> None:
    """Check the arguments of a call."""
    arguments = list(call.args)
    wanted = _ARGUMENTS.get(function, 1)
    if call.keywords or (function in FUNCTIONS and len(arguments) != wanted):
        raise ValueError(f"{function}: must have {wanted} argument{'s' * (wanted > 1)} (got {ast.unparse(call)!r})")
    if function == "cells" and len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
        return  # the name of a population
    if function == "int" and isinstance(arguments[0], ast.Compare):
        compared = arguments[0]
        if len(compared.ops) != 1 or type(compared.ops[0]) not in _OPERATORS:
            raise ValueError(f"must compare two values (got {ast.unparse(compared)!r}); multiply comparisons instead")
        arguments = [compared.left, *compared.comparators]
    for argument in arguments:
        _check_value(argument)
    if function == "clip":
        bounds = [_number(argument) for argument in arguments[1:]]
        if None not in bounds and bounds[0] > bounds[1]:  # type: ignore[operator]
            raise ValueError(f"clip: must have its lower bound first (got {ast.unparse(call)!r})")


def _number(node: ast.expr) -> float | None:
    """Return the number that ``node``, arithmetic of numbers alone, is worth; None for all else."""
    try:
        return float(_value(node, {"inf": np.inf, "pi": np.pi}))
    except (KeyError, ValueError, ArithmeticError):
        return None


def _finite(node: ast.expr) -> bool:
    """Return False if ``node`` is arithmetic of numbers alone, without the name inf, and not finite."""
    number = _number(node)
    named = any(isinstance(part, ast.Name) for part in ast.walk(node))
    return number is None or named or math.isfinite(number)


def _power(base, exponent):
    """Return a power in double precision: powers of whole numbers may have any number of digits."""
    if isinstance(base, (int, float)):
        with np.errstate(all="ignore"):
            return np.float64(base) ** exponent
    return base**exponent


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
    except (MemoryError, RecursionError, ValueError) as error:  # nested too deeply, or not text
        raise ValueError(f"cannot be read ({error or 'nested too deeply'}): {code.strip()[:40]!r}...") from None
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

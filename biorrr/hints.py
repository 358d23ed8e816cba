"""Hints at what the user may have meant, to end an error with."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from inspect import Parameter
from typing import Any, TypeVar

from biorrr.errors import InputTypeError

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a hint at the known name that is most like ``name``, to end a clause with; nothing
    where none is.
    """
    near = difflib.get_close_matches(name, [*known], n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""


def did_you_transpose(x: tuple[int, ...], y: tuple[int, ...]) -> str:
    """Return a hint at which of X and Y to transpose, given their shapes ``x`` and ``y``, so that
    both have a row for each sample; nothing where that does not help.
    """
    if len(x) != 2 or len(y) != 2:
        return ""
    single = [name for name, fits in (("X.T", x[1] == y[0]), ("Y.T", y[1] == x[0])) if fits]
    if single:
        return f"; did you mean {' or '.join(single)}?"
    return "; did you mean X.T and Y.T?" if x[1] == y[1] else ""


def _check_keywords(called: str, given: Iterable[str], parameters: Iterable[Parameter]) -> None:
    """Raise for a keyword ``given`` to what is ``called`` that is none of its ``parameters``."""
    known = {parameter.name: parameter.kind for parameter in parameters}
    for name in given:
        if name not in known and Parameter.VAR_KEYWORD not in known.values():
            remedy = did_you_mean(name, known) or f"; it takes {', '.join(known)}"
            raise InputTypeError(f"{name}: is no argument of {called}{remedy}")


def hints_at_keywords(function: F) -> F:
    """Return ``function``, or method, with an error for an unknown keyword that hints at the one
    that was meant.
    """
    called = function.__qualname__.rpartition(".")[2]
    parameters = [
        one for one in inspect.signature(function).parameters.values() if one.name != "self"
    ]

    @functools.wraps(function)
    def checked(*args, **keywords):
        _check_keywords(called, keywords, parameters)
        return function(*args, **keywords)

    return checked  # type: ignore[return-value]


def hints_in_methods(cls: type[T]) -> type[T]:
    """Return ``cls``, each of whose public methods hints at the keyword that was meant."""
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(cls, name, hints_at_keywords(method))
    return cls


class HintsAtKeywords:
    """Base of classes whose constructor hints at the keyword that was meant."""

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        """Return an instance that is still to be initialised."""
        if cls.__init__ is object.__init__ and (args or keywords):
            raise InputTypeError(f"{cls.__name__}: takes no arguments")
        if keywords:
            parameters = _parameters(cls)  # type: ignore[arg-type]  # a class can be hashed
            _check_keywords(cls.__name__, keywords, parameters)
        return super().__new__(cls)


@functools.cache
def _parameters(cls: type) -> tuple[Parameter, ...]:
    """Return the parameters of a constructor."""
    return tuple(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]

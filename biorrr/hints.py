"""Hints at what the user may have meant, to end an error with."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from biorrr.errors import InputTypeError

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


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


def hints_at_keywords(function: F) -> F:
    """Return the method ``function`` with an error for an unknown keyword that hints at the one
    that was meant.
    """
    called = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    _, *known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*args, **keywords):
        for name in keywords:
            if name not in known:
                remedy = did_you_mean(name, known) or f"; it takes {', '.join(known)}"
                raise InputTypeError(f"{name}: is no argument of {called}{remedy}")
        return function(*args, **keywords)

    return checked  # type: ignore[return-value]


def hints_at_fields(cls: C) -> C:
    """Return the class ``cls``, whose constructor hints at the keyword that was meant."""
    cls.__init__ = hints_at_keywords(cls.__init__)  # type: ignore[misc]
    return cls

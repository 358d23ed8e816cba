"""Checks of single values with the error text they share, and types of fields that are checked by them."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, get_origin, get_type_hints

LARGEST_WHOLE = 2**53  # above it floating point, which counts samples and seeds, has gaps


def whole_number(name: str, value, minimum: int, remedy: str = "") -> int:
    """Return ``value`` as an int, at least ``minimum``, and such that floating point holds it exactly."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name}: must be a whole number, at least {minimum} (got {value!r}){remedy}")
    if int(value) > LARGEST_WHOLE:
        raise ValueError(f"{name}: must be a whole number, at most 2**53 (got {value!r})")
    return int(value)


def truth(name: str, value) -> bool:
    """Return ``value``, if it is True or False."""
    if type(value).__name__ not in ("bool", "bool_"):  # Python's, or NumPy's by either of its names
        raise TypeError(f"{name}: must be True or False (got {value!r})")
    return bool(value)


def number_within(name: str, value, low: float, high: float = math.inf, remedy: str = "") -> float:
    """Return ``value`` as a finite float in [low, high]."""
    span = f"lie in [{low:g}, {high:g}]" if math.isfinite(high) else f"be finite and at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: must be a number (got {value!r}){remedy}")
    if not (math.isfinite(value) and low <= float(value) <= high):
        raise ValueError(f"{name}: must {span} (got {value:g}){remedy}")
    return float(value)


def one_of(name: str, value, choices) -> str:
    """Return ``value``, if it is one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{name}: must be one of {', '.join(map(repr, choices))} (got {value!r})")
    return value


def instance_of(name: str, value, *classes: type):
    """Return ``value``, if it is an object of one of ``classes``."""
    if not isinstance(value, classes):
        choices = ", ".join(f"{cls.__name__}(...)" for cls in classes)
        raise TypeError(f"{name}: must be one of {choices} (got {value!r})")
    return value


NotNegative = Annotated[float, partial(number_within, low=0)]
Positive = Annotated[float, partial(number_within, low=math.ulp(0))]
Probability = Annotated[float, partial(number_within, low=0, high=1)]
Count = Annotated[int, partial(whole_number, minimum=0)]
PositiveCount = Annotated[int, partial(whole_number, minimum=1)]


def check_fields(value: object) -> None:
    """Check the fields of a frozen dataclass whose types are annotated with checks, and keep what these return.

    A check takes the name by which errors refer to the field, and its value.

    >>> import dataclasses
    >>> Noise = dataclasses.make_dataclass("Noise", [("sigma", NotNegative)], frozen=True)
    >>> check_fields(Noise(-1))
    Traceback (most recent call last):
        ...
    ValueError: Noise.sigma: must be finite and at least 0 (got -1)
    """
    for name, checks in _checks(type(value)).items():  # type: ignore[arg-type]  # a class is hashable
        for check in checks:
            object.__setattr__(value, name, check(f"{type(value).__name__}.{name}", getattr(value, name)))


@functools.cache
def _checks(cls: type) -> dict[str, tuple[Callable[[str, Any], Any], ...]]:
    hints = get_type_hints(cls, include_extras=True)
    return {name: hint.__metadata__ for name, hint in hints.items() if get_origin(hint) is Annotated}

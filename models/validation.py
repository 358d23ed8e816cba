"""Checks of single numbers, with the error text they share."""

from __future__ import annotations

import math
import numbers

LARGEST_WHOLE = 2**53  # above it floating point, which counts samples and seeds, has gaps


def whole_number(name: str, value, minimum: int, remedy: str = "") -> int:
    """``value`` as an int, at least ``minimum``, and such that floating point holds it exactly."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name}: must be a whole number, at least {minimum} (got {value!r}){remedy}")
    if int(value) > LARGEST_WHOLE:
        raise ValueError(f"{name}: must be a whole number, at most 2**53 (got {value!r})")
    return int(value)


def truth(name: str, value) -> bool:
    """``value``, if it is True or False."""
    if type(value).__name__ not in ("bool", "bool_"):  # Python's, or NumPy's by either of its names
        raise TypeError(f"{name}: must be True or False (got {value!r})")
    return bool(value)


def number_within(name: str, value, low: float, high: float = math.inf, remedy: str = "") -> float:
    """``value`` as a finite float in [low, high]."""
    span = f"lie in [{low:g}, {high:g}]" if math.isfinite(high) else f"be finite and at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: must be a number (got {value!r}){remedy}")
    if not (math.isfinite(value) and low <= float(value) <= high):
        raise ValueError(f"{name}: must {span} (got {value:g}){remedy}")
    return float(value)


def one_of(name: str, value, choices) -> str:
    """``value``, if it is one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{name}: must be one of {', '.join(map(repr, choices))} (got {value!r})")
    return value


def instance_of(name: str, value, *classes: type):
    """``value``, if it is an object of one of ``classes``."""
    if not isinstance(value, classes):
        choices = ", ".join(f"{cls.__name__}(...)" for cls in classes)
        raise TypeError(f"{name}: must be one of {choices} (got {value!r})")
    return value

"""Checks of values by declaration: the type of a field says what it must be, and errors share their
words.

Fields of type ``Positive``, ``Count`` and the like have limits; ``Annotated[float,
partial(number_within, low=1)]`` is one with limits of its own. See :func:`check_fields`.

A variable with a physical unit is kept in SI units inside, as Brian2 keeps it, and Brian2 checks
the dimensions of every statement when the circuit is built. People give and get its values in the
unit that the variable names.
"""

from __future__ import annotations

import functools
import math
import numbers
import sys
import types
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from biorrr.errors import InputError, InputTypeError
from biorrr.hints import HintsAtKeywords

Check = Callable[[str, Any], Any]  # returns the value to keep, or raises an error about the name
LARGEST_WHOLE = 2**53  # above it floating point, which counts samples and seeds, has gaps


def whole_number(
    name: str, value, minimum: int, remedy: str = "", maximum: int = LARGEST_WHOLE
) -> int:
    """Return ``value`` as an int from ``minimum`` to ``maximum``, which floating point holds
    exactly.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise InputError(
            f"{name}: must be a whole number, at least {minimum} (got {value!r}){remedy}"
        )
    if int(value) > maximum:
        largest = "2**53" if maximum == LARGEST_WHOLE else maximum
        raise InputError(f"{name}: must be a whole number, at most {largest} (got {value!r})")
    return int(value)


def truth(name: str, value) -> bool:
    """Return ``value``, if it is True or False."""
    if type(value).__name__ not in ("bool", "bool_"):  # Python's, or NumPy's by either of its names
        raise InputTypeError(f"{name}: must be True or False (got {value!r})")
    return bool(value)


def number_within(name: str, value, low: float, high: float = math.inf, remedy: str = "") -> float:
    """Return ``value`` as a finite float in [low, high]."""
    least = (
        " and positive"
        if low == math.ulp(0)
        else f" and at least {low:g}"
        if math.isfinite(low)
        else ""
    )
    span = f"lie in [{low:g}, {high:g}]" if math.isfinite(high) else f"be finite{least}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputTypeError(f"{name}: must be a number (got {value!r}){remedy}")
    too_large = isinstance(value, int) and abs(value) > sys.float_info.max
    number = math.copysign(math.inf, value) if too_large else float(value)
    if not (math.isfinite(number) and low <= number <= high):
        raise InputError(f"{name}: must {span} (got {number:g}){remedy}")
    return number


def one_of(name: str, value, choices) -> Any:
    """Return ``value``, if it is one of ``choices``."""
    if not isinstance(value, Hashable) or value not in choices:
        raise InputError(f"{name}: must be one of {', '.join(map(repr, choices))} (got {value!r})")
    return value


def instance_of(name: str, value, *classes: type):
    """Return ``value``, if it is an object of one of ``classes``."""
    if not isinstance(value, classes):
        choices = ", ".join(f"{cls.__name__}(...)" for cls in classes)
        raise InputTypeError(
            f"{name}: must be {'one of ' * (len(classes) > 1)}{choices} (got {value!r})"
        )
    return value


Number = Annotated[float, partial(number_within, low=-math.inf)]
NotNegative = Annotated[float, partial(number_within, low=0)]
Positive = Annotated[float, partial(number_within, low=math.ulp(0))]
Probability = Annotated[float, partial(number_within, low=0, high=1)]
Count = Annotated[int, partial(whole_number, minimum=0)]
PositiveCount = Annotated[int, partial(whole_number, minimum=1)]


def check_of(declared: Any) -> Check | None:
    """Return the check of a type hint: it returns a value as that type, or raises an error about
    its name; None where all values pass.

    ``Annotated[...]`` holds checks; ``X | None`` also takes None; ``tuple[X, ...]`` and
    ``Sequence[X]`` check all elements, take a list or a single element, and keep a tuple;
    ``tuple[X, Y]`` takes two elements; ``Literal[...]`` lists choices; ``bool``, ``str`` and
    dataclasses are checked as they stand. Other types pass.
    """
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return partial(_check_in_turn, arguments[1:])
    if origin in (Union, types.UnionType) and len(arguments) == 2 and arguments[1] is type(None):
        inner = check_of(arguments[0])
        return None if inner is None else partial(_check_unless_none, inner)
    if origin is Sequence or (origin is tuple and arguments[-1] is ...):
        return partial(_check_each, check_of(arguments[0]))
    if origin is tuple:
        return partial(_check_pair, [*map(check_of, arguments)])
    if origin is Literal:
        return partial(one_of, choices=arguments)
    if declared is bool:
        return truth
    if declared is str:
        return _check_text
    if isinstance(declared, type) and is_dataclass(declared):
        return lambda name, value: instance_of(name, value, declared)
    return None


def _check_in_turn(checks: Sequence[Check], name: str, value: Any) -> Any:
    for check in checks:
        value = check(name, value)
    return value


def _check_unless_none(check: Check, name: str, value: Any) -> Any:
    return None if value is None else check(name, value)


def _check_each(check: Check | None, name: str, value: Any) -> tuple:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return values if check is None else tuple(check(name, each) for each in values)


def _check_pair(checks: Sequence[Check | None], name: str, value: Any) -> tuple:
    if not isinstance(value, (tuple, list)) or len(value) != len(checks):
        raise InputTypeError(f"{name}: must have {len(checks)} elements each (got {value!r})")
    return tuple(
        check(name, each) if check else each for check, each in zip(checks, value, strict=True)
    )


def _check_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputTypeError(f"{name}: must be text (got {value!r})")
    return value


def check_fields(value: Any, name: str | None = None) -> None:
    """Check the fields of a frozen dataclass by their declared types, and keep what the checks
    return.

    Errors call the fields "name.field", with the name of the class unless another is given; "field"
    if it is empty.

    >>> import dataclasses
    >>> Noise = dataclasses.make_dataclass("Noise", [("sigma", NotNegative)], frozen=True)
    >>> check_fields(Noise(-1))
    Traceback (most recent call last):
        ...
    biorrr.errors.InputError: Noise.sigma: must be finite and at least 0 (got -1)
    """
    owner = type(value).__name__ if name is None else name
    for field, check in _checks(type(value)):  # type: ignore[arg-type]  # a class is hashable
        given = getattr(value, field)
        kept = check(f"{owner}.{field}".lstrip("."), given)
        if kept is not given:
            object.__setattr__(value, field, kept)


class Checked(HintsAtKeywords):
    """Base of frozen dataclasses whose fields are checked by their declared types."""

    def __post_init__(self) -> None:
        check_fields(self)


@functools.cache
def _checks(cls: type) -> tuple[tuple[str, Check], ...]:
    """Return the fields of a dataclass that are checked, as (name, check)."""
    hints = get_type_hints(cls, include_extras=True)
    found = ((field.name, check_of(hints[field.name])) for field in fields(cls))
    return tuple((name, check) for name, check in found if check is not None)


# Physical units by name: the SI value of one, and the dimension by the name that Brian2's equations
# have for it.
UNITS = {
    "1": (1.0, "1"),
    "mV": (1e-3, "volt"),
    "ms": (1e-3, "second"),
    "s": (1.0, "second"),
    "pA": (1e-12, "amp"),
    "nS": (1e-9, "siemens"),
    "pF": (1e-12, "farad"),
    "Hz": (1.0, "hertz"),
}


def in_si(unit: str) -> float:
    """Return the SI value of one ``unit``."""
    return UNITS[unit][0]


def dimension_of(unit: str) -> str:
    """Return the dimension of ``unit``, as Brian2's equations write it."""
    return UNITS[unit][1]


def plain(name: str, value, unit: str) -> float:
    """Return ``value``, a Brian2 quantity or a plain number of ``unit``, as a plain number of that
    unit.
    """
    if not hasattr(value, "dim"):
        return value
    import brian2

    one = in_si(unit) * getattr(brian2, dimension_of(unit)) if unit != "1" else 1.0
    if not brian2.have_same_dimensions(value, one):
        kind, example = (
            ("a time", "ms") if dimension_of(unit) == "second" else (f"a quantity in {unit}", unit)
        )
        raise InputError(f"{name}: must be {kind} (got {value}); write for example 10*{example}")
    return float(value / one)


def plain_within(name: str, value, unit: str, low: float = 0.0, high: float = math.inf) -> float:
    """Return ``value``, as :func:`plain` takes it, as a plain number in [low, high]."""
    return number_within(
        name, plain(name, value, unit), low, high, f"; a plain number is in {unit}"
    )


milliseconds = partial(plain_within, unit="ms")
Milliseconds = Annotated[float, milliseconds]
Picoamperes = Annotated[float, partial(plain_within, unit="pA", low=-1e4, high=1e4)]


class Duration(float):
    """Milliseconds that were given as a time, so that they cannot mean samples."""

    def __repr__(self) -> str:
        return f"{float(self):g}*ms"


def milliseconds_or_samples(name: str, value) -> float:
    """Return ``value``, a Brian2 time or a plain number of milliseconds or samples, as a number."""
    number = number_within(name, plain(name, value, "ms"), 0)
    return Duration(number) if hasattr(value, "dim") or isinstance(value, Duration) else number


Lasting = Annotated[float, milliseconds_or_samples]

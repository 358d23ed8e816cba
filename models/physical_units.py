"""Physical units that variables may have: what equations call them, and how they relate to the SI.

A variable with a unit is kept in SI units inside, as Brian2 keeps it, and Brian2 checks the
dimensions of every statement when the circuit is built. People give and get its values in the unit
that the variable names.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated

from biorrr.errors import InputError
from biorrr.models.validation import number_within

# By name: the SI value of one, and the dimension by the name that Brian2's equations have for it.
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

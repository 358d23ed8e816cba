"""Physical units that variables may have: what equations call them, and how they relate to the SI.

A variable with a unit is kept in SI units inside, as Brian2 keeps it, and Brian2 checks the dimensions of every
statement when the circuit is built. People give and get its values in the unit that the variable names.
"""

from __future__ import annotations

# By name: the SI value of one, and the dimension by the name that Brian2's equations have for it.
UNITS = {
    "1": (1.0, "1"),
    "mV": (1e-3, "volt"),
    "ms": (1e-3, "second"),
    "pA": (1e-12, "amp"),
    "nS": (1e-9, "siemens"),
    "pF": (1e-12, "farad"),
    "Hz": (1.0, "hertz"),
}


def in_si(unit: str) -> float:
    """The SI value of one ``unit``."""
    return UNITS[unit][0]


def dimension_of(unit: str) -> str:
    """The dimension of ``unit``, as Brian2's equations write it."""
    return UNITS[unit][1]


def plain(name: str, value, unit: str) -> float:
    """``value``, a Brian2 quantity or a plain number of ``unit``, as a plain number of that unit."""
    if not hasattr(value, "dim"):
        return value
    import brian2

    one = in_si(unit) * getattr(brian2, dimension_of(unit)) if unit != "1" else 1.0
    if not brian2.have_same_dimensions(value, one):
        raise ValueError(f"{name}: must be a quantity in {unit} (got {value})")
    return float(value / one)

"""Variables of cells and synapses, and the steps that compute them: plain values, declared once."""

from __future__ import annotations

import keyword
from dataclasses import dataclass

from biorrr.errors import InputError, InputTypeError
from biorrr.models.expressions import check_code, taken
from biorrr.models.physical_units import UNITS
from biorrr.models.validation import one_of

# Names that Brian2 keeps for itself.
_RESERVED = (
    "i",
    "j",
    "t",
    "dt",
    "N",
    "xi",
    "e",
    "E",
    "I",
    "lambda",
    "w",
    "plastic",
    "t_in_timesteps",
    "refractory",
    "not_refractory",
    "lastspike",
)


def check_name(field: str, name: object) -> None:
    """Check that ``name`` can be that of a variable or a part on every engine."""
    if not isinstance(name, str):
        raise InputTypeError(f"{field}: must be text (got {name!r})")
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise InputError(f"{field}: must be a name without spaces (got {name!r}); letters, digits and _")
    if taken(name):
        raise InputError(f"{field}: must be a name without another meaning in equations or in C++ (got {name!r})")


@dataclass(frozen=True)
class Variable:
    """A quantity of cells or synapses, declared once; equations, state, traces and units follow from it.

    Parameters
    ----------
    name
        As equations write it.
    meaning
        In words, for descriptions, Datasets and figures.
    per
        Who has one: each "cell" or the whole "population", each "synapse" or the whole "pathway", or the "circuit". The
        last is broadcast: every part may read it. A population that broadcasts has one cell.
    role
        "activity", computed anew in every tick; "memory", kept from one tick to the next and from one run to the run
        that continues it; "parameter", set when a run begins; "input", set from outside in every tick.
    value
        Of a parameter, or of a memory when a circuit is new: a number, or an expression of the part's other
        parameters, of what is broadcast, of `seed`, of `i`, which counts the cells or synapses (source by source), and
        of the functions `cells('population')`, their number, and `relaxation(tau)`, how far something of the time
        constant tau (ms) relaxes in one tick.
    scale
        How it scales with the units of the data: a product of powers of `x`, `y`, `z`, `a` and `n`, such as "a" for a
        current like a, or "z / a".
    unit
        Its physical unit, one of :data:`biorrr.models.physical_units.UNITS`; "1" where it has none. Brian2 checks that
        statements agree with it.
    at_end
        True where what counts is its value when a sample ends: a trace then has one value per sample, not one per tick.
    """

    name: str
    meaning: str = ""
    per: str = "cell"
    role: str = "activity"
    value: float | str = 0.0
    scale: str = "1"
    unit: str = "1"
    at_end: bool = False

    def __post_init__(self) -> None:
        check_name("Variable.name", self.name)
        # Brian2 keeps the names of units to itself; it has none called s, which is the paper's.
        unit = self.name != "s" and any(self.name in (unit, dimension) for unit, (_, dimension) in UNITS.items())
        if self.name in _RESERVED or unit or self.name.endswith(("_pre", "_post")):
            raise InputError(
                f"Variable.name: must be a name that equations can use (got {self.name!r}); not "
                f"{', '.join(_RESERVED)}, which have a meaning already, and not one that ends in _pre or _post"
            )
        if isinstance(self.value, str):
            check_code(f"{self.name}.value", self.value)
        check_code(f"{self.name}.scale", self.scale)
        one_of("Variable.per", self.per, ("cell", "population", "synapse", "pathway", "circuit"))
        one_of("Variable.role", self.role, ("activity", "memory", "parameter", "input"))
        one_of("Variable.unit", self.unit, UNITS)


def parameter(
    name: str, meaning: str, value: float | str, unit: str = "1", scale: str = "1", per: str = "population"
) -> Variable:
    """Return a parameter that all cells of a population share, or what else ``per`` says."""
    return Variable(name, meaning, per, "parameter", value, scale, unit)


def broadcast(name: str, meaning: str, role: str = "activity", value: float | str = 0.0, scale: str = "1") -> Variable:
    """Return a variable that every part of the circuit may read."""
    return Variable(name, meaning, "circuit", role, value, scale)


@dataclass(frozen=True)
class Step:
    """Statements that cells or synapses carry out once per tick.

    Parameters
    ----------
    phase
        When within the tick: a name of :data:`biorrr.models.PHASES`. Steps of one part in one phase follow one another
        as they were added.
    code
        Statements that assign to variables of the part, or to names of their own that nobody else sees.
    replays
        Whether this also happens in the ticks of spontaneous replay. Without it cells and synapses are, in replay,
        as if the step were not there.
    """

    phase: str
    code: str
    replays: bool = False

    def __post_init__(self) -> None:
        check_code(f"the step in phase {self.phase!r}", self.code, statements=True)

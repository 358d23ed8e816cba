"""Variables of cells and synapses, and the steps that compute them: plain values, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from biorrr.errors import InputError
from biorrr.models.language import Statements, Value, check_name
from biorrr.models.physical_units import UNITS
from biorrr.models.validation import check_fields, one_of

# The phases of each block, in order: when currents flow and when cells and synapses act.
PHASES = {
    "input": (
        "A sample comes on, or an input is replayed; the clock and the learning rates are set."
    ),
    "feedback output": "Somata of areas with apical feedback speak by spikes.",
    "drive": "Currents of the input fibres reach the soma and the distal dendrite.",
    "membrane": "Membranes of the soma and of the distal dendrite relax towards their currents.",
    "cells": "Cells of a population that stands for one output fire, each by its own membrane.",
    "output": "The soma gives its output, as spikes or otherwise.",
    "recruitment": "Currents of the pyramidal output reach the interneurons.",
    "interneuron": "Membranes of the interneurons relax.",
    "delay": "What interneurons say is held back.",
    "interneuron cells": (
        "Cells of a population that stands for one interneuron fire, each by its own membrane."
    ),
    "interneuron output": "Interneurons speak, by spikes or otherwise.",
    "inhibition": "Currents of the interneurons reach the distal dendrite.",
    "dendrite": "The distal dendrite relaxes under inhibition.",
    "plateau": "The plateau potential forms: what inhibition leaves of the distal current.",
    "plateau shape": "That drive is turned into the kind of plateau that the cell makes.",
    "plateau decay": "The plateau rises and decays.",
    "apical": "The plateau reaches the soma.",
    "eligibility": "Traces take in what cells have just done, for synapses that learn across time.",
    "modulation": "The neuromodulator fits the learning rates to what the cells have done.",
    "integration": "What rules ask for is summed up while a sample is held.",
    "plasticity": "Synapses change, by the activities of the sample and the weights before it.",
}
Phase = Annotated[str, partial(one_of, choices=tuple(PHASES))]
# The blocks of the program: when a sample comes on, every tick for which it is held, when it ends.
BLOCKS = ("onset", "tick", "end")
Block = Annotated[str, partial(one_of, choices=BLOCKS)]
# Names that every synapse or cell has already.
_GIVEN = ("i", "j", "w", "plastic")


@dataclass(frozen=True)
class Variable:
    """A quantity of cells or synapses, declared once; equations, state and traces follow from it.

    Parameters
    ----------
    name
        Its name in equations.
    meaning
        Its meaning in words, for descriptions, Datasets and figures.
    per
        The holders: each "cell" or the whole "population", each "synapse" or the whole "pathway",
        or the "circuit". The last is broadcast: every part may read it. A population that
        broadcasts has one cell.
    role
        "activity", computed anew in every tick; "memory", kept from one tick to the next and from
        one run to the run that continues it; "parameter", set when a run begins; "input", set from
        outside in every tick.
    value
        Of a parameter, or of a memory when a circuit is new: a number, or an expression of the
        part's other parameters, of what is broadcast, of `seed`, of `i`, which counts the cells or
        synapses (source by source), and of the functions `cells('population')`, their number, and
        `relaxation(tau)`, how far something of the time constant tau (ms) relaxes in one tick.
    unit
        Its physical unit, one of :data:`biorrr.models.physical_units.UNITS`; "1" where it has none.
        Brian2 checks that statements agree with it.
    block
        "end" where only its value when a sample ends counts: a trace then has one value per sample,
        not one per tick.
    """

    name: str
    meaning: str = ""
    per: Literal["cell", "population", "synapse", "pathway", "circuit"] = "cell"
    role: Literal["activity", "memory", "parameter", "input"] = "activity"
    value: Value = 0.0
    unit: Annotated[str, partial(one_of, choices=tuple(UNITS))] = "1"
    block: Literal["tick", "end"] = "tick"

    def __post_init__(self) -> None:
        check_fields(self, check_name("Variable.name", self.name, variable=True))
        if self.name in _GIVEN or self.name.endswith(("_pre", "_post")):
            raise InputError(
                f"Variable.name: must be a name that equations can use (got {self.name!r}); not"
                f" {', '.join(_GIVEN)}, which have a meaning already, and not one that ends in _pre"
                " or _post"
            )


def parameter(
    name: str, meaning: str, value: float | str, unit: str = "1", per: str = "population"
) -> Variable:
    """Return a parameter that all cells of a population share, or what else ``per`` says."""
    return Variable(name, meaning, per, "parameter", value, unit=unit)  # type: ignore[arg-type]


def broadcast(
    name: str, meaning: str, role: str = "activity", value: float | str = 0.0
) -> Variable:
    """Return a variable that every part of the circuit may read."""
    return Variable(name, meaning, "circuit", role, value)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Step:
    """Statements that cells or synapses carry out while a sample is presented.

    Parameters
    ----------
    phase
        Time within the block: a name of :data:`biorrr.models.PHASES`. Steps of one part in one
        phase follow one another as they were added.
    code
        Statements that assign to variables of the part, or to names of their own that no other code
        sees.
    replays
        True for a step that also happens in spontaneous replay. Without it cells and synapses are,
        in replay, as if the step were not there.
    block
        "tick" for a step of every tick (one that reads only what stands still while a sample is
        held is then executed once, at its onset), "onset" for one that happens when a sample comes
        on, "end" for one that happens when it ends.
    """

    phase: Phase
    code: Statements
    replays: bool = False
    block: Block = "tick"

    def __post_init__(self) -> None:
        check_fields(self)

"""The two kinds of part a circuit has: populations of cells and pathways of synapses.

Descriptions only: text in Brian2's equation language, sizes and names. :mod:`biorrr.circuit` builds and runs them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import ClassVar, TypeVar

from biorrr.models.checks import whole_number

P = TypeVar("P", bound="_Part")


class _Part:
    """What populations and pathways share: a departure from the paper's circuit makes an altered copy of them."""

    def altered(self: P, **texts) -> P:
        """The same part with other ``texts`` (or tuples) in place of its own; equal texts give equal parts."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return _variant(type(self), tuple(sorted(texts.items())))(**values)  # type: ignore[arg-type]

    def extended(self: P, **texts) -> P:
        """The same part with ``texts`` (or tuples) added to the end of its own."""
        return self.altered(**{name: getattr(self, name) + addition for name, addition in texts.items()})


@functools.cache
def _variant(cls: type, texts: tuple) -> type:
    return type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "__module__": cls.__module__, **dict(texts)})


@dataclass(frozen=True)
class Population(_Part):
    """Cells of one kind.

    Parameters
    ----------
    size
        How many cells.
    """

    size: int

    name: ClassVar[str]
    equations: ClassVar[str]  # Brian2 equations, one quantity a line
    response: ClassVar[str] = ""  # statements run once the soma's currents have arrived, before other cells hear of it
    response_order: ClassVar[int] = -35  # place of the response within a tick, among the currents
    reception: ClassVar[str] = ""  # statements run once inhibition has arrived, before `update`
    update: ClassVar[str] = ""  # statements run once all currents of a tick have arrived
    hears: ClassVar[tuple[str, ...]] = ()  # what these statements read of the neuromodulator
    parameters: ClassVar[tuple[str, ...]] = ()  # shared by all cells, set before a run
    memory: ClassVar[tuple[str, ...]] = ()  # one value a cell, kept from one tick to the next
    traces: ClassVar[tuple[str, ...]] = ()  # the quantities a person may record
    shape: ClassVar[str] = "circle"  # how wiring diagrams draw a cell

    def __post_init__(self) -> None:
        whole_number(f"{type(self).__name__}.size", self.size, minimum=1)


@dataclass(frozen=True)
class Pathway(_Part):
    """Synapses of one kind, from every cell of one population to every cell of another.

    The current the synapses carry and the rule that changes them are both text in Brian2's equation language; `w` is
    the synapse's own weight, `_pre` and `_post` mark what its two cells hold, and names without a mark are broadcast
    to all synapses by the neuromodulator.
    """

    name: ClassVar[str]
    weight: ClassVar[str]  # the paper's matrix
    source: ClassVar[str]
    target: ClassVar[str]
    sign: ClassVar[int]  # +1 adds to its target, -1 is subtracted there
    current: ClassVar[str]  # summed over synapses into the target cell
    rule: ClassVar[str]  # plasticity, once a tick
    order: ClassVar[int]  # place of the current within a tick; lower goes first
    equation: ClassVar[str]  # where the paper states the rule
    equations: ClassVar[str] = ""  # further quantities of each synapse, beside its weight
    constants: ClassVar[tuple[str, ...]] = ()  # those of them that are set before a run

    @property
    def current_targets(self) -> list[str]:
        """The target cell's quantities that the current fills."""
        return [line.split("_post")[0].strip() for line in self.current.splitlines()]

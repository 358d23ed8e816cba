"""The two kinds of part a circuit has: populations of cells and pathways of synapses.

Descriptions only: text in Brian2's equation language, sizes and names. :mod:`biorrr.circuit` builds and runs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biorrr.models.checks import whole_number


@dataclass(frozen=True)
class Population:
    """Cells of one kind.

    Parameters
    ----------
    size
        How many cells.
    """

    size: int

    name: ClassVar[str]
    equations: ClassVar[str]  # Brian2 equations, one quantity a line
    update: ClassVar[str] = ""  # statements run once all currents of a tick have arrived
    traces: ClassVar[tuple[str, ...]] = ()  # the quantities a person may record
    shape: ClassVar[str] = "circle"  # how wiring diagrams draw a cell

    def __post_init__(self) -> None:
        whole_number(f"{type(self).__name__}.size", self.size, minimum=1)


@dataclass(frozen=True)
class Pathway:
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

    @property
    def current_targets(self) -> list[str]:
        """The target cell's quantities that the current fills."""
        return [line.split("_post")[0].strip() for line in self.current.splitlines()]

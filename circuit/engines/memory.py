"""The memory of a compiled circuit: one block of numbers that holds all that changes in a run.

The C++ source declares it as `struct Circuit`. Runs that go on at the same time have a block each.
"""

from __future__ import annotations

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Quantity

# Numbers in a line of the processor's cache: a vector that straddles two lines costs two look-ups.
LINE = 8
# Types of data that are read as they lie in memory or in a file; others are converted first.
ELEMENT_TYPES = {
    "f8": "double",
    "f4": "float",
    "u1": "uint8_t",
    "i1": "int8_t",
    "i2": "int16_t",
    "u2": "uint16_t",
}


class Memory:
    """The place of every variable in the block.

    Parameters
    ----------
    circuit
        The circuit whose variables they are.
    lanes
        Runs that lie side by side: of each number, there is one for each.

    Attributes
    ----------
    parts
        The variables of each part, in the order in which they lie in the block.
    places
        Where the values of each variable lie, by "part.variable".
    size
        Numbers of each lane in the block.
    """

    def __init__(self, circuit: Blueprint, lanes: int = 1) -> None:
        self.lanes, line = lanes, max(LINE // lanes, 1)
        self.parts: dict[str, list[Quantity]] = {}
        for array in circuit.arrays:
            self.parts.setdefault(array.part, []).append(array)
        self.places: dict[str, slice] = {}
        self.size = 0
        for array in (array for arrays in self.parts.values() for array in arrays):
            self.places[array.key] = slice(self.size, self.size + array.size)
            self.size += -(-array.size // line) * line  # whole lines
        self.size += line  # the replayed input stands behind all variables

    def allocate(self) -> np.ndarray:
        """Return a block of zeros, shape (size, lanes), that begins with a line."""
        count = self.size * self.lanes
        block = np.zeros(count + LINE)
        first = -block.ctypes.data // block.itemsize % LINE
        return block[first : first + count].reshape(self.size, self.lanes)

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
    size
        Numbers of each lane in the block.
    """

    def __init__(self, circuit: Blueprint, lanes: int = 1) -> None:
        self.lanes = lanes
        self.parts: dict[str, list[Quantity]] = {}
        for array in circuit.arrays:
            self.parts.setdefault(array.part, []).append(array)
        self._places: dict[str, slice] = {}
        at = 0
        for array in (array for arrays in self.parts.values() for array in arrays):
            self._places[array.key] = slice(at, at + array.size)
            at += self._whole_lines(array.size)
        # The replayed input stands behind all variables.
        self.size = at + self._whole_lines(1)

    def place(self, key: str) -> slice:
        """Return the place of the values of the variable "part.name"."""
        return self._places[key]

    def places(self, key: str, chosen: tuple[int, ...] | None = None) -> np.ndarray:
        """Return where each value of the variable "part.name" is, or each that is ``chosen``."""
        place = self._places[key]
        every = np.arange(place.start, place.stop)
        return every if chosen is None else every[list(chosen)]

    def allocate(self) -> np.ndarray:
        """Return a block of zeros, shape (size, lanes), that begins with a line."""
        count = self.size * self.lanes
        block = np.zeros(count + LINE)
        first = -block.ctypes.data // block.itemsize % LINE
        return block[first : first + count].reshape(self.size, self.lanes)

    def _whole_lines(self, count: int) -> int:
        """Return ``count`` rounded up to whole lines."""
        line = max(LINE // self.lanes, 1)
        return -(-count // line) * line

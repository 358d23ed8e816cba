"""Cells in millivolts: bursting pyramidal cells, somatostatin cells, and the circuit that is made
of them.
"""

from biorrr.models.millivolts.cell_populations import Millivolts
from biorrr.models.millivolts.cells import BurstingCells, SomatostatinCells

__all__ = ["BurstingCells", "Millivolts", "SomatostatinCells"]

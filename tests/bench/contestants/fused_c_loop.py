"""A C loop with one pass over the weights per sample; compiler and flags are the circuit's."""

from __future__ import annotations

from contestants import c_loop
from contestants.task import Task


def prepare(task: Task):
    """Compile for the sizes of ``task``."""
    return c_loop.prepare(task, "fused_loop.c", cell_by_cell=True)

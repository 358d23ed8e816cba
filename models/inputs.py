"""What reaches the circuit from outside: a sensory view x and an instructive view y of each sample."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.parts import Population


@dataclass(frozen=True)
class SensoryInput(Population):
    """Feedforward fibres, one a feature of x; they end on proximal dendrites."""

    name = "sensory"
    equations = """
    x : 1               # activity of the fibre in this sample
    """
    traces = ("x",)


@dataclass(frozen=True)
class InstructiveInput(Population):
    """Fibres from other areas, one a feature of y; they end on the distal tuft."""

    name = "instructive"
    equations = """
    y : 1               # activity of the fibre in this sample
    """
    traces = ("y",)

"""What reaches the circuit from outside: a sensory view x and an instructive view y of each sample."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.parts import Population
from biorrr.models.variables import Variable


@dataclass(frozen=True)
class SensoryInput(Population):
    """Feedforward fibres, one per feature of x; they end on proximal dendrites."""

    name: str = "sensory"
    variables: tuple[Variable, ...] = (Variable("x", "sensory input", role="input", scale="x"),)
    meaning: str = "Feedforward fibres, one per feature of x; they end on proximal dendrites."
    dimension: str = "input"
    kind: str = "sensory"


@dataclass(frozen=True)
class InstructiveInput(Population):
    """Fibres from other areas, one per feature of y; they end on the distal tuft."""

    name: str = "instructive"
    variables: tuple[Variable, ...] = (Variable("y", "instructive input", role="input", scale="y"),)
    meaning: str = "Fibres from other areas, one per feature of y; they end on the distal tuft."
    dimension: str = "instruction"
    kind: str = "instructive"

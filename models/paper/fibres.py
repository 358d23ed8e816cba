"""Input fibres of the circuit: a sensory view x and an instructive view y of each sample."""

from __future__ import annotations

from biorrr.models.parts import Population
from biorrr.models.variables import Variable


def SensoryInput(size: int | None = None) -> Population:
    """Return feedforward fibres, one per feature of x; they end on proximal dendrites."""
    return Population(
        size,
        name="sensory",
        variables=(Variable("x", "sensory input", role="input"),),
        meaning="Feedforward fibres, one per feature of x; they end on proximal dendrites.",
        dimension="input",
        kind="sensory",
    )


def InstructiveInput(size: int | None = None) -> Population:
    """Return fibres from other areas, one per feature of y; they end on the distal tuft."""
    return Population(
        size,
        name="instructive",
        variables=(Variable("y", "instructive input", role="input"),),
        meaning="Fibres from other areas, one per feature of y; they end on the distal tuft.",
        dimension="instruction",
        kind="instructive",
    )

"""The two kinds of neuron in the microcircuit (the paper's Fig. 1)."""

from __future__ import annotations

from biorrr.models.parts import Population
from biorrr.models.variables import Step, Variable


def PyramidalNeurons(size: int | None = None) -> Population:
    """Return two-compartment neurons: output from the soma, plateau from the dendrite."""
    return Population(
        size,
        name="pyramidal",
        variables=(
            Variable("z", "somatic output"),  # Vx'x
            Variable("a", "distal current"),  # Vy'y
            Variable("inhibition", "inhibition of the distal dendrite"),  # Qn
            Variable(
                "plateau", "calcium plateau potential"
            ),  # travels down, teaches proximal synapses
        ),
        steps=(Step("plateau", "plateau = a - inhibition", replays=True),),
        meaning="Two-compartment neurons: output from the soma, plateau from the dendrite.",
        shape="triangle",
        kind="pyramidal",
    )


def Interneurons(size: int | None = None) -> Population:
    """Return somatostatin-like interneurons: driven by pyramidal output, they inhibit the distal
    dendrite.
    """
    return Population(
        size,
        name="interneurons",
        variables=(Variable("n", "interneuron activity"),),  # Rz; Q'z once R has met Q'
        meaning=(
            "Somatostatin-like interneurons: driven by pyramidal output, they inhibit the distal"
            " dendrite."
        ),
        dimension="interneuron",
        kind="interneuron",
    )

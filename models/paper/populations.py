"""The populations of the microcircuit (the paper's Fig. 1): fibres that bring the two views of each
sample, and two kinds of neuron.
"""

from __future__ import annotations

from biorrr.models.parts import Population, Step, Variable


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

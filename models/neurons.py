"""The two kinds of neuron in the microcircuit (the paper's Fig. 1)."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.parts import Population


@dataclass(frozen=True)
class PyramidalNeurons(Population):
    """Two-compartment neurons: the soma speaks, the distal dendrite teaches (Sec. 4.1)."""

    name = "pyramidal"
    equations = """
    z : 1                          # somatic output, Vx'x
    a : 1                          # distal current, Vy'y
    inhibition : 1                 # Qn, from somatostatin-like interneurons onto the distal dendrite
    plateau : 1                    # calcium plateau potential; travels down and teaches the proximal synapses
    """
    update = "plateau = a - inhibition"
    traces = ("z", "a", "inhibition", "plateau")
    shape = "triangle"


@dataclass(frozen=True)
class MeteredPyramidalNeurons(PyramidalNeurons):
    """Pyramidal neurons that also know how strongly they are inhibited in all."""

    equations = (
        PyramidalNeurons.equations
        + """
    power : 1                      # sum of squares of the cell's inhibitory weights
    """
    )


@dataclass(frozen=True)
class Interneurons(Population):
    """Somatostatin-like interneurons: driven by pyramidal output, they inhibit the distal dendrite."""

    name = "interneurons"
    equations = """
    n : 1               # activity, Rz (Q'z once R has met Q')
    """
    response_order = -25
    traces = ("n",)

"""The two kinds of neuron in the microcircuit (the paper's Fig. 1)."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models.parts import Population
from biorrr.models.variables import Step, Variable


@dataclass(frozen=True)
class PyramidalNeurons(Population):
    """Two-compartment neurons: the soma speaks, the distal dendrite teaches."""

    name: str = "pyramidal"
    variables: tuple[Variable, ...] = (
        Variable("z", "somatic output"),  # Vx'x
        Variable("a", "distal current", scale="a"),  # Vy'y
        Variable("inhibition", "inhibition of the distal dendrite", scale="a"),  # Qn
        Variable("plateau", "calcium plateau potential", scale="a"),  # travels down, teaches the proximal synapses
    )
    steps: tuple[Step, ...] = (Step("plateau", "plateau = a - inhibition", replays=True),)
    meaning: str = "Two-compartment neurons: the soma speaks, the distal dendrite teaches."
    shape: str = "triangle"
    kind: str = "pyramidal"


@dataclass(frozen=True)
class Interneurons(Population):
    """Somatostatin-like interneurons: driven by pyramidal output, they inhibit the distal dendrite."""

    name: str = "interneurons"
    variables: tuple[Variable, ...] = (Variable("n", "interneuron activity", scale="n"),)  # Rz; Q'z once R has met Q'
    meaning: str = "Somatostatin-like interneurons: driven by pyramidal output, they inhibit the distal dendrite."
    dimension: str = "interneuron"
    kind: str = "interneuron"

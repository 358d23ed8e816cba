"""The parts of one circuit and what it exchanges with the outside: plain data, from which everything else is made."""

from __future__ import annotations

import math
from dataclasses import dataclass

from biorrr.models import (
    AdaptiveNeuromodulator,
    DistalSynapses,
    InstructiveInput,
    Interneurons,
    InterneuronToPyramidal,
    MeteredInterneuronToPyramidal,
    MeteredPyramidalNeurons,
    Neuromodulator,
    Pathway,
    Population,
    ProximalSynapses,
    PyramidalNeurons,
    PyramidalToInterneuron,
    SensoryInput,
)

WEIGHTS = ("Vx", "Vy", "Q", "R")


@dataclass(frozen=True)
class Blueprint:
    """Populations and pathways of known sizes.

    Parameters
    ----------
    populations
        The cells, inputs included.
    pathways
        The synapses between them.
    neuromodulator
        What broadcasts the learning rates.
    """

    populations: tuple[Population, ...]
    pathways: tuple[Pathway, ...]
    neuromodulator: Neuromodulator

    @classmethod
    def of_microcircuit(cls, m: int, n: int, k: int, interneurons: int, adaptive: bool = False) -> Blueprint:
        """The paper's circuit (Fig. 1 and the supplement's decoupled R): m and n inputs, k outputs, l interneurons.

        ``adaptive`` adds what rates fitted to the drive need to know.
        """
        pyramidal = MeteredPyramidalNeurons(k) if adaptive else PyramidalNeurons(k)
        inhibitory = MeteredInterneuronToPyramidal() if adaptive else InterneuronToPyramidal()
        return cls(
            populations=(SensoryInput(m), InstructiveInput(n), pyramidal, Interneurons(interneurons)),
            pathways=(ProximalSynapses(), DistalSynapses(), inhibitory, PyramidalToInterneuron()),
            neuromodulator=AdaptiveNeuromodulator() if adaptive else Neuromodulator(),
        )

    def population(self, name: str) -> Population:
        """The population called ``name``, the neuromodulator included."""
        return next(p for p in (*self.populations, self.neuromodulator) if p.name == name)

    def weight_shape(self, pathway: Pathway) -> tuple[int, int]:
        """Shape of the weights as Brian2 keeps them: (source cells, target cells)."""
        return self.population(pathway.source).size, self.population(pathway.target).size

    @property
    def state(self) -> tuple[tuple[str, str, int], ...]:
        """All that one stretch of simulation must hand to the next: (part, variable, size), weights first."""
        weights = ((p.name, "w", math.prod(self.weight_shape(p))) for p in self.pathways)
        broadcast = ((self.neuromodulator.name, variable, 1) for variable in self.neuromodulator.state)
        return (*weights, *broadcast)

    @property
    def traces(self) -> dict[str, Population]:
        """Every quantity a person may record, and who holds it."""
        return {trace: p for p in (*self.populations, self.neuromodulator) for trace in p.traces}


def as_matrix(pathway: Pathway, w, shape):
    """Brian2's flat weights (source-major) as the paper's matrix.

    Vx (m, k) and Vy (n, k) are source by target; Q (k, l) and R (l, k) are target by source.
    """
    matrix = w.reshape(shape)
    return matrix.T if pathway.weight in ("Q", "R") else matrix


def as_synapses(pathway: Pathway, matrix):
    """The paper's matrix as Brian2's flat weights; undoes :func:`as_matrix`."""
    return (matrix.T if pathway.weight in ("Q", "R") else matrix).reshape(-1)

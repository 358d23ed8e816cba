"""The parts of one circuit and what it exchanges with the outside: plain data, from which everything else is made."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from biorrr.models import (
    AdaptiveNeuromodulator,
    Departure,
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
    def of_microcircuit(
        cls, m: int, n: int, k: int, interneurons: int, adaptive: bool = False, departures: tuple[Departure, ...] = ()
    ) -> Blueprint:
        """The paper's circuit (Fig. 1 and the supplement's decoupled R): m and n inputs, k outputs, l interneurons.

        ``adaptive`` adds what rates fitted to the drive need to know; ``departures`` are applied one after another.
        """
        pyramidal = MeteredPyramidalNeurons(k) if adaptive else PyramidalNeurons(k)
        inhibitory = MeteredInterneuronToPyramidal() if adaptive else InterneuronToPyramidal()
        plain = cls(
            populations=(SensoryInput(m), InstructiveInput(n), pyramidal, Interneurons(interneurons)),
            pathways=(ProximalSynapses(), DistalSynapses(), inhibitory, PyramidalToInterneuron()),
            neuromodulator=AdaptiveNeuromodulator() if adaptive else Neuromodulator(),
        )
        return functools.reduce(Blueprint._altered, departures, plain)

    def _altered(self, departure: Departure) -> Blueprint:
        return Blueprint(
            populations=tuple(map(departure.alter_population, self.populations)),
            pathways=tuple(map(departure.alter_pathway, self.pathways)),
            neuromodulator=departure.alter_population(self.neuromodulator),  # type: ignore[arg-type]
        )

    def population(self, name: str) -> Population:
        """The population called ``name``, the neuromodulator included."""
        return next(p for p in (*self.populations, self.neuromodulator) if p.name == name)

    def weight_shape(self, pathway: Pathway) -> tuple[int, int]:
        """Shape of the weights as Brian2 keeps them: (source cells, target cells)."""
        return self.population(pathway.source).size, self.population(pathway.target).size

    def matrices(self, weights: dict) -> dict:
        """Brian2's flat weights by pathway as the paper's matrices by name."""
        return {p.weight: as_matrix(p, weights[p.name], self.weight_shape(p)) for p in self.pathways}

    @property
    def state(self) -> tuple[tuple[str, str, int], ...]:
        """All that one stretch of simulation must hand to the next: (part, variable, size), weights first."""
        weights = ((p.name, "w", math.prod(self.weight_shape(p))) for p in self.pathways)
        constants = ((p.name, c, math.prod(self.weight_shape(p))) for p in self.pathways for c in p.constants)
        parameters = ((p.name, variable, 1) for p in self.populations for variable in p.parameters)
        memory = ((p.name, variable, p.size) for p in self.populations for variable in p.memory)
        broadcast = ((self.neuromodulator.name, variable, 1) for variable in self.neuromodulator.state)
        return (*weights, *constants, *parameters, *memory, *broadcast)

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

"""The parts of the paper's microcircuit (Fig. 1, with the supplement's decoupled interneuron
synapses).
"""

from __future__ import annotations

from biorrr.models.paper.clock import Clock
from biorrr.models.paper.neuromodulator import PLASTICITY, Neuromodulator
from biorrr.models.paper.populations import (
    InstructiveInput,
    Interneurons,
    PyramidalNeurons,
    SensoryInput,
)
from biorrr.models.paper.synapses import (
    DistalSynapses,
    InterneuronToPyramidal,
    ProximalSynapses,
    PyramidalToInterneuron,
)
from biorrr.models.parts import Parts
from biorrr.models.rates import Rate, Rates


def microcircuit_parts(k: int, interneurons: int, rates: Rates | None = None) -> Parts:
    """Return two-compartment pyramidal neurons, their interneurons and inputs, and the four
    pathways between them.

    Parameters
    ----------
    k, interneurons
        How many pyramidal neurons and interneurons.
    rates
        The timetable of the learning rates; without it they are 0, until
        :func:`~biorrr.models.fit_rates` fits them to the drive.
    """
    return Parts(
        populations=(
            Clock(),
            Neuromodulator(
                {path: Rate(0.0) if rates is None else getattr(rates, path) for path in PLASTICITY}
            ),
            SensoryInput(),
            InstructiveInput(),
            PyramidalNeurons(k),
            Interneurons(interneurons),
        ),
        pathways=(
            ProximalSynapses(),
            DistalSynapses(),
            InterneuronToPyramidal(),
            PyramidalToInterneuron(),
        ),
    )

"""What neurons, synapses and learning rates are: descriptions in Brian2's equation language, no simulator."""

from biorrr.models.inputs import InstructiveInput, SensoryInput
from biorrr.models.neuromodulator import Neuromodulator
from biorrr.models.neurons import Interneurons, PyramidalNeurons
from biorrr.models.parts import Pathway, Population
from biorrr.models.rates import Rate, Rates
from biorrr.models.synapses import (
    DistalSynapses,
    InterneuronToPyramidal,
    NaiveProximalSynapses,
    ProximalSynapses,
    PyramidalToInterneuron,
)

__all__ = [
    "DistalSynapses",
    "InstructiveInput",
    "InterneuronToPyramidal",
    "Interneurons",
    "NaiveProximalSynapses",
    "Neuromodulator",
    "Pathway",
    "Population",
    "ProximalSynapses",
    "PyramidalNeurons",
    "PyramidalToInterneuron",
    "Rate",
    "Rates",
    "SensoryInput",
]

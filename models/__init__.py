"""What neurons, synapses and learning rates are: descriptions in Brian2's equation language, no simulator."""

from biorrr.models.inputs import InstructiveInput, SensoryInput
from biorrr.models.neuromodulator import AdaptiveNeuromodulator, Neuromodulator
from biorrr.models.neurons import Interneurons, MeteredPyramidalNeurons, PyramidalNeurons
from biorrr.models.parts import Pathway, Population
from biorrr.models.rates import Rate, Rates
from biorrr.models.synapses import (
    DistalSynapses,
    InterneuronToPyramidal,
    MeteredInterneuronToPyramidal,
    NaiveProximalSynapses,
    ProximalSynapses,
    PyramidalToInterneuron,
)

__all__ = [
    "AdaptiveNeuromodulator",
    "DistalSynapses",
    "InstructiveInput",
    "InterneuronToPyramidal",
    "Interneurons",
    "MeteredInterneuronToPyramidal",
    "MeteredPyramidalNeurons",
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

"""What neurons, synapses and learning rates are: descriptions in Brian2's equation language, no simulator."""

from biorrr.models.apical import ApicalDrive
from biorrr.models.coding import Analog, Spiking
from biorrr.models.connections import DalesLaw, SparseConnections
from biorrr.models.departure import Departure, Setting
from biorrr.models.dynamics import Instant, Leaky, PlateauDecay
from biorrr.models.inputs import InstructiveInput, SensoryInput
from biorrr.models.lesions import (
    CutInstruction,
    Event,
    Freeze,
    FrozenPlasticity,
    Silence,
    SilencedInterneurons,
    SwapData,
)
from biorrr.models.neuromodulator import AdaptiveNeuromodulator, Neuromodulator
from biorrr.models.neurons import Interneurons, MeteredPyramidalNeurons, PyramidalNeurons
from biorrr.models.parts import Pathway, Population
from biorrr.models.plateaus import AllOrNone, Graded, Plateau, Rectified, Sign
from biorrr.models.rates import Rate, Rates
from biorrr.models.synapses import (
    DistalSynapses,
    InterneuronToPyramidal,
    MeteredInterneuronToPyramidal,
    NaiveProximalSynapses,
    ProximalSynapses,
    PyramidalToInterneuron,
)
from biorrr.models.transmission import LoopDelay, TransmissionNoise

__all__ = [
    "AdaptiveNeuromodulator",
    "AllOrNone",
    "Analog",
    "ApicalDrive",
    "CutInstruction",
    "DalesLaw",
    "Departure",
    "DistalSynapses",
    "Event",
    "Freeze",
    "FrozenPlasticity",
    "Graded",
    "Instant",
    "InstructiveInput",
    "InterneuronToPyramidal",
    "Interneurons",
    "Leaky",
    "LoopDelay",
    "MeteredInterneuronToPyramidal",
    "MeteredPyramidalNeurons",
    "NaiveProximalSynapses",
    "Neuromodulator",
    "Pathway",
    "Plateau",
    "PlateauDecay",
    "Population",
    "ProximalSynapses",
    "PyramidalNeurons",
    "PyramidalToInterneuron",
    "Rate",
    "Rates",
    "Rectified",
    "SensoryInput",
    "Setting",
    "Sign",
    "Silence",
    "SilencedInterneurons",
    "SparseConnections",
    "Spiking",
    "SwapData",
    "TransmissionNoise",
]

"""Models of neurons, synapses and learning rates: values in Brian2's equation language, no
simulator.
"""

from biorrr.models.areas.apical_feedback import ApicalFeedback, Area
from biorrr.models.areas.equilibrium import (
    AreaWeights,
    equilibrium,
    settled_filters,
    settling_matrix,
)
from biorrr.models.areas.settled import Settled
from biorrr.models.departure import Departure, InAreas, apply_departures
from biorrr.models.departures.connections import DalesLaw, SparseConnections
from biorrr.models.departures.dynamics import Leaky
from biorrr.models.departures.eligibility import Eligibility
from biorrr.models.departures.homeostasis import HomeostaticScaling
from biorrr.models.departures.interventions import (
    CutInstruction,
    Event,
    Freeze,
    Silence,
    Silenceable,
    SwapData,
)
from biorrr.models.departures.plateaus import AllOrNone, ApicalDrive, Rectified, Sign
from biorrr.models.departures.spiking import Spiking
from biorrr.models.departures.transmission import LateInstruction, LoopDelay, TransmissionNoise
from biorrr.models.millivolts import BurstingCells, Millivolts, SomatostatinCells
from biorrr.models.paper.clock import Clock
from biorrr.models.paper.microcircuit_parts import microcircuit_parts
from biorrr.models.paper.neuromodulator import AdaptiveNeuromodulator, Neuromodulator, fit_rates
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
from biorrr.models.parts import (
    BLOCKS,
    PHASES,
    Parts,
    Pathway,
    Population,
    Step,
    Variable,
    with_values,
)
from biorrr.models.random_draws import Stream, gaussian_draw, poisson_draw, uniform_draw
from biorrr.models.rates import Rate, Rates
from biorrr.models.rules import Term

__all__ = [
    "BLOCKS",
    "PHASES",
    "AdaptiveNeuromodulator",
    "AllOrNone",
    "ApicalDrive",
    "ApicalFeedback",
    "Area",
    "AreaWeights",
    "BurstingCells",
    "Clock",
    "CutInstruction",
    "DalesLaw",
    "Departure",
    "DistalSynapses",
    "Eligibility",
    "Event",
    "Freeze",
    "HomeostaticScaling",
    "InAreas",
    "InstructiveInput",
    "InterneuronToPyramidal",
    "Interneurons",
    "LateInstruction",
    "Leaky",
    "LoopDelay",
    "Millivolts",
    "Neuromodulator",
    "Parts",
    "Pathway",
    "Population",
    "ProximalSynapses",
    "PyramidalNeurons",
    "PyramidalToInterneuron",
    "Rate",
    "Rates",
    "Rectified",
    "SensoryInput",
    "Settled",
    "Sign",
    "Silence",
    "Silenceable",
    "SomatostatinCells",
    "SparseConnections",
    "Spiking",
    "Step",
    "Stream",
    "SwapData",
    "Term",
    "TransmissionNoise",
    "Variable",
    "apply_departures",
    "equilibrium",
    "fit_rates",
    "gaussian_draw",
    "microcircuit_parts",
    "poisson_draw",
    "settled_filters",
    "settling_matrix",
    "uniform_draw",
    "with_values",
]

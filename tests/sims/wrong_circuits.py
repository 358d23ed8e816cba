"""Circuits that are wrong in one way each: a check that is worth its name says so.

Named to an experiment as ``--circuit tests/sims/wrong_circuits.py:<function>``.
"""

from dataclasses import replace

import numpy as np

from biorrr.circuit import Microcircuit
from biorrr.models import InterneuronToPyramidal, ProximalSynapses, PyramidalToInterneuron


class ShuffledInstruction:
    """Learns from instruction that belongs to other samples."""

    def __init__(self, **arguments):
        self.circuit = Microcircuit(**arguments)

    def run(self, X, Y, plastic=True, **options):
        learned = Y[np.random.default_rng(0).permutation(len(Y))] if plastic else Y
        return self.circuit.run(X, learned, plastic=plastic, **options)


def shuffled_y(**arguments):
    """Y does not belong to X while the circuit learns."""
    return ShuffledInstruction(**arguments)


def frozen_vx(**arguments):
    """The proximal synapses do not learn."""
    return Microcircuit(**arguments, pathways=[replace(ProximalSynapses(), change="", replay="")])


def frozen_q(**arguments):
    """Neither Q nor R learns."""
    frozen = [
        replace(part, change="", replay="")
        for part in (InterneuronToPyramidal(), PyramidalToInterneuron())
    ]
    return Microcircuit(**arguments, pathways=frozen)


def random_r(**arguments):
    """R is random and does not learn (eta_r = 0)."""
    k = arguments["k"]
    R0 = np.random.default_rng(1).standard_normal((k, k))
    return Microcircuit(
        **arguments, R0=R0, pathways=[replace(PyramidalToInterneuron(), change="", replay="")]
    )


def fast_r(**arguments):
    """R learns a tenth faster than Q."""
    change = "1.1 * eta_r * (n_post * z_pre - w)"
    return Microcircuit(**arguments, pathways=[replace(PyramidalToInterneuron(), change=change)])


def slow_r(**arguments):
    """R learns a tenth slower than Q."""
    change = "0.9 * eta_r * (n_post * z_pre - w)"
    return Microcircuit(**arguments, pathways=[replace(PyramidalToInterneuron(), change=change)])

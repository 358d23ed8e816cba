"""Bio-CCA: cells find what two inputs have in common, with lateral inhibition at equilibrium.

Lipshutz, Bahroun, Golkar, Sengupta & Chklovskii (2021), "A biologically plausible neural network
for multichannel canonical correlation analysis", Neural Computation 33 (preprint of 2020).

Original, and here::

    a = Wx'x,  b = Wy'y,  dz/dt = a + b - Mz, which ends at z = M^-1 (a + b)
    dWx = 2 eta x (z - a)',  dWy = 2 eta y (z - b)',  dM = (eta/tau) (z z' - M),  tau = 0.1

Simplified: nothing in the equations; noise of x and y stands for a ridge on Cxx and Cyy. The
simulation does not wait for the equilibrium. It keeps N = M^-1, which changes with M by the formula
of Sherman and Morrison, h = eta/tau::

    z = N (a + b),  u = Nz,   N + dN = (N - h u u' / (1 - h + h z'u)) / (1 - h)

N stands in two pathways with the same weights, one for each of the two products. Locality is judged
by the rule of M.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biorrr.models.parts import Parts, Pathway, Step, Variable, broadcast, sum_over
from biorrr.models.random_draws import Stream
from biorrr.models.theories.theory import (
    Theory,
    draw_matrices,
    noisy_fibres,
    pyramidal,
    sensory_fibres,
    timetable,
)
from biorrr.models.validation import Positive


@dataclass(frozen=True, kw_only=True)
class BioCCA(Theory):
    """Cells that find canonical correlations.

    Parameters
    ----------
    tau
        Rate of the feedforward synapses over that of lateral ones. Rates must stay below it.
    """

    tau: Positive = 0.1
    name: ClassVar[str] = "Bio-CCA"
    citation: ClassVar[str] = "Lipshutz et al. 2021"
    filters: ClassVar[str] = "Wx"
    readout: ClassVar[str] = "Wy"
    s: ClassVar[float] = 1.0

    def parts(self, n: int) -> Parts:
        """Return cells with two dendritic compartments and lateral synapses."""
        cells = pyramidal(
            self.k,
            Variable("a", "current of the basal compartment"),
            Variable("apical", "current of the apical compartment"),
            Variable("drive", "both"),
            Variable("u", "output, passed through the lateral synapses once more"),
            Step("membrane", "drive = a + apical"),
        )
        shrink = "(1 - eta / tau + eta / tau * zu)"
        inverse = f"eta / tau / (1 - eta / tau) * (w - u_pre * u_post / {shrink})"
        rule = "eta / tau * (z_pre * z_post - w)"
        instructive = noisy_fibres(
            "instructive", "instruction", "y", "heard", self.ridge, Stream.OWN + 1
        )
        return Parts(
            (
                timetable(self.rate, broadcast("zu", "z'u"), tau=self.tau),
                sensory_fibres(self.ridge),
                instructive,
                cells,
            ),
            (
                Pathway(
                    "proximal",
                    "sensory",
                    "pyramidal",
                    "a",
                    "w * x_pre",
                    "drive",
                    weight="Wx",
                    change="2 * eta * x_pre * (z_post - a_post)",
                ),
                Pathway(
                    "distal",
                    "instructive",
                    "pyramidal",
                    "apical",
                    "w * heard_pre",
                    "drive",
                    weight="Wy",
                    change="2 * eta * heard_pre * (z_post - apical_post)",
                ),
                Pathway(
                    "lateral",
                    "pyramidal",
                    "pyramidal",
                    "z",
                    "w * drive_pre",
                    "output",
                    weight="N",
                    change=inverse,
                    judged=rule,
                ),
                Pathway(
                    "again",
                    "pyramidal",
                    "pyramidal",
                    "u",
                    "w * z_pre",
                    "recruitment",
                    weight="N_again",
                    change=inverse,
                    judged=rule,
                ),
                sum_over(
                    "power", "pyramidal", "neuromodulator", "zu", "z_pre * u_pre", "inhibition"
                ),
            ),
        )

    def start(self, m, n, seed):
        """Draw weights; M begins as the identity."""
        return draw_matrices(seed, Wx=(m, self.k), Wy=(n, self.k)) | {
            "N": np.eye(self.k),
            "N_again": np.eye(self.k),
        }

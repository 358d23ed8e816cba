"""Bio-RRR, the circuit of the paper, with the inputs and the rates of its rivals.

Golkar, Lipshutz, Bahroun, Sengupta & Chklovskii (2020), "A simple normative network approximates
local non-Hebbian learning in the cortex", NeurIPS 33.

Original, and here, with s = 0::

    z = Vx'x,  n = Rz,  plateau = Vy'y - Qn
    dVx = eta x plateau',  dVy = eta_y (y z' - Vy),  dQ = eta_q (z n' - Q),  dR = eta_q (n z' - R)

Simplified: nothing. The ridge is noise of the sensory fibres, as in the other theories;
``Microcircuit`` makes it by replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biorrr.models.paper_parts import microcircuit_parts
from biorrr.models.parts import Parts
from biorrr.models.rates import Rates
from biorrr.models.theories.theory import Theory, draw_matrices, sensory_fibres
from biorrr.models.validation import Positive


@dataclass(frozen=True, kw_only=True)
class BioRRR(Theory):
    """Cells taught by plateaus, what inhibition leaves of the instruction.

    Parameters
    ----------
    distal, inhibitory
        Rates of Vy, and of Q and R, over that of Vx.
    """

    distal: Positive = 1.0
    inhibitory: Positive = 1.0
    name: ClassVar[str] = "Bio-RRR"
    citation: ClassVar[str] = "Golkar et al. 2020"
    readout: ClassVar[str] = "Vy"
    apical: ClassVar[str] = "plateau"

    def parts(self, n: int) -> Parts:
        """Return the parts of the microcircuit, whose sensory fibres are noisy."""
        rates = Rates(self.rate, self.rate.times(self.distal), self.rate.times(self.inhibitory))
        return microcircuit_parts(self.k, self.k, rates).having(sensory_fibres(self.ridge))

    def start(self, m, n, seed):
        """Draw weights; R begins as Q'."""
        weights = draw_matrices(seed, Vx=(m, self.k), Vy=(n, self.k))
        return weights | {"Q": np.eye(self.k), "R": np.eye(self.k)}

"""The dendritic error microcircuit: interneurons predict the top-down drive, and what they miss
teaches.

Sacramento, Costa, Bengio & Senn (2018), "Dendritic cortical microcircuits approximate the
backpropagation algorithm", NeurIPS 31.

Original (membrane potentials u, rates r = phi(u), compartments v, all leaky in time)::

    v_A = W_PP(top-down) r_top + W_PI r_I               apical: top-down drive less what
    interneurons predict of it du/dt = -g_lk u + g_B (v_B - u) + g_A (v_A - u)     soma of a hidden
    cell dW_basal = eta (r - phi(v^_B)) r_below'             dendritic prediction of the soma, which
    v_A moves dW_IP = eta (r_I - phi(v^_I)) r',  dW_PI = eta (v_rest - v_A) r_I' top cells are
    nudged towards y; each interneuron is nudged by the top cell that it stands for

Here phi is the identity, and a sample is one sweep from x to the dendrite (l = nudge, i = 0.01)::

    z = V'x,  u = (1 - l) Uz + l y,  n = (1 - i) P z + i u,  apical = B'u - S'n
    dV = eta x apical' / (l (1 - i)),  dU = eta ((u - Uz) z' / l - decay U),  dB likewise if learned
    dP = lateral eta (u - P z) z',  dS = lateral eta n apical'

Simplified: no time, and no effect of the apical compartment on the soma, the limit of small g_A. It
starts in the self-predicting state P = U, S = B. Top-down weights were fixed in the original;
learned ones follow Kolen & Pollack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from biorrr.models.parts import Parts, Pathway, Population, Step, Variable
from biorrr.models.theories.feedback_alignment import feedback, proximal, readout
from biorrr.models.theories.theory import (
    Theory,
    draw_matrices,
    pyramidal,
    sensory_fibres,
    timetable,
)
from biorrr.models.validation import NotNegative, number_within

Share = Annotated[float, partial(number_within, low=1e-6, high=1)]


@dataclass(frozen=True, kw_only=True)
class Sacramento(Theory):
    """Cells taught by what interneurons fail to predict of the top-down drive.

    Parameters
    ----------
    nudge
        How far instruction moves the top cells, from 0 to 1.
    learned
        True where the top-down weights learn.
    lateral
        Rate of the interneurons' synapses, over that of the others.
    decay
        Decay of readout and learned feedback, relative to the rate.
    """

    nudge: Share = 0.5
    learned: bool = True
    lateral: NotNegative = 5.0
    decay: NotNegative = 0.3
    citation: ClassVar[str] = "Sacramento et al. 2018"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The theory with its kind of feedback."""
        return f"Sacramento, {'learned' if self.learned else 'fixed'}"

    def parts(self, n: int) -> Parts:
        """Return cells, ``n`` top cells that instruction nudges, and an interneuron for each of
        these.
        """
        shared = {
            "decay": self.decay if self.learned else 0.0,
            "lateral": self.lateral,
            "nudge": self.nudge,
            "leak": 0.01,
        }
        top = Population(
            None,
            "instructive",
            (
                Variable("y", "instructive input", role="input"),
                Variable("guess", "prediction of y"),
                Variable("u", "potential of the top cell"),
                Variable("miss", "what the prediction misses"),
            ),
            (Step("output", "u = (1 - nudge) * guess + nudge * y\nmiss = (u - guess) / nudge"),),
            dimension="instruction",
        )
        interneurons = Population(
            n,
            "interneurons",
            (
                Variable("n", "interneuron activity"),
                Variable("predicted", "dendritic prediction"),
                Variable("taught", "potential of the top cell that it stands for"),
            ),
            (Step("interneuron output", "n = (1 - leak) * predicted + leak * taught"),),
            dimension="interneuron",
        )
        cells = pyramidal(
            self.k,
            Variable("topdown", "drive by top cells"),
            Variable("inhibition", "its prediction"),
            Variable("apical", "what is left of the drive"),
            Step("plateau", "apical = topdown - inhibition"),
        )
        top_down = replace(feedback("u_pre", "miss_pre", self.learned), drives="topdown")
        return Parts(
            (
                timetable(self.rate, **shared),
                sensory_fibres(self.ridge),
                top,
                cells,
                interneurons,
            ),
            (
                proximal("apical_post / (nudge * (1 - leak))"),
                replace(readout("miss_post"), phase="output"),
                top_down,
                Pathway(
                    "recruitment",
                    "pyramidal",
                    "interneurons",
                    "predicted",
                    "w * z_pre",
                    "recruitment",
                    weight="P",
                    change="lateral * eta * (taught_post - predicted_post) * z_pre",
                    target_by_source=True,
                ),
                Pathway(
                    "teaching",
                    "instructive",
                    "interneurons",
                    "taught",
                    "w * u_pre",
                    "recruitment",
                    weight="T",
                ),
                Pathway(
                    "inhibitory",
                    "interneurons",
                    "pyramidal",
                    "inhibition",
                    "w * n_pre",
                    "inhibition",
                    weight="S",
                    change="lateral * eta * n_pre * apical_post",
                ),
            ),
        )

    def start(self, m, n, seed):
        """Draw weights in the self-predicting state: interneurons predict the top cells as these
        predict y.
        """
        weights = draw_matrices(seed, Vx=(m, self.k), U=(n, self.k), B=(n, self.k))
        return weights | {"P": weights["U"], "S": weights["B"], "T": np.eye(n)}

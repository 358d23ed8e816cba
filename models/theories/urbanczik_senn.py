"""Dendritic prediction of somatic spiking: a dendrite learns to predict a soma that a teacher
nudges.

Urbanczik & Senn (2014), "Learning by the dendritic prediction of somatic spiking", Neuron 81.

Original (soma U, dendrite V_w, the share V* of it that reaches the soma, spikes S, a teacher's
conductances g_E, g_I)::

    C dU/dt = -g_L U + g_D (V_w - U) + g_E (E_E - U) + g_I (E_I - U),  V_w = sum_i w_i PSP_i,  V* =
    V_w g_D/(g_D + g_L) dw_i = eta (S - phi(V*)) h(V*) PSP_i, low-pass filtered,  h = phi'/phi

At rest U = (1 - l) V* + l U_M, where the matching potential U_M and its share l follow from g_E and
g_I. Here phi is the identity, rates stand for spikes, the teacher sets U_M, and l = nudge is a
constant::

    v = V'x,  apical = B'y,  z = (1 - l) v + l apical,    dV = eta x (z - v)' / l
    teacher "fixed":    B stays as it was drawn
    teacher "Hebbian":  dB = eta (y v' - B diag(v^2)), Oja's rule of each cell

Simplified: no time, no filter, no spikes, h constant, weights of either sign. The teacher combines
the features of y, where the original left its origin open. Without inhibition between cells a
Hebbian teacher tells all of them the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar, Literal

from biorrr.models.paper.fibres import InstructiveInput
from biorrr.models.parts import Parts, Pathway
from biorrr.models.theories.feedback_alignment import proximal
from biorrr.models.theories.theory import Theory, drawn, pyramidal, sensory_fibres, timetable
from biorrr.models.validation import number_within
from biorrr.models.variables import Step, Variable, broadcast


@dataclass(frozen=True, kw_only=True)
class UrbanczikSenn(Theory):
    """Cells whose dendrites predict a soma that a teacher nudges.

    Parameters
    ----------
    teacher
        "fixed" or "Hebbian".
    nudge
        How far the teacher moves the soma, from 0 to 1.
    """

    teacher: Literal["fixed", "Hebbian"] = "fixed"
    nudge: Annotated[float, partial(number_within, low=1e-6, high=1)] = 0.5
    citation: ClassVar[str] = "Urbanczik & Senn 2014"
    readout: ClassVar[str] = "B"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The theory with its kind of teacher."""
        return f"Urbanczik-Senn, {self.teacher}"

    def parts(self, n: int) -> Parts:
        """Return cells with a dendritic prediction v and a teacher."""
        cells = pyramidal(
            self.k,
            Variable("v", "dendritic prediction"),
            Variable("apical", "current of the teacher"),
            Step("membrane", "z = (1 - nudge) * v + nudge * apical"),
        )
        rule = "eta * v_post * (y_pre - v_post * w)" if self.teacher == "Hebbian" else ""
        return Parts(
            (
                timetable(
                    self.rate, broadcast("nudge", "share of the teacher", "parameter", self.nudge)
                ),
                sensory_fibres(self.ridge),
                InstructiveInput(),
                cells,
            ),
            (
                replace(proximal("(z_post - v_post) / nudge"), drives="v"),
                Pathway(
                    "distal",
                    "instructive",
                    "pyramidal",
                    "apical",
                    "w * y_pre",
                    "drive",
                    change=rule,
                    weight="B",
                ),
            ),
        )

    def start(self, m, n, seed):
        """Draw weights."""
        return drawn(seed, Vx=(m, self.k), B=(n, self.k))

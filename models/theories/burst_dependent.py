"""Burst-dependent plasticity: the probability that a cell bursts, against its mean, teaches its
synapses.

Payeur, Guerguiev, Zenke, Richards & Naud (2021), "Burst-dependent synaptic plasticity can
coordinate learning in hierarchical circuits", Nature Neuroscience 24.

Original (event rate e, burst rate b = p e, running means with a bar)::

    p = sigma(apical current),  dW_ij = eta (b_i - pbar_i e_i) e~_j,  pbar = bbar/ebar apical
    current = top-down bursts (depressing synapses) less inhibition that removes the effect of event
    rates

Here rates are counted from their rest e0, at which p = 1/2, with (.)+ what is not negative and gain
g = 0.3::

    z = V'x,  y^ = Uz,  event rates e0 + z and e0 + y^ top cells burst with probability 1/2 + (y -
    y^)/e0, so their burst rate is  e0/2 + y^/2 + (y - y^)(1 + y^/e0)+ sent = (y - y^)(1 + y^/e0)+,
    and y^/2 more where the event rate is not cancelled p = sigma(g B'sent),  apical = (p -
    p_mean)(1 + z/e0)+ 4/g,   p_mean over 1000 samples dV = eta x apical',  dU = eta ((y - y^)(1 +
    y^/e0)+ z' - decay U),  dB likewise

Simplified: ensemble rates without spikes or synaptic dynamics; presynaptic events are counted from
their rest, too; the factor 4/g makes the gain of sigma at rest 1. Learned feedback follows Kolen &
Pollack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from biorrr.models.parts import Parts, Population, Step, Variable
from biorrr.models.theories.feedback_alignment import feedback, proximal, readout
from biorrr.models.theories.theory import (
    Theory,
    draw_matrices,
    pyramidal,
    sensory_fibres,
    timetable,
)
from biorrr.models.validation import NotNegative, Positive


@dataclass(frozen=True, kw_only=True)
class BurstDependent(Theory):
    """Cells taught by their burst probability, relative to its mean.

    Parameters
    ----------
    resting
        Event rate at rest, in units of the output.
    cancelling
        True where inhibition removes the event rate of top cells from what arrives at the apical
        dendrite.
    learned
        True where the feedback learns.
    decay
        Decay of readout and learned feedback, relative to the rate.
    """

    resting: Positive = 30.0
    cancelling: bool = True
    learned: bool = True
    decay: NotNegative = 0.3
    citation: ClassVar[str] = "Payeur et al. 2021"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The theory, with what it lacks."""
        fixed = "" if self.learned else ", fixed"
        return f"bursts{fixed}{'' if self.cancelling else ', not cancelled'}"

    def parts(self, n: int) -> Parts:
        """Return bursting cells and top cells whose bursts carry the error."""
        top = Population(
            None,
            "instructive",
            (
                Variable("y", "instructive input", role="input"),
                Variable("guess", "prediction of y"),
                Variable("bursts", "burst rate beyond what the event rate explains"),
                Variable("sent", "what reaches the apical dendrites"),
            ),
            (
                Step(
                    "interneuron",
                    """
                    bursts = (y - guess) * clip(1 + guess / resting, 0, inf)
                    sent = bursts + (1 - cancelling) * guess / 2
                    """,
                ),
            ),
            dimension="instruction",
        )
        cells = pyramidal(
            self.k,
            Variable("current", "apical current"),
            Variable("p", "burst probability"),
            Variable("p_mean", "its running mean", role="memory", value=0.5),
            Variable("apical", "bursts that teach"),
            Step(
                "plateau",
                """
                p = 1 / (1 + exp(-gain * current))
                apical = (p - p_mean) * clip(1 + z / resting, 0, inf) * 4 / gain
                p_mean += (p - p_mean) / 1000
                """,
            ),
        )
        shared = {
            "decay": self.decay if self.learned else 0.0,
            "resting": self.resting,
            "cancelling": float(self.cancelling),
            "gain": 0.3,
        }
        return Parts(
            (timetable(self.rate, **shared), sensory_fibres(self.ridge), top, cells),
            (
                proximal(),
                readout("bursts_post"),
                replace(feedback("sent_pre", "bursts_pre", self.learned), drives="current"),
            ),
        )

    def start(self, m, n, seed):
        """Draw weights."""
        return draw_matrices(seed, Vx=(m, self.k), U=(n, self.k), B=(n, self.k))

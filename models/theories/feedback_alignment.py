"""Feedback alignment and back-propagation: an error travels down by feedback weights.

Lillicrap et al. (2016), "Random synaptic feedback weights support error backpropagation for deep
learning", Nature Communications 7. Learned feedback: Kolen & Pollack (1994), "Backpropagation
without weight transport".

Original (one hidden layer, f and g nonlinear)::

    h = f(Wx), y^ = g(U h), e = y - y^       dU = eta e h',  dW = eta ((B'e) f'(h)) x'

Here f and g are the identity and V = W'::

    z = V'x, e = y - Uz, apical = B'e        dV = eta x apical',  dU = eta (e z' - decay U)
    feedback "fixed":    B stays as it was drawn, decay = 0
    feedback "learned":  dB = eta (e z' - decay B), so that B - U decays
    feedback "backprop": B = U at all times, decay = 0

Simplified: no nonlinearities; the error arrives in an apical compartment.

Back-propagation needs each feedback synapse to have the weight of another one, U. The simulation
keeps a twin of U with the same start and the same changes; its locality is judged as what it is, a
weight that is U.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from biorrr.models.parts import Parts, Pathway, Population, Step, Variable
from biorrr.models.theories.theory import (
    Theory,
    draw_matrices,
    pyramidal,
    sensory_fibres,
    timetable,
)
from biorrr.models.validation import NotNegative


@dataclass(frozen=True, kw_only=True)
class FeedbackAlignment(Theory):
    """Cells taught by an error that arrives through feedback weights.

    Parameters
    ----------
    feedback
        "fixed", "learned" or "backprop", where it is the readout itself.
    decay
        Decay of readout and learned feedback, relative to the rate.
    """

    feedback: Literal["fixed", "learned", "backprop"] = "learned"
    decay: NotNegative = 0.3
    citation: ClassVar[str] = "Lillicrap et al. 2016; Kolen & Pollack 1994"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The theory with its kind of feedback."""
        return "backprop" if self.feedback == "backprop" else f"{self.feedback} feedback"

    def parts(self, n: int) -> Parts:
        """Return cells, their input, and an output population that knows its error."""
        decay = self.decay if self.feedback == "learned" else 0.0
        output = Population(
            None,
            "instructive",
            (
                Variable("y", "instructive input", role="input"),
                Variable("guess", "prediction of y"),
                Variable("error", "what the prediction misses"),
            ),
            (Step("interneuron", "error = y - guess"),),
            dimension="instruction",
        )
        carried = feedback("error_pre", "error_pre", self.feedback != "fixed")
        carried = replace(carried, judged="U" if self.feedback == "backprop" else "")
        return Parts(
            (
                timetable(self.rate, decay=decay),
                sensory_fibres(self.ridge),
                output,
                pyramidal(self.k, Variable("apical", "error by feedback")),
            ),
            (proximal(), readout("error_post"), carried),
        )

    def start(self, m, n, seed):
        """Draw weights; feedback of "backprop" begins as the readout."""
        weights = draw_matrices(seed, Vx=(m, self.k), U=(n, self.k), B=(n, self.k))
        return weights | ({"B": weights["U"]} if self.feedback == "backprop" else {})


def proximal(teaching: str = "apical_post") -> Pathway:
    """Return V, from the sensory fibres to the soma: input times what the apical compartment
    teaches.
    """
    return Pathway(
        "proximal",
        "sensory",
        "pyramidal",
        "z",
        "w * x_pre",
        "drive",
        change=f"eta * x_pre * {teaching}",
        weight="Vx",
    )


def readout(miss: str) -> Pathway:
    """Return U, by which cells predict y: the delta rule on ``miss``, with decay."""
    return Pathway(
        "readout",
        "pyramidal",
        "instructive",
        "guess",
        "w * z_pre",
        "recruitment",
        target_by_source=True,
        change=f"eta * ({miss} * z_pre - decay * w)",
        weight="U",
    )


def feedback(carried: str, miss: str, learned: bool) -> Pathway:
    """Return B, which brings what is ``carried`` to the apical compartment, and learns as U does if
    ``learned``.
    """
    return Pathway(
        "feedback",
        "instructive",
        "pyramidal",
        "apical",
        f"w * {carried}",
        "inhibition",
        change=f"eta * ({miss} * z_post - decay * w)" if learned else "",
        weight="B",
    )

"""Theories in which cells are taught by the error of a prediction of y."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np

from biorrr.models.parts import Parts, Pathway, Population, Step, Variable
from biorrr.models.theories.theory import (
    Theory,
    noisy_fibres,
    pyramidal,
    timetable,
)
from biorrr.models.validation import NotNegative, Positive, number_within


@dataclass(frozen=True, kw_only=True)
class FeedbackAlignment(Theory):
    """Cells taught by an error that arrives through feedback weights, or by back-propagation.

    Lillicrap et al. (2016), "Random synaptic feedback weights support error backpropagation for
    deep learning", Nature Communications 7. Learned feedback: Kolen & Pollack (1994),
    "Backpropagation without weight transport".

    Original (one hidden layer, f and g nonlinear)::

        h = f(Wx), y^ = g(U h), e = y - y^       dU = eta e h',  dW = eta ((B'e) f'(h)) x'

    Here f and g are the identity and V = W'::

        z = V'x, e = y - Uz, apical = B'e        dV = eta x apical',  dU = eta (e z' - decay U)
        feedback "fixed":    B stays as it was drawn, decay = 0
        feedback "learned":  dB = eta (e z' - decay B), so that B - U decays
        feedback "backprop": B = U at all times, decay = 0

    Simplified: no nonlinearities; the error arrives in an apical compartment.

    Back-propagation needs each feedback synapse to have the weight of another one, U. The
    simulation keeps a twin of U with the same start and the same changes; its locality is judged as
    what it is, a weight that is U.

    Parameters
    ----------
    feedback
        "fixed", "learned" or "backprop", where it is the readout itself.
    decay
        Decay of readout and learned feedback, relative to the rate.
    """

    feedback: Literal["fixed", "learned", "backprop"] = "learned"
    decay: NotNegative = 0.3

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
                noisy_fibres(self.ridge),
                output,
                pyramidal(self.k, Variable("apical", "error by feedback")),
            ),
            (proximal(), readout("error_post"), carried),
        )

    def start(self, m, n, seed):
        """Draw weights; feedback of "backprop" begins as the readout."""
        weights = super().start(m, n, seed)
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


@dataclass(frozen=True, kw_only=True)
class Sacramento(Theory):
    """Cells taught by what interneurons fail to predict of the top-down drive.

    Sacramento, Costa, Bengio & Senn (2018), "Dendritic cortical microcircuits approximate the
    backpropagation algorithm", NeurIPS 31.

    Original (membrane potentials u, rates r = phi(u), compartments v, all leaky in time)::

        v_A = W_PP(top-down) r_top + W_PI r_I   # apical: drive less what interneurons predict of it
        du/dt = -g_lk u + g_B (v_B - u) + g_A (v_A - u)       # soma of a hidden cell
        dW_basal = eta (r - phi(v^_B)) r_below'   # dendritic prediction of the soma, moved by v_A
        dW_IP = eta (r_I - phi(v^_I)) r',  dW_PI = eta (v_rest - v_A) r_I'

    Top cells are nudged towards y, and each interneuron by the top cell that it stands for. Here
    phi is the identity, and a sample is one sweep from x to the dendrite (l = nudge, i = 0.01)::

        z = V'x,  u = (1 - l) Uz + l y,  n = (1 - i) P z + i u,  apical = B'u - S'n
        dV = eta x apical' / (l (1 - i))
        dU = eta ((u - Uz) z' / l - decay U),  dB likewise if learned
        dP = lateral eta (u - P z) z',  dS = lateral eta n apical'

    Simplified: no time, and no effect of the apical compartment on the soma, the limit of small
    g_A. It starts in the self-predicting state P = U, S = B. Top-down weights were fixed in the
    original; learned ones follow Kolen & Pollack.

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

    nudge: Annotated[float, partial(number_within, low=1e-6, high=1)] = 0.5
    learned: bool = True
    lateral: NotNegative = 5.0
    decay: NotNegative = 0.3

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
                noisy_fibres(self.ridge),
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
        weights = super().start(m, n, seed)
        return weights | {"P": weights["U"], "S": weights["B"], "T": np.eye(n)}


@dataclass(frozen=True, kw_only=True)
class BurstDependent(Theory):
    """Cells taught by their burst probability, relative to its mean.

    Payeur, Guerguiev, Zenke, Richards & Naud (2021), "Burst-dependent synaptic plasticity can
    coordinate learning in hierarchical circuits", Nature Neuroscience 24.

    Original (event rate e, burst rate b = p e, running means with a bar)::

        p = sigma(apical current),  dW_ij = eta (b_i - pbar_i e_i) e~_j,  pbar = bbar/ebar
        apical current = top-down bursts (depressing synapses)
                         less inhibition that removes the effect of event rates

    Here rates are counted from their rest e0, at which p = 1/2, with (.)+ what is not negative and
    gain g = 0.3. Top cells burst with probability 1/2 + (y - y^)/e0::

        z = V'x,  y^ = Uz,  event rates e0 + z and e0 + y^
        burst rate of top cells = e0/2 + y^/2 + (y - y^)(1 + y^/e0)+
        sent = (y - y^)(1 + y^/e0)+, and y^/2 more where the event rate is not cancelled
        p = sigma(g B'sent),  apical = (p - p_mean)(1 + z/e0)+ 4/g,  p_mean over 1000 samples
        dV = eta x apical',  dU = eta ((y - y^)(1 + y^/e0)+ z' - decay U),  dB likewise

    Simplified: ensemble rates without spikes or synaptic dynamics; presynaptic events are counted
    from their rest, too; the factor 4/g makes the gain of sigma at rest 1. Learned feedback follows
    Kolen & Pollack.

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
            (timetable(self.rate, **shared), noisy_fibres(self.ridge), top, cells),
            (
                proximal(),
                readout("bursts_post"),
                replace(feedback("sent_pre", "bursts_pre", self.learned), drives="current"),
            ),
        )

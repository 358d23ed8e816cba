"""Behavioural-timescale plasticity whose sign depends on the weight (Milstein et al., eLife 2021).

Weak synapses grow and strong ones shrink where a trace of the input overlaps with a trace of the
plateau. It describes place cells of CA1; nothing in it compares a prediction with an instruction,
so it does not solve the regression.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from biorrr.errors import InputError
from biorrr.models.departure import Departure
from biorrr.models.departures.eligibility import with_trace
from biorrr.models.parts import Parts, Pathway
from biorrr.models.physical_units import Lasting
from biorrr.models.validation import NotNegative, Positive, number_within
from biorrr.models.variables import Step, Variable, parameter

_Time = Annotated[Lasting, partial(number_within, low=math.ulp(0))]
_MEANINGS = {
    "k": "rate",
    "threshold": "threshold",
    "slope": "slope",
    "floor": "sigmoid at no overlap",
    "ceiling": "sigmoid at full overlap",
}


@dataclass(frozen=True)
class WeightDependentPlasticity(Departure):
    """Proximal synapses that follow dW/dt = (w_max - W) k+ q+(e P) - W k- q-(e P), within 0 and
    w_max.

    e is a trace of the input and P one of the plateau, each over its peak; q+ and q- are sigmoids,
    rescaled to go from 0 at no overlap to 1 at full overlap. As q- rises at much smaller overlaps
    than q+, a plateau strengthens the weak synapses whose inputs were active at about the same
    time, and weakens the strong ones, above all those whose inputs were active some seconds off.
    Spontaneous replay does not change these synapses.

    Parameters
    ----------
    w_max
        The largest weight.
    tau_x, tau_plateau
        Time constants of the two traces in seconds (in samples where activity is instant).
    k_plus, k_minus
        Rates of growth and decline at full overlap, per second (or sample).
    threshold_plus, threshold_minus, slope_plus, slope_minus
        Of the two sigmoids 1/(1 + exp(-slope (overlap - threshold))). These and the rates and time
        constants are the values fitted to CA1.
    peak_x, peak_plateau
        The peaks by which the traces are divided: the largest that they reach in an experiment.
    """

    w_max: Positive = 1.0
    tau_x: _Time = 1.66
    tau_plateau: _Time = 0.44
    k_plus: NotNegative = 1.1
    k_minus: NotNegative = 0.424
    threshold_plus: NotNegative = 0.415
    threshold_minus: NotNegative = 0.026
    slope_plus: NotNegative = 4.40
    slope_minus: NotNegative = 20.04
    peak_x: Positive = 1.0
    peak_plateau: Positive = 1.0
    alters = ("proximal",)
    turn = -1

    @property
    def memory(self) -> float:  # type: ignore[override]
        """The longer of its time constants."""
        return max(self.tau_x, self.tau_plateau)

    def alter(self, parts: Parts) -> Parts:
        """Keep both traces, and let proximal synapses read their overlap."""
        for pathway in parts.all(kind="proximal"):
            source, target = parts[pathway.source], parts[pathway.target]
            if source.kind != "sensory":
                raise InputError(
                    f"{pathway.name} hears the outputs of {source.name}, which have either sign,"
                    " and this rule is for sensory inputs; in a hierarchy, give"
                    " InAreas(WeightDependentPlasticity(...), (1,))"
                )
            parts = parts.having(
                with_trace(source, "x", "x_eligibility", self.tau_x),
                with_trace(target, "plateau", "plateau_eligibility", self.tau_plateau),
                self._dependent(pathway),
            )
        return parts

    def _dependent(self, pathway: Pathway) -> Pathway:
        """Return ``pathway`` with synapses that read the overlap of both traces."""
        own = [
            parameter("w_max", "largest weight", self.w_max, per="pathway"),
            parameter("peak_x", "peak of the input's trace", self.peak_x, per="pathway"),
            parameter(
                "peak_plateau", "peak of the plateau's trace", self.peak_plateau, per="pathway"
            ),
            Variable("overlap", "of the traces of input and plateau, from 0 to 1", "synapse"),
        ]
        gains = {}
        for sign in ("plus", "minus"):
            sigmoid = f"1 / (1 + exp(-slope_{sign} * ({{}} - threshold_{sign})))".format
            values = {name: getattr(self, f"{name}_{sign}") for name in ("k", "threshold", "slope")}
            values |= {"floor": sigmoid(0), "ceiling": sigmoid(1)}
            own += [
                parameter(f"{name}_{sign}", _MEANINGS[name], v, per="pathway")
                for name, v in values.items()
            ]
            gains[sign] = (
                f"k_{sign} * ({sigmoid('overlap')} - floor_{sign}) / (ceiling_{sign} -"
                f" floor_{sign})"
            )
        overlap = (
            "overlap = clip(x_eligibility_pre * plateau_eligibility_post / (peak_x * peak_plateau),"
            " 0, 1)"
        )
        return replace(
            pathway.adding(*own, Step("eligibility", overlap)),
            change=f"sample_time * ((w_max - w) * {gains['plus']} - w * {gains['minus']})",
            replay="",
            bound="clip(w, 0, w_max)",
            start=f"clip({pathway.start}, 0, w_max)",
            equation="dVx/dt = (Vmax - Vx) k+ q+(eP) - Vx k- q-(eP)",
        )

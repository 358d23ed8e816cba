"""Between the data's units and the circuit's own.

Rates fitted to the drive need drives that are comparable, so the circuit then sees g_x x and g_y y,
of mean square 1. For 0 < s < 1 plain scaling would rotate the optimum: s changes along, to s/(s +
(1-s) g_y^2). With D = s + (1-s) g_y^2, Sigma_s^-1 becomes (g_y^2/D) Sigma_s^-1, hence Vy becomes
(D/g_y) Vy, a becomes D a, M becomes D M, and Q sqrt(D) Q.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from biorrr.models.expressions import evaluate, names_in


@dataclass(frozen=True)
class Units:
    """Factors by which the basic quantities are multiplied inside; every variable says how it
    follows from them.

    Parameters
    ----------
    factors
        By name: of x, y, z, a and n; 1 for those that are not there.
    """

    factors: Mapping[str, float] = field(default_factory=dict)
    _known: dict[str, float] = field(
        default_factory=lambda: {"1": 1.0}, init=False, repr=False, compare=False
    )

    @classmethod
    def of_gains(cls, gain_x: float, gain_y: float, s: float) -> Units:
        """Return the units of a microcircuit with gains on its inputs, for the regression ``s`` of
        the data's units.
        """
        D = s + (1 - s) * gain_y**2
        return cls({"x": gain_x, "y": gain_y, "a": D, "n": math.sqrt(D)})

    def scale(self, expression: str) -> float:
        """Return the factor by which a variable with the scale ``expression`` is multiplied
        inside.
        """
        if expression not in self._known:
            names = {name: self.factors.get(name, 1.0) for name in names_in(expression).read}
            self._known[expression] = float(evaluate(expression, names))
        return self._known[expression]

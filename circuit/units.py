"""Between the data's units and the circuit's own.

Rates fitted to the drive need drives that are comparable, so the circuit then sees g_x x and g_y y, of mean square 1.
For 0 < s < 1 plain scaling would rotate the optimum: s changes along, to s/(s + (1-s) g_y^2). With D = s + (1-s) g_y^2,
Sigma_s^-1 becomes (g_y^2/D) Sigma_s^-1, hence Vy becomes (D/g_y) Vy, a becomes D a, M becomes D M, and Q sqrt(D) Q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Units:
    """Gains of the two inputs, and what follows for everything else.

    Parameters
    ----------
    gain_x, gain_y
        What the data are multiplied by.
    s
        The regression wanted, in the data's units.
    """

    gain_x: float
    gain_y: float
    s: float

    @property
    def _D(self) -> float:
        return self.s + (1 - self.s) * self.gain_y**2

    @property
    def inner_s(self) -> float:
        """S as the circuit must take it."""
        return self.s / self._D

    def inner_ridge(self, ridge: tuple[float, float]) -> tuple[float, float]:
        """The ridges on Cxx and Cyy as the circuit must take them."""
        return self.gain_x**2 * ridge[0], self.gain_y**2 * ridge[1]

    def outward(self, quantities: dict) -> dict:
        """Arrays by the name of the quantity, brought from the circuit's units to the data's."""
        return {name: values / self.scale(name) for name, values in quantities.items()}

    def scale(self, quantity: str) -> float:
        """What ``quantity`` is multiplied by inside."""
        return {
            "Vx": 1 / self.gain_x,
            "Vy": self._D / self.gain_y,
            "Q": math.sqrt(self._D),
            "R": math.sqrt(self._D),
            "x": self.gain_x,
            "y": self.gain_y,
            "n": math.sqrt(self._D),
            "a": self._D,
            "inhibition": self._D,
            "plateau": self._D,
        }.get(quantity, 1.0)

"""Learning rates: what a pathway's plasticity is multiplied by, sample by sample.

Free of Brian2, so that :mod:`biorrr.analysis` can share them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rate:
    """A rate that decays hyperbolically, eta(t) = eta0 / (1 + t/N) (supplement, Sec. "Numerical experiment details").

    Parameters
    ----------
    eta0
        Rate at the first sample, t = 0.
    N
        Samples after which the rate has halved; infinite for a constant rate.

    Examples
    --------
    >>> Rate(0.1, 100)(100)
    0.05
    """

    eta0: float
    N: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.eta0) and self.eta0 >= 0):
            raise ValueError(f"Rate.eta0: must be finite and not negative (got {self.eta0})")
        if not self.N > 0:
            raise ValueError(f"Rate.N: must be positive, or infinite for a constant rate (got {self.N})")

    def __call__(self, t):
        """Rate at sample ``t`` (a number or an array), counted from 0."""
        return self.eta0 / (1 + np.asarray(t) / self.N) if np.ndim(t) else self.eta0 / (1 + t / self.N)

    def scaled(self, factor: float) -> Rate:
        """The same decay from ``factor`` times the start."""
        return Rate(self.eta0 * factor, self.N)


@dataclass(frozen=True)
class Rates:
    """The rates of the four pathways.

    Parameters
    ----------
    x, y, q
        Proximal (Vx), distal (Vy) and interneuron-to-pyramidal (Q) plasticity; the paper's eta_x, eta_y, eta_q.
    r
        Pyramidal-to-interneuron (R) plasticity. The same as ``q`` unless given: only then does the theory promise
        R -> Q' (supplement, Sec. "Decoupling the interneuron synapses").
    """

    x: Rate
    y: Rate
    q: Rate
    r: Rate | None = None

    def __post_init__(self) -> None:
        for name in ("x", "y", "q", "r"):
            rate = getattr(self, name)
            if rate is None and name == "r":
                object.__setattr__(self, "r", self.q)
            elif not isinstance(rate, Rate):
                raise TypeError(f"Rates.{name}: must be a Rate (got {rate!r}); write Rate(eta0, N)")

    def scaled(self, factor: float) -> Rates:
        """All four rates times ``factor``, with the same decay."""
        return Rates(*(getattr(self, name).scaled(factor) for name in ("x", "y", "q", "r")))

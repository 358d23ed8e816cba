"""Rates "auto": one policy for the circuit and for Alg. 2, with the start that goes with it.

With f(N) = 1/(1 + t/N), D the number of directions over which x is spread, and <.> the mean over the data::

    eta_x = min(proximal f(N_x sqrt(k)) / <|x|^2>, single_x / |x|^2) / trace(QQ')
    wanted_q = interneuron / sqrt(k + 3) / (1 + sqrt(k) D / spread)
    eta_q = eta_r = min(wanted_q f(N), single_q / |z|^2)
    eta_y = min(distal / sqrt(k) wanted_q f(N) / S, single_y / (1 - s + s |y|^2))

S is 1 - s + s b, with b a power of y in one direction, between that of a typical channel and that along the strongest
direction. A ridge counts as input: |x|^2 stands for |x|^2 + m ridge, and likewise for y. What is behind it:

- Proximal learning is a least-mean-squares rule with gain QR, stable while eta_x |x|^2 trace(QR) < 2. The more cells
  there are, the smaller a share of the trace each has: weak ones need longer.
- Distal learning must not be faster than Q. A cell of a weak direction is drawn to a strong one as fast as Vy
  learns, and held back as fast as inhibition learns: where Vy is faster, filters wander from cell to cell for ever.
  Q itself may be as fast as its noise allows; there is more noise the more cells and directions there are.
- At first QQ' is large and so is Vy, in proportion, and both come down together. Each direction then appears as QQ'
  comes down to its eigenvalue, at about its final size. From a small Vy it would appear late and overshoot.
- The second terms tame samples far stronger than the typical one. As f falls they stop to matter, so that in the end
  every sample counts the same and the optimum is not shifted.
- Q and R always share their rate, so R -> Q' holds.

Numbers were searched for on digits, V1-V2, MediaMill, MNIST, heavy-tailed and white data, s = 0 and 1, k = 1, 5 and 8,
100,000 samples each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_CHUNK = 2**22  # values looked at together
_ROWS = 1000  # samples that are looked at for more than their power


@dataclass(frozen=True)
class AutoRates:
    """The numbers of the policy."""

    N: float = 5000.0
    N_x: float = 3500.0
    proximal: float = 0.8
    interneuron: float = 0.06
    spread: float = 60.0
    distal: float = 0.75
    towards_strongest: float = 0.8  # how far b lies on the way from a typical channel to the strongest, in log power
    single_x: float = 1.0
    single_y: float = 0.5
    single_q: float = 0.3
    start_x: float = 0.01
    start_y: float = 0.2
    start_q: float = 0.6


AUTO = AutoRates()


@dataclass(frozen=True)
class Drive:
    """What the policy knows of the data beforehand, the ridge included.

    Parameters
    ----------
    power_x, power_y
        Means of |x|^2 and of |y|^2.
    dimension_x
        Number of directions over which the power of x is spread: trace(Cxx)^2 / trace(Cxx^2).
    strongest_y
        Power of y along its strongest direction, the largest eigenvalue of Cyy.
    """

    power_x: float
    power_y: float
    dimension_x: float
    strongest_y: float

    @classmethod
    def white(cls, m: int, n: int) -> Drive:
        """That of m and n independent inputs of unit variance."""
        return cls(float(m), float(n), float(m), 1.0)

    @classmethod
    def of(
        cls,
        X: NDArray,
        Y: NDArray,
        ridge: tuple[float, float],
        means: tuple[NDArray | float, NDArray | float] = (0.0, 0.0),
        powers: tuple[float, float] | None = None,
    ) -> Drive:
        """Return the drive of X (n_samples, m) and Y (n_samples, n) less their means, with their ridges.

        Where the means of |x|^2 and |y|^2 are known, as ``powers``, evenly spaced rows of X and Y are enough.
        """
        (m, n), (ridge_x, ridge_y) = (X.shape[1], Y.shape[1]), ridge
        power, power_y = (_power(X, means[0]), _power(Y, means[1])) if powers is None else powers
        squares = power**2 / _dimension(X, means[0])  # trace(Cxx^2)
        return cls(
            power_x=power + m * ridge_x,
            power_y=power_y + n * ridge_y,
            dimension_x=(power + m * ridge_x) ** 2 / (squares + 2 * ridge_x * power + m * ridge_x**2),
            strongest_y=_strongest(Y, means[1]) + ridge_y,
        )

    def typical_y(self, n: int) -> float:
        """Power of y in one direction that is to be learned, between that of a channel and the strongest."""
        each, share = self.power_y / n, AUTO.towards_strongest
        return each ** (1 - share) * self.strongest_y**share

    def start(self, n: int, s: float) -> tuple[float, float, float]:
        """How large Vx, Vy and Q are at first: standard deviations of Vx and Vy, and the diagonal of Q.

        M's eigenvalues, those of QQ' at the optimum, are at most strongest_y / (1 - s + s strongest_y).
        """
        bound = self.strongest_y / (1 - s + s * self.strongest_y)
        each_y = self.power_y / n
        return (
            AUTO.start_x / math.sqrt(self.power_x),
            AUTO.start_y * math.sqrt(bound / (1 - s + s * each_y)),
            AUTO.start_q * math.sqrt(bound),
        )


def _power(array: NDArray, mean: NDArray | float) -> float:
    """Mean of |row|^2; 1 for rows that are all zero."""
    step = max(_CHUNK // array.shape[1], 1)
    blocks = (array[start : start + step] - mean for start in range(0, len(array), step))
    return float(sum(np.square(rows).sum() for rows in blocks)) / len(array) or 1.0


def _some(array: NDArray, mean: NDArray | float) -> NDArray:
    """Evenly spaced samples of ``array``."""
    return array[:: -(-len(array) // _ROWS)] - mean


def _dimension(array: NDArray, mean: NDArray | float) -> float:
    """trace(C)^2 / trace(C^2), from 1 to the number of columns; all of them where there is one sample only."""
    rows = _some(array, mean)
    count, m = rows.shape
    products = np.square(rows @ rows.T)
    own = np.trace(products)  # squared norms, squared: a sample's product with itself says nothing about spread
    shared = products.sum() - own
    power = np.sqrt(np.diag(products)).mean()
    if not (count > 1 and shared > 0):
        return float(m)
    return float(np.clip(power**2 / (shared / (count * (count - 1))), 1, m))


def _strongest(array: NDArray, mean: NDArray | float) -> float:
    """Largest eigenvalue of C; 1 where all is zero."""
    rows = _some(array, mean)
    gram = rows.T @ rows if rows.shape[1] < len(rows) else rows @ rows.T
    return float(np.linalg.eigvalsh(gram)[-1]) / len(rows) or 1.0

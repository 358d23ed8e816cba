"""Rates "auto": one policy for the circuit and for Alg. 2, with the start that goes with it.

With D the number of directions over which x is spread, P a running mean of the output power |z|^2,
<.> the mean over the data, G >= 1 a measure of how rare the events are that carry the power of x,
and left = 1 - t/T the share of the run that is still to come::

    wanted_x = left^1.5 x min(k D / few, 1)^1.5 / (G <|x|^2>) wanted_q = left clip(P/k, 0.13, 1)
    q(s, k) / (1 + D/D(k)) / G wanted_y = G y(k) wanted_q / S eta_x = min(wanted_x, left^0.5
    min(single_x, single_cell k) / |x|^2) / max(trace(QQ'), 0.001 b / S) eta_y = min(wanted_y,
    left^0.5 single_y / (1 - s + s |y|^2)) eta_q = eta_r = min(wanted_q, left^0.5 G single_q /
    |z|^2)

G is max(1, tail/5), where the tail is <|x|^4>/<|x|^2>^2, one sample in a hundred left aside, over
its value for Gaussian data, 1 + 2/D. S is 1 - s + s b, with b a power of y in one direction,
between that of a typical channel and that along the strongest direction. A ridge counts as input:
|x|^2 stands for |x|^2 + m ridge, and likewise for y. Where the end T is not announced, left is 1,
rates fall as 1 / (1 + t/N) instead, the output power does not change them, and G is 1. The reasons:

- Proximal learning is a least-mean-squares rule with gain QR, stable while eta_x |x|^2 trace(QR) <
2. The weaker a
  direction, the smaller its share of the trace, and the longer it takes. Its noise is what y has
  beyond the prediction. With few cells and few directions of x this noise piles up in a single
  output, so rates are lower there. With one cell, so is the bound on single samples.
- Distal learning must not be faster than Q. A cell of a weak direction is drawn to a strong one as
fast as Vy
  learns, and held back as fast as inhibition learns: where Vy is faster, filters wander from cell
  to cell for ever.
- Q must not be faster than Vx in weak directions. While the output in a direction is below its
final power, Q falls
  exponentially there. If Vx cannot follow, inhibition of that direction is lost and its output
  stays too weak. So Q and Vy learn in proportion to the output power while outputs are missing.
  More cells and more directions mean more weak directions, and more noise. At s = 1 the eigenvalues
  of M differ less than at s = 0, so Q may be faster.
- At first QQ' is large and so is Vy, in proportion, and both come down together. Each direction
then appears as QQ'
  comes down to its eigenvalue, at about its final size. From a small Vy it would appear late and
  overshoot.
- Noise is in proportion to the rates, and progress to their sum. Where the end of a run is
announced, rates fall in
  proportion to what is left of it: at the end no noise is left. Vx cools down before Q, so that Q
  settles on quiet filters.
- The bounds on single samples tame those far stronger than the typical one. Rates fall faster than
the bounds, so
  that in the end every sample counts the same and the optimum is not shifted.
- Where rare events carry the power, Q decays at every sample and grows at few, at which the bound
cuts its rate:
  inhibition is too weak, and outputs overshoot. So Q is slower there and its bound wider. Vx is
  slower too, as fewer samples average its noise.
- Where x says nothing about y, QQ' fades, and a proximal rate that is divided by it would grow
without end. Below a
  thousandth of what y could ask for it is divided by that instead: the circuit falls silent.
- A departure that makes the mean-square step of Vx larger says by how much, and eta_x is divided by
it.
- Q and R always share their rate, so R -> Q' holds.

The numbers of announced runs were searched for on digits, V1-V2, MediaMill, white, heavy-tailed,
low-rank and few data, s = 0 and 1, k = 1, 3, 5 and 8, 100,000 samples each; those of open-ended
runs on the first five and MNIST; those of G on rare bursts, sparse data, spike counts, heavy-tailed
data and MediaMill; those for few cells on MediaMill, spike counts and heavy-tailed latents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_CHUNK = 2**22  # values looked at together
_ROWS = 1000  # samples that are looked at for more than their power
_OUTLIERS = (
    0.01  # share of the samples that count as outliers: the bounds on single samples tame them
)
_SEARCHED = 100_000  # samples of the runs on which the numbers were searched for


# Numbers that a policy gives to the neuromodulator, for one circuit, its data and a run of some
# length.
PLANNED = {
    "base_x": "proximal rate at first, for an input of unit power along one direction",
    "base_q": "interneuron rate at first",
    "ratio_y": "distal rate, relative to that of the interneurons",
    "N_x": "samples after which the proximal rate has halved, the approaching end left aside",
    "N_q": "samples after which the other rates have halved, the approaching end left aside",
    "single_x": "bound on the effect of one sample on Vx",
    "single_y": "bound on the effect of one sample on Vy",
    "single_q": "bound on the effect of one sample on Q and R",
    "least": (
        "lowest output power, relative to its final one, in proportion to which Q and Vy learn"
    ),
    "last": "samples after which the run ends; infinite where the end is not announced",
}


@dataclass(frozen=True)
class Policy:
    """The numbers of the policy for circuits, data and runs of any size.

    Parameters
    ----------
    proximal
        Proximal rate at first.
    interneuron
        Interneuron rate at first, at s = 0 and at s = 1.
    spread
        Number of directions of x that halves the interneuron rate.
    distal
        Distal rate, relative to that of the interneurons, at s = 0 and at s = 1.
    crowding
        Power of k by which distal rates fall and directions of x count.
    towards_strongest
        Place of b between the power of a typical channel of y (0) and that along the strongest
        direction (1), in log power.
    tolerated
        Tail of the power of x above which rates heed rare events.
    N, N_x
        Rates halve after N samples, proximal ones after N_x sqrt(k).
    single
        Bounds on the effect of one sample on Vx, on Vy, and on Q and R.
    start
        Sizes of the initial Vx, Vy and Q.
    few
        Number of cells times directions of x below which proximal rates are lower.
    single_cell
        Bound on the effect of one sample on Vx, for each cell.
    least
        Lowest output power, relative to its final one, in proportion to which Q and Vy learn.
    """

    proximal: float
    interneuron: tuple[float, float]
    spread: float
    distal: tuple[float, float]
    crowding: float
    towards_strongest: float
    single: tuple[float, float, float]
    start: tuple[float, float, float]
    few: float = 1.0
    single_cell: float = math.inf
    least: float = 1.0
    tolerated: float = math.inf
    N: float = math.inf
    N_x: float = math.inf

    @classmethod
    def of(cls, last: float) -> Policy:
        """Return the policy of a run that is announced to end after ``last`` samples; infinite for
        one that is not.
        """
        return OPEN_ENDED if math.isinf(last) else ANNOUNCED

    def plan(self, k: int, s: float, drive: Drive, last: float = math.inf) -> dict[str, float]:
        """Return the numbers :data:`PLANNED` for ``k`` cells, the member ``s``, data and a run of
        ``last`` samples.
        """
        # Runs shorter than those of the search have less time for Q and Vy: they learn faster, and
        # end with more noise.
        hurry = min(max(_SEARCHED / last, 1.0), 30.0) if last < math.inf else 1.0
        interneuron, distal = (
            (1 - s) * rrmse + s * cca for rrmse, cca in (self.interneuron, self.distal)
        )
        crowd = k**self.crowding
        few = min(k * drive.dimension_x / self.few, 1.0)
        directions = 1 + drive.dimension_x * crowd / self.spread
        rare = max(drive.tail_x / self.tolerated, 1.0)
        single_x, single_y, single_q = self.single
        return dict(
            base_x=self.proximal * few**1.5 / rare,
            base_q=hurry ** (0.7 - 0.3 * s) * interneuron / math.sqrt(k + 3) / directions / rare,
            ratio_y=rare * distal / crowd,
            N_x=self.N_x * math.sqrt(k),
            N_q=self.N,
            single_x=min(single_x, self.single_cell * k),
            single_y=single_y,
            single_q=rare * single_q,
            least=min(hurry**0.7 * self.least, 1.0),
            last=last,
        )


OPEN_ENDED = Policy(
    proximal=0.8,
    interneuron=(0.06, 0.06),
    spread=60.0,
    distal=(0.75, 0.75),
    crowding=0.5,
    towards_strongest=0.8,
    single=(1.0, 0.5, 0.3),
    start=(0.01, 0.2, 0.6),
    N=5000.0,
    N_x=3500.0,
)
ANNOUNCED = Policy(
    proximal=1.4,
    few=18.7,
    single_cell=0.6,
    interneuron=(0.0055, 0.0125),
    spread=200.0,
    distal=(0.6, 0.36),
    crowding=0.75,
    towards_strongest=0.165,
    single=(1.2, 0.1, 0.1),
    start=(0.01, 0.12, 0.6),
    least=0.13,
    tolerated=5.0,
)


# The same for areas with apical feedback.
PLANNED_FOR_AREAS = {
    "base_x": "proximal rate of the first area at first, for an input of unit power",
    "base_w": "that of the others",
    "base_q": "interneuron rate at first",
    "base_y": "distal rate of the last area at first",
    "N_q": "samples after which rates have halved, the approaching end left aside",
    "last": "samples after which the run ends; infinite where the end is not announced",
}


def plan_of_areas(last: float) -> dict[str, float]:
    """Return the numbers :data:`PLANNED_FOR_AREAS` of a run of ``last`` samples; infinite for one
    without an end.

    With a weak link to y the first area learns in proportion to that link, and so does the noise of
    its plateau: its rate may be high, and need not fall before the end comes near. What y says is
    the small difference between the link from above and inhibition, so interneurons and distal
    synapses must be slow. Announced runs: found with a plain loop over digits, V1-V2 and synthetic
    data, two areas, gains to y from 0.05 to 2, 200,000 samples, seeds 0 to 2.
    """
    if math.isinf(last):
        return {
            "base_x": 0.05,
            "base_w": 0.05,
            "base_q": 0.01,
            "base_y": 0.003,
            "N_q": 40_000.0,
            "last": last,
        }
    return {
        "base_x": 1.0,
        "base_w": 0.01,
        "base_q": 0.003,
        "base_y": 0.002,
        "N_q": math.inf,
        "last": last,
    }


def start_of_areas(power_x: float, power_y: float, s: float) -> tuple[float, float, float]:
    """Return the size of W of the first area, and of A and Q of the last, at first.

    Parameters
    ----------
    power_x, power_y
        Mean of |x|^2, and mean square of a channel of y.
    s
        The member of the family of regressions.
    """
    usual_q = usual_inhibition(power_y, s)
    return 1 / math.sqrt(power_x), 0.03 * usual_q / math.sqrt(power_y), math.sqrt(usual_q)


def usual_inhibition(power_y: float, s: float) -> float:
    """Return the eigenvalue of QQ' at the optimum for a channel of y that x predicts and that has
    the power ``power_y``.
    """
    return power_y / (1 - s + s * power_y)


MEMORY = 400.0  # samples over which the output power is averaged
# trace(QQ') by which proximal rates are at least divided, relative to what y could ask for
LEAST_GAIN = 0.001


@dataclass(frozen=True)
class Drive:
    """Statistics of the data that the policy reads before a run, with the ridge included.

    Parameters
    ----------
    power_x, power_y
        Means of |x|^2 and of |y|^2.
    dimension_x
        Number of directions over which the power of x is spread: trace(Cxx)^2 / trace(Cxx^2).
    strongest_y
        Power of y along its strongest direction, the largest eigenvalue of Cyy.
    tail_x
        Mean of |x|^4 over the squared mean of |x|^2 without outliers, relative to that of Gaussian
        data with as many directions; at least 1.
    """

    power_x: float
    power_y: float
    dimension_x: float
    strongest_y: float
    tail_x: float = 1.0

    @classmethod
    def white(cls, m: int, n: int) -> Drive:
        """Return the drive of m and n independent inputs of unit variance."""
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
        """Return the drive of X (n_samples, m) and Y (n_samples, n) less their means, with their
        ridges.

        Where the means of |x|^2 and |y|^2 are known, as ``powers``, evenly spaced rows of X and Y
        are enough.
        """
        (m, n), (ridge_x, ridge_y) = (X.shape[1], Y.shape[1]), ridge
        power, power_y = (_power(X, means[0]), _power(Y, means[1])) if powers is None else powers
        squares = power**2 / _dimension(X, means[0])  # trace(Cxx^2)
        dimension = (power + m * ridge_x) ** 2 / (squares + 2 * ridge_x * power + m * ridge_x**2)
        return cls(
            power_x=power + m * ridge_x,
            power_y=power_y + n * ridge_y,
            dimension_x=dimension,
            strongest_y=_strongest(Y, means[1]) + ridge_y,
            tail_x=max(_tail(X, means[0], m * ridge_x) / (1 + 2 / dimension), 1.0),
        )

    def typical_y(self, n: int, policy: Policy) -> float:
        """Return the power of y in one direction that is to be learned, between that of a channel
        and the strongest.
        """
        each, share = self.power_y / n, policy.towards_strongest
        return each ** (1 - share) * self.strongest_y**share

    def start(self, n: int, s: float, policy: Policy) -> tuple[float, float, float]:
        """Return the size of Vx, Vy and Q at first: standard deviations of Vx and Vy, and the
        diagonal of Q.

        M's eigenvalues, those of QQ' at the optimum, are at most strongest_y / (1 - s + s
        strongest_y).
        """
        bound = self.strongest_y / (1 - s + s * self.strongest_y)
        x, y, q = policy.start
        y *= math.sqrt(bound / (1 - s + s * self.power_y / n))
        return x / math.sqrt(self.power_x), y, q * math.sqrt(bound)


def _power(array: NDArray, mean: NDArray | float) -> float:
    """Return the mean of |row|^2; 1 for rows that are all zero."""
    step = max(_CHUNK // array.shape[1], 1)
    blocks = (array[start : start + step] - mean for start in range(0, len(array), step))
    return float(sum(np.square(rows).sum() for rows in blocks)) / len(array) or 1.0


def _some(array: NDArray, mean: NDArray | float) -> NDArray:
    """Return evenly spaced samples of ``array``."""
    return array[:: -(-len(array) // _ROWS)] - mean


def _dimension(array: NDArray, mean: NDArray | float) -> float:
    """Return trace(C)^2 / trace(C^2), from 1 to the number of columns; all of them for a single
    sample.
    """
    rows = _some(array, mean)
    count, m = rows.shape
    energies = np.square(rows).sum(axis=1)
    # The sum of all squared products of two samples is that of the smaller Gram matrix; a sample's
    # product with itself says nothing about spread.
    gram = rows.T @ rows if m < count else rows @ rows.T
    shared = np.square(gram).sum() - np.square(energies).sum()
    power = energies.mean()
    if not (count > 1 and shared > 0):
        return float(m)
    return float(np.clip(power**2 / (shared / (count * (count - 1))), 1, m))


def _strongest(array: NDArray, mean: NDArray | float) -> float:
    """Return the largest eigenvalue of C; 1 where all is zero."""
    rows = _some(array, mean)
    gram = rows.T @ rows if rows.shape[1] < len(rows) else rows @ rows.T
    return float(np.linalg.eigvalsh(gram)[-1]) / len(rows) or 1.0


def _tail(array: NDArray, mean: NDArray | float, added: float) -> float:
    """Return the mean of |row|^4 over the squared mean of |row|^2, with ``added`` to each; 1 where
    all is zero.

    Outliers count as much as the strongest of the other rows.
    """
    energies = np.square(_some(array, mean)).sum(axis=1) + added
    energies = np.minimum(energies, np.quantile(energies, 1 - _OUTLIERS))
    power = energies.mean()
    return float(np.square(energies / power).mean()) if power > 0 else 1.0

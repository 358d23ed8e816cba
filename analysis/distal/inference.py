"""Which member of the family a circuit follows, from recordings of its distal plasticity (Sec. 5.2).

The rule of the distal synapses (Eq. 10, with the ridge's decay) is linear in s:

    dVy = eta (A - s B),    A = y z' - Vy,    B = y a' - (1 - ridge) Vy.

The rate eta is unknown and may differ from sample to sample, so only the direction of each dVy counts: A - s B must
be parallel to it. Written with wedge products, (A - s B) ^ dVy = 0; its part along B ^ A, summed over samples,

    sum (B ^ A).(A ^ dVy) - s sum (B ^ A).(B ^ dVy) = 0,

is linear in s and needs no rate. Noise on dVy leaves it unbiased. Noise on y, z, a and Vy enters A and B twice and
attenuates both sums; its mean is a polynomial of the noise variances (`NoisyTerm`) and is subtracted (corrected-score
estimation: Fuller 1987, Measurement Error Models). How noisy each quantity is follows from what the rule leaves of the
changes, as far as that shows it. The interval is Fieller's (1954), which knows when the second sum cannot be told from
zero, that is, when every s fits; it is made for every division of the noise among the quantities that the data leave
open, and spans them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from biorrr.analysis.checks import as_floats, ridge_pair
from biorrr.analysis.distal.inferred_s import InferredS, fit_caveats, size_caveats
from biorrr.analysis.distal.noise import QUANTITIES, NoisyTerm, Residual, dot

ROUNDING, UNBOUNDED = 1e-8, 1e3  # distance of the nearest and the farthest end of an interval from the estimate
ONE_NEURON = 1.5  # by how much one neuron's interval is wider: with noise in z or a alone it covered 57 to 89 % without
MISFIT, EXACT = 2.0, 1e-4  # how often what known noise leaves in the mean, and what share beside it, is too much


def infer_s(
    y: ArrayLike,
    z: ArrayLike,
    a: ArrayLike,
    Vy: ArrayLike,
    dVy: ArrayLike,
    ridge: float | tuple[float, float] = 0.0,
    confidence: float = 0.95,
    noise: float | Mapping[str, float] | None = None,
) -> InferredS:
    """Estimate s from activity, distal weights and their changes, all recorded at the same T samples.

    Parameters
    ----------
    y : (T, n)
        Distal input; (T, w, n) where weights are observed only at every w-th sample.
    z, a : (T, k)
        Somatic output and distal current; (T, w, k) likewise.
    Vy, dVy : (T, n, k)
        Distal weights before each sample, and the change it made; or the mean of two successive observations, and
        their difference. A synapse that was not observed is NaN in all samples.
    ridge
        What the circuit adds to Cyy, where its decay is (1 - s) + s ridge; of a pair, the second.
    confidence
        Of the interval.
    noise
        Noise of each quantity as a fraction of its root mean square, where it is known: one number for all, or by
        name, such as ``{"z": 0.1}``, and 0 for those that are not named. By default it is estimated.

    Notes
    -----
    Samples need not follow one another. Every recording may be noisy; the noise is taken to be independent between
    samples, channels and quantities. How much of it is in which quantity is estimated from what the rule leaves of
    dVy; what cannot be told apart (z from a, weights from their changes, with one neuron most of it) widens the
    interval. docs/distal.md has its coverage over thousands of simulated experiments.
    """
    y, z, a, Vy, dVy, seen = _check_recordings(y, z, a, Vy, dVy)
    _, ridge = ridge_pair(ridge)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: must lie between 0 and 1 (got {confidence}); 0.95 is usual")
    known = _known_noise(noise)
    telling = _telling(y, z, a, Vy, seen, ridge)
    y, z, a, Vy, dVy = (values[telling] for values in (y, z, a, Vy, dVy))
    caveats = size_caveats(len(y), seen)
    if not dVy.any():
        return InferredS(np.nan, -np.inf, np.inf, confidence, np.nan, np.nan, False, caveats)
    size_z, size_a = np.sqrt(np.mean(z**2)), np.sqrt(np.mean(a**2))
    A = NoisyTerm(y, z, Vy, seen, 1.0, {"z": size_z})
    B = NoisyTerm(y, a, Vy, seen, 1.0 - ridge, {"a": size_a})
    AA, AB, BB = dot(A.value, A.value), dot(A.value, B.value), dot(B.value, B.value)
    Ad, Bd = dot(A.value, dVy), dot(B.value, dVy)
    wedge = AA * BB - AB**2  # |B ^ A|^2
    with_A, with_B = AB * Ad - Bd * AA, BB * Ad - Bd * AB  # (B ^ A).(A ^ dVy) and (B ^ A).(B ^ dVy)
    # What noise of unit fraction in each quantity adds to each in the mean, to second order.
    bias_A = (
        A.overlap(B) * Ad + A.spread(A, B.value, dVy) + B.spread(A, A.value, dVy)
        - Bd * A.overlap(A) - 2 * B.spread(A, dVy, A.value)
    )  # fmt: skip
    bias_B = (
        B.overlap(B) * Ad + 2 * B.spread(A, B.value, dVy)
        - B.spread(A, dVy, B.value) - B.spread(B, dVy, A.value) - Bd * A.overlap(B)
    )  # fmt: skip

    weight, variance = 1 / (AA + BB + np.mean(AA + BB)) ** 2, np.zeros(len(QUANTITIES)) if known is None else known
    for _ in range(4):  # s needs the noise and the weights, and they need s: settled after two or three rounds
        s = float((weight * (with_A - variance @ bias_A)).sum() / (weight * (with_B - variance @ bias_B)).sum())
        D = NoisyTerm(y, z - s * a, Vy, seen, 1 - s + s * ridge, {"z": size_z, "a": -s * size_a})
        left = Residual(D, dVy)
        if known is None:  # of a single neuron what is left has one column, whose shape says little
            variance = left.equal_noise if seen.shape[1] == 1 else left.fitted_noise
        # Weighted by precision: noise in D and dVy turns them apart, across D in the plane of A and B. Lest weights
        # follow the noise itself, that of a mean direction is added, and a D within ten times its noise counts less.
        across = (AB - s * BB)[:, None, None] * A.value - (AA - s * AB)[:, None, None] * B.value
        noise_D = left.noise.sum(axis=0)
        turned = (
            left.rate**2 * (D.spread(D, across, across).sum(axis=0) / wedge + left.DD * noise_D / seen.sum())
            + left.variance_d * left.DD
        )
        weight = np.abs(left.rate) / turned / (1 + 10**2 * variance.mean() * noise_D / left.DD)

    def possible(candidates: NDArray) -> NDArray:
        """Squared noise fractions to allow for, if s is each of the candidates, (compositions, candidates, 5)."""
        if known is not None:
            return np.tile(known, (1, len(candidates), 1))
        own = np.tile(variance, (1, len(candidates), 1))
        return np.concatenate([own, left.possible_noise(candidates, a, Vy, ridge)])

    terms = weight * np.concatenate([with_A[None], bias_A, with_B[None], bias_B])
    low, high = _interval(terms, possible, s, confidence)
    if known is None and seen.shape[1] == 1:
        low, high = s - ONE_NEURON * (s - low), s + ONE_NEURON * (high - s)
    fraction, unexplained = float(np.sqrt(left.equal_noise[0])), float(left.squares.sum() / dot(dVy, dVy).sum())
    misfit = (
        known is not None and unexplained > MISFIT * float((known @ left.expected).sum() / dot(dVy, dVy).sum()) + EXACT
    )
    said = caveats if misfit else (*caveats, *fit_caveats(fraction, unexplained, known is not None))
    return InferredS(s, low, high, confidence, fraction, unexplained, misfit, said)


def _known_noise(noise: float | Mapping[str, float] | None) -> NDArray | None:
    """Squared noise fractions of all quantities, (5,); None where they are to be estimated."""
    if noise is None:
        return None
    named = dict(noise) if isinstance(noise, Mapping) else dict.fromkeys(QUANTITIES, noise)
    for name, fraction in named.items():
        if name not in QUANTITIES:
            raise ValueError(f"noise: must name quantities among {', '.join(QUANTITIES)} (got {name!r})")
        if not 0 <= fraction < 1:
            raise ValueError(f"noise: must lie in [0, 1), a fraction of the root mean square (got {fraction})")
    return np.square([float(named.get(name, 0.0)) for name in QUANTITIES])


def _telling(y: NDArray, z: NDArray, a: NDArray, Vy: NDArray, seen: NDArray, ridge: float) -> NDArray:
    """Which samples tell, (T,): not those in which A and B are parallel, as without input or with a lone synapse."""
    A = NoisyTerm(y, z, Vy, seen, 1.0, {}).value
    B = NoisyTerm(y, a, Vy, seen, 1.0 - ridge, {}).value
    product = dot(A, A) * dot(B, B)
    return product - dot(A, B) ** 2 > 1e-12 * product


def _interval(
    terms: NDArray, possible: Callable[[NDArray], NDArray], s: float, confidence: float
) -> tuple[float, float]:
    """Ends of all r for which A's sums less r times B's could have mean zero, with some possible noise (Fieller 1954).

    Parameters
    ----------
    terms : (12, T)
        Sums with A, their bias by quantity, sums with B, their bias by quantity.
    possible
        Returns squared noise fractions, (compositions, candidates, 5), for candidates.
    s
        The estimate, within the interval.
    confidence
        Of the interval.
    """
    # Student's quantile, with as many samples as carry the sum: some say far more than others.
    (noise,) = possible(np.array([s]))[0]
    scores = np.concatenate([[1.0], -noise, [-s], s * noise]) @ terms
    carrying = 3 * np.square(np.sum(scores**2)) / max(np.sum(scores**4), np.finfo(float).tiny)
    quantile = student.ppf((1 + confidence) / 2, max(carrying - 1, 1.0))
    sums, products = terms.sum(axis=1), terms @ terms.T

    def accepted(candidates: NDArray) -> NDArray:
        noise = possible(candidates)
        r = np.broadcast_to(candidates[:, None], (*noise.shape[:2], 1))
        of = np.concatenate([np.ones_like(r), -noise, -r, r * noise], axis=-1)
        spread = np.einsum("pci,ij,pcj->pc", of, products, of, optimize=True)
        return ((of @ sums) ** 2 <= quantile**2 * spread).any(axis=0)

    ends = []
    for side in (-1.0, 1.0):
        away = np.concatenate([[0.0], np.geomspace(ROUNDING, UNBOUNDED, 45)])
        inside = np.flatnonzero(accepted(s + side * away))
        last = inside[-1] if len(inside) else 0
        if last == len(away) - 1:
            return -np.inf, np.inf  # when one side is open, the other says nothing either
        for _ in range(2):  # finer between the last that is accepted and the first that is not
            away = np.linspace(away[last], away[last + 1], 33)
            inside = np.flatnonzero(accepted(s + side * away))
            last = min(inside[-1] if len(inside) else 0, len(away) - 2)
        ends.append(float(s + side * max(away[last + 1], ROUNDING)))
    return ends[0], ends[1]


def _check_recordings(y, z, a, Vy, dVy) -> tuple[NDArray, ...]:
    """The recordings, activities as (T, w, cells), 0 where a synapse was not observed; and which were, (n, k)."""
    recordings = {"y": y, "z": z, "a": a, "Vy": Vy, "dVy": dVy}
    recordings = {name: as_floats(name, values) for name, values in recordings.items()}
    if recordings["Vy"].ndim != 3:
        raise ValueError(f"Vy: must have shape (T, n, k), samples first (got {recordings['Vy'].shape})")
    T, n, k = recordings["Vy"].shape
    between = recordings["y"].shape[1:-1]  # samples between observations of the weights
    shapes = [(T, *between, n), (T, *between, k), (T, *between, k), (T, n, k), (T, n, k)]
    for (name, values), shape in zip(recordings.items(), shapes, strict=True):
        if values.shape != shape or len(shape) > 3:
            raise ValueError(f"{name}: must have shape {shape[:3]} to match Vy (got {values.shape})")
    seen = ~(np.isnan(recordings["Vy"]) | np.isnan(recordings["dVy"])).all(axis=0)
    for name in ("Vy", "dVy"):
        recordings[name] = np.where(seen, recordings[name], 0.0)
    for name, values in recordings.items():
        if not np.isfinite(values).all():
            raise ValueError(f"{name}: must be finite; leave out samples in which something was not recorded")
    activities = (recordings[name].reshape(T, -1, recordings[name].shape[-1]) for name in ("y", "z", "a"))
    return *activities, recordings["Vy"], recordings["dVy"], seen

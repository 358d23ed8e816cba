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

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from biorrr.analysis.checks import as_floats, ridge_pair
from biorrr.analysis.distal_noise import QUANTITIES, NoisyTerm, Residual, dot

ROUNDING = 1e-8  # half the width of the narrowest interval: sums are not more exact than that
FEW_SAMPLES, MUCH_NOISE, POOR_FIT = 20, 0.3, 0.5  # beyond which a result says so


@dataclass(frozen=True)
class InferredS:
    """Which s a circuit follows, and how sure the data are of it; ``print`` gives a sentence.

    Attributes
    ----------
    s
        Estimate; 0 is RRMSE, 1 is CCA. Not confined to [0, 1]: a circuit that obeys another rule may land elsewhere.
        NaN where the data say nothing.
    low, high
        Ends of the confidence interval; infinite where the data cannot bound s.
    confidence
        Share of such intervals that contain the true s.
    noise
        Estimated noise of the recordings, as a fraction of each quantity's root mean square, if it is the same in all.
    unexplained
        Share of dVy (of its sum of squares) that the rule with this s does not explain.
    caveats
        What of these data makes the answer weaker than it looks, in sentences.
    """

    s: float
    low: float
    high: float
    confidence: float
    noise: float
    unexplained: float
    caveats: tuple[str, ...] = field(default=())

    @property
    def can_tell(self) -> bool:
        """Whether the interval excludes RRMSE or CCA, or both."""
        return self.low > 0 or self.high < 1

    @property
    def another_rule(self) -> bool:
        """Whether the interval excludes every s of the family."""
        return self.low > 1 or self.high < 0

    def __str__(self) -> str:
        return " ".join([self._answer(), *self.caveats])

    def _answer(self) -> str:
        if not self.can_tell:
            span = f"every s from {self.low:.2f} to {self.high:.2f}" if np.isfinite(self.low) else "every s"
            return (
                f"These data cannot tell: {span} fits them at {self.confidence:.0%} confidence, 0 (RRMSE) and 1 (CCA) "
                "included. Record more samples, more distal synapses, or while the weights change more."
            )
        found = f"s = {self.s:.3f}, {self.confidence:.0%} confidence interval {self.low:.3f} to {self.high:.3f}"
        if self.another_rule:
            return f"No s between 0 (RRMSE) and 1 (CCA) fits: {found}. The distal synapses follow another rule."
        return f"{found} (0 is RRMSE, 1 is CCA); {self.unexplained:.1%} of the weight changes is left unexplained."


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
    caveats = _caveats(len(y), seen)
    if not dVy.any():
        return InferredS(np.nan, -np.inf, np.inf, confidence, np.nan, np.nan, caveats)
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
            variance = left.equal_noise() if seen.shape[1] == 1 else left.fitted_noise()
        # Weighted by precision: noise in D and dVy turns them apart, across D in the plane of A and B. Lest weights
        # follow the noise itself, that of a mean direction is added, and a D within ten times its noise counts less.
        across = (AB - s * BB)[:, None, None] * A.value - (AA - s * AB)[:, None, None] * B.value
        noise_D = left.noise.sum(axis=0)
        turned = (
            left.rate**2 * (D.spread(D, across, across).sum(axis=0) / wedge + left.DD * noise_D / seen.sum())
            + left.variance_d * left.DD
        )
        weight = np.abs(left.rate) / turned / (1 + 10**2 * variance.mean() * noise_D / left.DD)

    possible = [known] if known is not None else [variance, *left.possible_noise(a, Vy, s)]
    ends = [_fieller(weight * (with_A - v @ bias_A), weight * (with_B - v @ bias_B), confidence) for v in possible]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    fraction, unexplained = float(np.sqrt(left.equal_noise()[0])), float(left.squares.sum() / dot(dVy, dVy).sum())
    return InferredS(s, low, high, confidence, fraction, unexplained, (*caveats, *_doubts(fraction, unexplained)))


def _caveats(samples: int, seen: NDArray) -> tuple[str, ...]:
    """What the size of the recordings means for the answer."""
    said = []
    if seen.sum() < 2:
        said.append("A single synapse says nothing of s: any s fits it, at another rate. Observe at least two.")
    if samples < FEW_SAMPLES:
        said.append(
            f"There {'is' if samples == 1 else 'are'} only {samples} sample{'s' * (samples != 1)} that can tell; "
            f"below {FEW_SAMPLES} the interval is often infinite."
        )
    if seen.shape[1] == 1 and not said:
        said.append("With one neuron it cannot be told which quantity is noisy; the interval allows for that.")
    return tuple(said)


def _doubts(noise: float, unexplained: float) -> tuple[str, ...]:
    """What the fit means for the answer."""
    if unexplained > POOR_FIT:
        return (
            f"No s explains more than {1 - unexplained:.0%} of the weight changes: they are mostly noise, or follow "
            "another rule.",
        )
    if noise > MUCH_NOISE:
        return (f"The recordings have noise of {noise:.0%}; beyond {MUCH_NOISE:.0%} the interval may be too narrow.",)
    return ()


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


def _fieller(numerator: NDArray, denominator: NDArray, confidence: float) -> tuple[float, float]:
    """All ratios r for which the samples of numerator - r denominator could have mean zero."""
    quantile = norm.ppf((1 + confidence) / 2)

    def moment(u, v):
        return u.sum() * v.sum() - quantile**2 * (u @ v)

    a, b, c = moment(denominator, denominator), moment(numerator, denominator), moment(numerator, numerator)
    if not a > 0:
        return -np.inf, np.inf
    half = np.sqrt(max(b**2 - a * c, 0.0))
    return float((b - half) / a) - ROUNDING, float((b + half) / a) + ROUNDING


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

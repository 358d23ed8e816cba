"""Which member of the family a circuit follows, from recordings of its distal plasticity (Sec. 5.2).

The rule of the distal synapses (Eq. 10, with the ridge's decay) is linear in s:

    dVy = eta (A - s B),    A = y z' - Vy,    B = y a' - (1 - ridge) Vy.

The rate eta is unknown and may differ from sample to sample, so only the direction of each dVy counts: A - s B must
be parallel to it. Written with wedge products, (A - s B) ^ dVy = 0; its part along B ^ A, summed over samples,

    sum (B ^ A).(A ^ dVy) - s sum (B ^ A).(B ^ dVy) = 0,

is linear in s and needs no rate. Noise on dVy leaves it unbiased. Noise on y, z, a and Vy enters A and B twice and
attenuates both sums; its mean is a polynomial of the noise variances (`_Term`) and is subtracted (corrected-score
estimation: Fuller 1987, Measurement Error Models). The interval is Fieller's (1954): it knows when the second sum
cannot be told from zero, that is, when every s fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from biorrr.analysis.checks import as_floats, ridge_pair


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
        Estimated noise of the recordings, as a fraction of each quantity's root mean square.
    unexplained
        Share of dVy (of its sum of squares) that the rule with this s does not explain.
    """

    s: float
    low: float
    high: float
    confidence: float
    noise: float
    unexplained: float

    @property
    def can_tell(self) -> bool:
        """Whether the interval excludes RRMSE or CCA, or both."""
        return self.low > 0 or self.high < 1

    def __str__(self) -> str:
        if not self.can_tell:
            span = f"every s from {self.low:.2f} to {self.high:.2f}" if np.isfinite(self.low) else "every s"
            return (
                f"These data cannot tell: {span} fits them at {self.confidence:.0%} confidence, 0 (RRMSE) and 1 (CCA) "
                "included. Record more samples, more distal synapses, or while the weights change more."
            )
        found = f"s = {self.s:.3f}, {self.confidence:.0%} confidence interval {self.low:.3f} to {self.high:.3f}"
        if self.low > 1 or self.high < 0:
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
) -> InferredS:
    """Estimate s from activity, distal weights and their changes, all recorded at the same T samples.

    Parameters
    ----------
    y : (T, n)
        Distal input.
    z, a : (T, k)
        Somatic output and distal current.
    Vy, dVy : (T, n, k)
        Distal weights before each sample, and the change it made.
    ridge
        What the circuit adds to Cyy, where its decay is (1 - s) + s ridge; of a pair, the second.
    confidence
        Of the interval.

    Notes
    -----
    Samples need not follow one another. Every recording may be noisy; the noise is taken to be independent between
    samples, channels and quantities, and the same fraction of each quantity's root mean square. That fraction is
    estimated from how far dVy strays from the rule. Where one quantity alone is noisy the interval is too narrow, by
    0.01 or so at noise of 10 %; beyond 10 % noise a single neuron (k = 1) is not enough.
    """
    recordings = _check_recordings(y, z, a, Vy, dVy)
    _, ridge = ridge_pair(ridge)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: must lie between 0 and 1 (got {confidence}); 0.95 is usual")
    y, z, a, Vy, dVy = _telling(recordings, ridge)
    if not dVy.any():
        return InferredS(np.nan, -np.inf, np.inf, confidence, np.nan, np.nan)
    A = _Term(y, z, Vy, 1.0, {"z": np.mean(z**2)})
    B = _Term(y, a, Vy, 1.0 - ridge, {"a": np.mean(a**2)})
    AA, AB, BB = _dot(A.value, A.value), _dot(A.value, B.value), _dot(B.value, B.value)
    Ad, Bd, dd = _dot(A.value, dVy), _dot(B.value, dVy), _dot(dVy, dVy)
    wedge = AA * BB - AB**2  # |B ^ A|^2
    with_A, with_B = AB * Ad - Bd * AA, BB * Ad - Bd * AB  # (B ^ A).(A ^ dVy) and (B ^ A).(B ^ dVy)
    # What noise of unit fraction adds to each in the mean, to second order.
    bias_A = (
        A.overlap(B) * Ad + A.spread(A, B.value, dVy) + B.spread(A, A.value, dVy)
        - Bd * A.overlap(A) - 2 * B.spread(A, dVy, A.value)
    )  # fmt: skip
    bias_B = (
        B.overlap(B) * Ad + 2 * B.spread(A, B.value, dVy)
        - B.spread(A, dVy, B.value) - B.spread(B, dVy, A.value) - Bd * A.overlap(B)
    )  # fmt: skip

    weight, variance = 1 / (AA + BB + np.mean(AA + BB)) ** 2, 0.0
    for _ in range(4):  # s needs the noise and the weights, and they need s: settled after two or three rounds
        on_A, on_B = weight * (with_A - variance * bias_A), weight * (with_B - variance * bias_B)
        s = on_A.sum() / on_B.sum()
        D = _Term(y, z - s * a, Vy, 1 - s + s * ridge, {"z": np.mean(z**2), "a": s**2 * np.mean(a**2)})
        DD, Dd = _dot(D.value, D.value), _dot(D.value, dVy)
        eta, strayed = Dd / DD, dd - Dd**2 / DD
        noise_D, noise_dVy, size = D.overlap(D), np.mean(dVy**2), dVy[0].size
        expected = (size - 1) * noise_dVy + eta**2 * (noise_D - D.spread(D, D.value, D.value) / DD)
        variance = max(np.mean(strayed / expected), 0.0)
        # Weighted by precision: noise in D and dVy turns them apart, across D in the plane of A and B. Lest weights
        # follow the noise itself, that of a mean direction is added, and a D within ten times its noise counts less.
        across = (AB - s * BB)[:, None, None] * A.value - (AA - s * AB)[:, None, None] * B.value
        turned = eta**2 * (D.spread(D, across, across) / wedge + DD * noise_D / size) + noise_dVy * DD
        weight = np.abs(eta) / turned / (1 + 10**2 * variance * noise_D / DD)

    low, high = _fieller(on_A, on_B, confidence)
    return InferredS(float(s), low, high, confidence, float(np.sqrt(variance)), float(strayed.sum() / dd.sum()))


class _Term:
    """Outer product of distal input and a signal p, less a multiple of the weights: y p' - decay Vy, (T, n, k).

    Its noise, for noise of unit fraction, is e_y p' + y e_p' - decay e_V; ``origins`` holds the variance of e_p by the
    recording that it comes from, so that terms sharing a recording share its noise.
    """

    def __init__(self, y, p, Vy, decay, origins):
        self.value = y[:, :, None] * p[:, None, :] - decay * Vy
        self.y, self.p, self.decay, self.origins = y, p, decay, origins
        self.variance_y, self.variance_V = np.mean(y**2), np.mean(Vy**2)

    def overlap(self, other: _Term) -> NDArray:
        """Mean of noise . noise of ``other``, (T,)."""
        n, k = self.value.shape[1:]
        inputs = n * self.variance_y * np.sum(self.p * other.p, axis=1)
        signals = k * self._shared(other) * np.sum(self.y**2, axis=1)
        return inputs + signals + n * k * self.decay * other.decay * self.variance_V

    def spread(self, other: _Term, P: NDArray, R: NDArray) -> NDArray:
        """Mean of (noise . P) (noise of ``other`` . R) for matrices (T, n, k), (T,)."""
        inputs = np.einsum("tij,tj,til,tl->t", P, self.p, R, other.p, optimize=True)
        signals = np.einsum("tij,ti,tlj,tl->t", P, self.y, R, self.y, optimize=True)
        weights = self.decay * other.decay * self.variance_V * _dot(P, R)
        return self.variance_y * inputs + self._shared(other) * signals + weights

    def _shared(self, other: _Term) -> float:
        return sum(variance for name, variance in self.origins.items() if name in other.origins)


def _telling(recordings: list[NDArray], ridge: float) -> list[NDArray]:
    """Recordings without the samples in which A and B are parallel, as without input or with a lone synapse."""
    y, z, a, Vy, _ = recordings
    A, B = y[:, :, None] * z[:, None, :] - Vy, y[:, :, None] * a[:, None, :] - (1 - ridge) * Vy
    product = _dot(A, A) * _dot(B, B)
    telling = product - _dot(A, B) ** 2 > 1e-12 * product
    return [recording[telling] for recording in recordings]


def _dot(P: NDArray, R: NDArray) -> NDArray:
    return np.einsum("tij,tij->t", P, R)


def _fieller(numerator: NDArray, denominator: NDArray, confidence: float) -> tuple[float, float]:
    """All ratios r for which the samples of numerator - r denominator could have mean zero."""
    quantile = norm.ppf((1 + confidence) / 2)

    def moment(u, v):
        return u.sum() * v.sum() - quantile**2 * (u @ v)

    a, b, c = moment(denominator, denominator), moment(numerator, denominator), moment(numerator, numerator)
    if a <= 0:
        return -np.inf, np.inf
    half = np.sqrt(max(b**2 - a * c, 0.0))
    return float((b - half) / a), float((b + half) / a)


def _check_recordings(y, z, a, Vy, dVy) -> list[NDArray]:
    recordings = {"y": y, "z": z, "a": a, "Vy": Vy, "dVy": dVy}
    recordings = {name: as_floats(name, values) for name, values in recordings.items()}
    if recordings["Vy"].ndim != 3:
        raise ValueError(f"Vy: must have shape (T, n, k), samples first (got {recordings['Vy'].shape})")
    T, n, k = recordings["Vy"].shape
    for (name, values), shape in zip(recordings.items(), [(T, n), (T, k), (T, k), (T, n, k), (T, n, k)], strict=True):
        if values.shape != shape:
            raise ValueError(f"{name}: must have shape {shape} to match Vy (got {values.shape})")
        if not np.isfinite(values).all():
            raise ValueError(f"{name}: must be finite; leave out samples in which something was not recorded")
    return list(recordings.values())

"""Inference of s, the member of the family a circuit follows, from recordings of its distal
plasticity (Sec. 5.2).

The derivation has five steps.

1. *The rule is linear in s.* The rule of the distal synapses (Eq. 10, with the ridge's decay) is

       dVy = eta (A - s B),    A = y z' - Vy,    B = y a' - (1 - ridge) Vy.

   Between two looks at the weights the rule adds up, so that A and B are sums over the samples
   between them.

2. *The rate drops out.* eta is unknown and may differ from sample to sample, so only the direction
of dVy counts: the
   matrices A - s B and dVy are parallel. Two matrices P and R are parallel where their wedge
   product P ^ R vanishes; inner products of wedge products are (P ^ R).(S ^ U) = (P.S)(R.U) -
   (P.U)(R.S). The part of (A - s B) ^ dVy = 0 along B ^ A is a number for each sample,

       (B ^ A).(A ^ dVy) - s (B ^ A).(B ^ dVy) = 0,

   linear in s. Its weighted sum over samples gives s as a ratio of two sums.

3. *Noise biases both sums, by a known amount.* Noise of dVy is multiplied with quantities that do
not share it, and
   leaves the means as they are. y, z, a and Vy enter A and B and so enter twice: with noise e_y of
   y, for instance, A gains e_y z', and A.B gains a mean of |e_y|^2 (z.a). To second order these
   means are linear in the squared noise fractions of the quantities (`NoisyTerm`), and they are
   subtracted: a corrected score (Fuller 1987, Measurement Error Models). An artefact that z and a
   share adds a term of its own, their covariance.

4. *The noise is read off what the rule leaves.* Noise of y leaves matrices whose rows are parallel
to z - s a, noise of
   z and a leaves columns parallel to y, noise of weights and changes neither (`Residual`). s needs
   the noise, and the noise needs s: a few rounds settle both.

5. *The interval is Fieller's (1954).* It holds every r for which the first sum less r times the
second may have mean
   zero. It is infinite where the second sum cannot be told from zero, that is, where every s fits.
   The data do not decide how noise divides between z and a, or between weights and changes: the
   interval spans all divisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from biorrr.analysis.checks import as_floats, ridge_pair
from biorrr.analysis.distal.inferred_s import InferredS, fit_caveats, size_caveats
from biorrr.analysis.distal.noise import QUANTITIES, NoisyTerm, Residual, dot
from biorrr.errors import InputError

ROUNDING, UNBOUNDED = (
    1e-8,
    1e3,
)  # distance of the nearest and the farthest end of an interval from the estimate
# by how much one neuron's interval is wider: with noise in z or a alone it covered 57 to 89 %
# without
ONE_NEURON = 1.5
MISFIT, EXACT = (
    2.0,
    1e-4,
)  # how often what known noise leaves in the mean, and what share beside it, is too much
# of the weights between two looks: with more, the mean of the two says too little of the weights
LARGEST_CHANGE = 0.25
ROUNDS = 4  # in which s, the noise and the weights of samples settle


def infer_s(
    y: ArrayLike,
    z: ArrayLike,
    a: ArrayLike,
    Vy: ArrayLike,
    dVy: ArrayLike,
    ridge: float | tuple[float, float] = 0.0,
    confidence: float = 0.95,
    noise: float | Mapping[str, float] | None = None,
    correlation: float | None = None,
) -> InferredS:
    """Estimate s from activity, distal weights and their changes, all recorded at the same T
    samples.

    The rule dVy = eta (A - s B), with A = y z' - Vy and B = y a' - (1 - ridge) Vy, says that A - s
    B and dVy are parallel, whatever the rate eta. Two matrices P and R are parallel if their wedge
    product P ^ R is 0; the part of (A - s B) ^ dVy = 0 along B ^ A is linear in s, so that sums
    over samples give

        s = sum (B ^ A).(A ^ dVy) / sum (B ^ A).(B ^ dVy).

    The bias of both sums by noise is subtracted, and the interval is Fieller's. The module's
    docstring has all steps.

    Parameters
    ----------
    y : (T, n)
        Distal input; (T, w, n) where weights are observed only at every w-th sample.
    z, a : (T, k)
        Somatic output and distal current; (T, w, k) likewise.
    Vy, dVy : (T, n, k)
        Distal weights before each sample, and the change it made; or the mean of two successive
        observations, and their difference. A synapse that was not observed is NaN in all samples.
    ridge
        What the circuit adds to Cyy, where its decay is (1 - s) + s ridge; of a pair, the second.
    confidence
        Of the interval.
    noise
        Noise of each quantity as a fraction of its root mean square, where it is known: one number
        for all, or by name, such as ``{"z": 0.1}``, and 0 for those that are not named. By default
        it is estimated.
    correlation
        Correlation of the noise of z with that of a, as an artefact that both share makes it. It
        needs ``noise``: an artefact that cancels in z - s a leaves no trace in the changes. By
        default the noise is independent.

    Notes
    -----
    Samples need not follow one another. Every recording may be noisy; the noise is taken to be
    independent between samples, channels and quantities, but for z and a with ``correlation``. What
    cannot be told apart (z from a, weights from their changes, with one neuron most of it) widens
    the interval. Where weights that are not observed at every sample change by more than a quarter
    between two looks, no s is given. docs/distal.md has the coverage of the interval over thousands
    of simulated experiments.
    """
    y, z, a, Vy, dVy, seen = _check_recordings(y, z, a, Vy, dVy)
    _, ridge = ridge_pair(ridge)
    if not 0 < confidence < 1:
        raise InputError(f"confidence: must lie between 0 and 1 (got {confidence}); 0.95 is usual")
    known = _known_noise(noise, correlation)
    telling = _telling(y, z, a, Vy, seen, ridge)
    y, z, a, Vy, dVy = (values[telling] for values in (y, z, a, Vy, dVy))
    change = (
        np.sqrt(dot(dVy, dVy).sum() / max(dot(Vy, Vy).sum(), np.finfo(float).tiny))
        if y.shape[1] > 1
        else 0.0
    )
    assumed = ("Noise of z and a is assumed to be independent.",) if correlation is None else ()
    caveats = (*size_caveats(len(y), seen, change, LARGEST_CHANGE), *assumed)
    if not dVy.any() or change > LARGEST_CHANGE:
        return InferredS(np.nan, -np.inf, np.inf, confidence, np.nan, np.nan, False, caveats)
    fit = _Fit(y, z, a, Vy, dVy, seen, ridge, known)
    low, high = _interval(fit.weight * fit.terms, fit.possible_noise, fit.s, confidence)
    if known is None and seen.shape[1] == 1:
        low, high = fit.s - ONE_NEURON * (fit.s - low), fit.s + ONE_NEURON * (high - fit.s)
    changes, left = dot(dVy, dVy).sum(), fit.left
    fraction, unexplained = float(np.sqrt(left.equal_noise[0])), float(left.squares.sum() / changes)
    misfit = (
        known is not None
        and unexplained > MISFIT * float((known @ left.expected).sum() / changes) + EXACT
    )
    said = caveats if misfit else (*caveats, *fit_caveats(fraction, unexplained, known is not None))
    return InferredS(fit.s, low, high, confidence, fraction, unexplained, misfit, said)


class _Fit:
    """The estimate of s with the noise and the weights of samples that belong to it.

    Attributes
    ----------
    s
        The estimate.
    terms : (14, T)
        (B ^ A).(A ^ dVy), its bias by unit noise (6, T), (B ^ A).(B ^ dVy), and its bias.
    weight : (T,)
        Precision of each sample.
    variance : (6,)
        Squared noise fractions, known or estimated.
    left
        What the rule leaves of the changes.
    """

    def __init__(
        self,
        y: NDArray,
        z: NDArray,
        a: NDArray,
        Vy: NDArray,
        dVy: NDArray,
        seen: NDArray,
        ridge: float,
        known: NDArray | None,
    ) -> None:
        self.a, self.Vy, self.ridge, self.known = a, Vy, ridge, known
        size_z, size_a = np.sqrt(np.mean(z**2)), np.sqrt(np.mean(a**2))
        A = NoisyTerm(y, z, Vy, seen, 1.0, {"z": size_z})
        B = NoisyTerm(y, a, Vy, seen, 1.0 - ridge, {"a": size_a})
        self.terms = _terms(A, B, dVy)
        size = dot(A.value, A.value) + dot(B.value, B.value)
        self.weight, self.variance = (
            1 / (size + size.mean()) ** 2,
            (np.zeros(6) if known is None else known),
        )
        for _ in range(ROUNDS):
            sums = self.terms @ self.weight
            self.s = s = float(
                (sums[0] - self.variance @ sums[1:7]) / (sums[7] - self.variance @ sums[8:])
            )
            D = NoisyTerm(
                y, z - s * a, Vy, seen, 1 - s + s * ridge, {"z": size_z, "a": -s * size_a}
            )
            self.left = Residual(D, dVy)
            if (
                known is None
            ):  # of a single neuron what is left has one column, whose shape says little
                self.variance = (
                    self.left.equal_noise if seen.shape[1] == 1 else self.left.fitted_noise
                )
            self.weight = _precision(A, B, self.left, s, self.variance)

    def possible_noise(self, candidates: NDArray) -> NDArray:
        """Return squared noise fractions to allow for, if s is each of the candidates, (divisions,
        candidates, 6).
        """
        own = np.tile(self.variance, (1, len(candidates), 1))
        if self.known is not None:
            return own
        return np.concatenate(
            [own, self.left.possible_noise(candidates, self.a, self.Vy, self.ridge)]
        )


def _terms(A: NoisyTerm, B: NoisyTerm, dVy: NDArray) -> NDArray:
    """Return (B ^ A).(A ^ dVy) and (B ^ A).(B ^ dVy) of each sample, each with its bias by unit
    noise, (14, T).
    """
    AA, AB, BB = dot(A.value, A.value), dot(A.value, B.value), dot(B.value, B.value)
    Ad, Bd = dot(A.value, dVy), dot(B.value, dVy)
    with_A, with_B = AB * Ad - Bd * AA, BB * Ad - Bd * AB
    # Each product of two inner products gains the mean of one of its pairs of noisy factors, pair
    # by pair.
    bias_A = (
        A.overlap(B) * Ad
        + A.spread(A, B.value, dVy)
        + B.spread(A, A.value, dVy)
        - Bd * A.overlap(A)
        - 2 * B.spread(A, dVy, A.value)
    )
    bias_B = (
        B.overlap(B) * Ad
        + 2 * B.spread(A, B.value, dVy)
        - B.spread(A, dVy, B.value)
        - B.spread(B, dVy, A.value)
        - Bd * A.overlap(B)
    )
    return np.concatenate([with_A[None], bias_A, with_B[None], bias_B])


def _precision(A: NoisyTerm, B: NoisyTerm, left: Residual, s: float, variance: NDArray) -> NDArray:
    """Return the weight of each sample, (T,).

    Noise in D = A - s B and in dVy turns them apart, across D in the plane of A and B. Lest weights
    follow the noise itself, that of a mean direction is added, and a D within ten times its noise
    counts less.
    """
    AA, AB, BB = dot(A.value, A.value), dot(A.value, B.value), dot(B.value, B.value)
    across = (AB - s * BB)[:, None, None] * A.value - (AA - s * AB)[:, None, None] * B.value
    noise_D = left.noise[:-1].sum(axis=0)
    turned = left.D.spread(left.D, across, across)[:-1].sum(axis=0) / (AA * BB - AB**2)
    turned = (
        left.rate**2 * (turned + left.DD * noise_D / left.D.seen.sum()) + left.variance_d * left.DD
    )
    return np.abs(left.rate) / turned / (1 + 10**2 * variance[:-1].mean() * noise_D / left.DD)


def _known_noise(
    noise: float | Mapping[str, float] | None, correlation: float | None
) -> NDArray | None:
    """Return squared noise fractions of all quantities and the covariance of z and a, (6,); None to
    estimate them.
    """
    if correlation is not None and not -1 <= correlation <= 1:
        raise InputError(f"correlation: must lie in [-1, 1] (got {correlation})")
    if noise is None:
        if correlation:
            raise InputError(
                "correlation: needs the noise of z and a, which the changes do not show; give noise"
            )
        return None
    named = dict(noise) if isinstance(noise, Mapping) else dict.fromkeys(QUANTITIES, noise)
    for name, fraction in named.items():
        if name not in QUANTITIES:
            raise InputError(
                f"noise: must name quantities among {', '.join(QUANTITIES)} (got {name!r})"
            )
        if not 0 <= fraction < 1:
            raise InputError(
                f"noise: must lie in [0, 1), a fraction of the root mean square (got {fraction})"
            )
    fractions = np.array([float(named.get(name, 0.0)) for name in QUANTITIES])
    return np.append(fractions**2, (correlation or 0.0) * fractions[1] * fractions[2])


def _telling(
    y: NDArray, z: NDArray, a: NDArray, Vy: NDArray, seen: NDArray, ridge: float
) -> NDArray:
    """Return which samples are informative, (T,): not where A and B are parallel, as without
    input.
    """
    A = NoisyTerm(y, z, Vy, seen, 1.0, {}).value
    B = NoisyTerm(y, a, Vy, seen, 1.0 - ridge, {}).value
    product = dot(A, A) * dot(B, B)
    return product - dot(A, B) ** 2 > 1e-12 * product


def _interval(
    terms: NDArray, possible: Callable[[NDArray], NDArray], s: float, confidence: float
) -> tuple[float, float]:
    """Return the ends of all r for which A's sum less r times B's may have mean zero, with some
    possible noise.

    Parameters
    ----------
    terms : (14, T)
        Sums with A, their bias by quantity, sums with B, their bias by quantity.
    possible
        Returns squared noise fractions, (divisions, candidates, 6), for candidates.
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
    """Return the recordings, activities as (T, w, cells), 0 for synapses not observed; and which
    were, (n, k).
    """
    recordings = {"y": y, "z": z, "a": a, "Vy": Vy, "dVy": dVy}
    recordings = {name: as_floats(name, values) for name, values in recordings.items()}
    if recordings["Vy"].ndim != 3:
        raise InputError(
            f"Vy: must have shape (T, n, k), samples first (got {recordings['Vy'].shape})"
        )
    T, n, k = recordings["Vy"].shape
    between = recordings["y"].shape[1:-1]  # samples between observations of the weights
    shapes = [(T, *between, n), (T, *between, k), (T, *between, k), (T, n, k), (T, n, k)]
    for (name, values), shape in zip(recordings.items(), shapes, strict=True):
        if values.shape != shape or len(shape) > 3:
            raise InputError(
                f"{name}: must have shape {shape[:3]} to match Vy (got {values.shape})"
            )
    seen = ~(np.isnan(recordings["Vy"]) | np.isnan(recordings["dVy"])).all(axis=0)
    for name in ("Vy", "dVy"):
        recordings[name] = np.where(seen, recordings[name], 0.0)
    for name, values in recordings.items():
        if not np.isfinite(values).all():
            raise InputError(
                f"{name}: must be finite; leave out samples in which something was not recorded"
            )
    activities = (
        recordings[name].reshape(T, -1, recordings[name].shape[-1]) for name in ("y", "z", "a")
    )
    return *activities, recordings["Vy"], recordings["dVy"], seen

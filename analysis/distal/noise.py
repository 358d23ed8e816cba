"""Effect of noise in recordings of distal plasticity on the terms of its rule, quantity by
quantity.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

QUANTITIES = (
    "y",
    "z",
    "a",
    "Vy",
    "dVy",
)  # in which there can be noise, in the order of every array below
# Arrays of squared noise fractions, (6,), end with the covariance of the noise of z and a, which an
# artefact that both share makes: their correlation times the two fractions.
LARGEST_NOISE = 0.5  # of the root mean square of a quantity: more is not considered


class NoisyTerm:
    """Distal input times a signal p, less a multiple of the weights: sum of y p' - decay Vy, (T, n,
    k).

    The sum is over the w samples between two observations of the weights. Noise of unit fraction
    adds e_y p' + y e_p' - w decay e_V.

    Parameters
    ----------
    y, p : (T, w, n), (T, w, k)
        Distal input and signal.
    Vy : (T, n, k)
        Weights.
    seen : (n, k) bool
        Which synapses were observed.
    decay
        Coefficient of the weights.
    origins
        Root mean square of the noise of p, with its sign, by the recording that it comes from:
        terms that share a recording share its noise.
    """

    def __init__(
        self,
        y: NDArray,
        p: NDArray,
        Vy: NDArray,
        seen: NDArray,
        decay: float,
        origins: Mapping[str, float],
    ) -> None:
        self.y, self.p, self.seen, self.decay = y, p, seen, y.shape[1] * decay
        self.value = seen * (np.einsum("twi,twj->tij", y, p) - self.decay * Vy)
        self.origins = np.array([origins.get(name, 0.0) for name in QUANTITIES])
        self.variance_y, self.variance_V = np.mean(y**2), np.mean(Vy[:, seen] ** 2)

    def overlap(self, other: NoisyTerm) -> NDArray:
        """Return the mean of noise . noise of ``other``, by quantity and for what z and a share,
        (6, T).
        """
        inputs = self.variance_y * np.einsum("twj,twj,j->t", self.p, other.p, self.seen.sum(axis=0))
        signals = np.einsum("twi,twi,i->t", self.y, self.y, self.seen.sum(axis=1))
        weights = self.decay * other.decay * self.variance_V * self.seen.sum()
        return self._by_quantity(other, inputs, signals, np.full(len(self.y), weights))

    def spread(self, other: NoisyTerm, P: NDArray, R: NDArray) -> NDArray:
        """Return the mean of (noise . P) (noise of ``other`` . R) for matrices (T, n, k), likewise,
        (6, T).
        """
        inputs = self.variance_y * np.einsum(
            "twi,twi->t",
            np.einsum("tij,twj->twi", P, self.p),
            np.einsum("tij,twj->twi", R, other.p),
        )
        signals = np.einsum(
            "twj,twj->t", np.einsum("tij,twi->twj", P, self.y), np.einsum("tij,twi->twj", R, self.y)
        )
        return self._by_quantity(
            other, inputs, signals, self.decay * other.decay * self.variance_V * dot(P, R)
        )

    def _by_quantity(
        self, other: NoisyTerm, inputs: NDArray, signals: NDArray, weights: NDArray
    ) -> NDArray:
        (_, z, a, _, _), (_, other_z, other_a, _, _) = self.origins, other.origins
        found = (
            np.append(self.origins * other.origins, z * other_a + a * other_z)[:, None] * signals
        )
        found[QUANTITIES.index("y")] += inputs
        found[QUANTITIES.index("Vy")] += weights
        return found


def dot(P: NDArray, R: NDArray) -> NDArray:
    """Return inner products of matrices (T, n, k), (T,)."""
    return np.einsum("tij,tij->t", P, R)


class Residual:
    """Changes that a rule dVy = eta D, with a rate of its own in each sample, leaves unexplained.

    Parameters
    ----------
    D
        The rule.
    dVy : (T, n, k)
        The changes, 0 where they were not observed.

    Attributes
    ----------
    rate : (T,)
        The rate that fits each sample best.
    squares : (T,)
        Sum of squares of what is left.
    expected : (6, T)
        Mean sum of squares that noise of unit fraction in each quantity would leave.
    """

    def __init__(self, D: NoisyTerm, dVy: NDArray) -> None:
        self.D, self.dVy = D, dVy
        self.DD, Dd = dot(D.value, D.value), dot(D.value, dVy)
        self.rate = Dd / self.DD
        self.squares = np.maximum(dot(dVy, dVy) - Dd**2 / self.DD, 0.0)
        self.noise = D.overlap(D)
        self.variance_d = np.mean(dVy[:, D.seen] ** 2)
        self.expected = self.rate**2 * (self.noise - D.spread(D, D.value, D.value) / self.DD)
        self.expected[QUANTITIES.index("dVy")] = (D.seen.sum() - 1) * self.variance_d

    @cached_property
    def equal_noise(self) -> NDArray:
        """Squared noise fractions, (6,), if they are the same in all quantities and nothing is
        shared.
        """
        same = max(np.mean(self.squares / self.expected[:-1].sum(axis=0)), 0.0)
        return np.append(np.full(len(QUANTITIES), same), 0.0)

    @cached_property
    def fitted_noise(self) -> NDArray:
        """Squared noise fractions, (6,), from the shape of what is left, if nothing is shared.

        Noise in y leaves matrices whose rows are parallel to p, noise in z and a leaves columns
        that are parallel to y, noise in the weights and their changes neither. So sums of squares
        are fitted as a whole, along p, and along y. Fractions of z and a are taken to be equal:
        only their sum is seen.
        """
        left, expected = self._moments()
        scale = np.maximum(expected.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        design, observed = expected / scale, left / scale[:, 0]
        (y, signals, Vy, dVy), _ = nnls(design.transpose(0, 2, 1).reshape(-1, 4), observed.ravel())
        return np.array([y, signals, signals, Vy, dVy, 0.0])

    def _moments(self) -> tuple[NDArray, NDArray]:
        """Return squares as a whole, along p and along y, (3, T), and those of unit noise by
        quantity, (3, 4, T).
        """
        D, y, p, seen = self.D, self.D.y, self.D.p, self.D.seen.astype(float)
        left = self.dVy - self.rate[:, None, None] * D.value
        # Of matrices M: along p the sum of |M p|^2 over the samples between observations, along y
        # that of |M' y|^2.
        pp, yy = np.einsum("twj,twl->tjl", p, p), np.einsum("twi,twi->ti", y, y)
        p2 = np.einsum("tjj->tj", pp)
        across_y = np.square(np.einsum("twi,tvi,ij->twvj", y, y, seen)).sum(axis=(1, 2, 3))
        both = np.einsum("ti,tj,ij->t", yy, p2, seen)
        left_squares = [
            dot(left, left),
            np.square(np.einsum("tij,twj->twi", left, p)).sum(axis=(1, 2)),
            np.square(np.einsum("tij,twi->twj", left, y)).sum(axis=(1, 2)),
        ]
        one, variance_p = np.full(len(y), seen.sum()), np.square(D.origins).sum()
        raw = np.array(
            [
                [p2 @ seen.sum(axis=0), yy @ seen.sum(axis=1), one],
                [np.einsum("tjl,tjl,jl->t", pp, pp, seen.T @ seen), both, p2 @ seen.sum(axis=0)],
                [both, across_y, yy @ seen.sum(axis=1)],
            ]
        )
        variances = np.array([D.variance_y, variance_p, D.variance_V * D.decay**2])
        in_rule = self.rate**2 * variances[:, None] * raw
        expected = np.concatenate([in_rule, self.variance_d * raw[:, 2:]], axis=1)
        # The rate that fits best takes away what lies along the rule.
        along = (
            D.value,
            D.seen * np.einsum("tij,tjl->til", D.value, pp),
            D.seen * np.einsum("twi,twj->tij", y, np.einsum("tij,twi->twj", D.value, y)),
        )
        own = self._products(D.value, D.value)
        taken = [
            2 * self._products(part, D.value) / self.DD - dot(part, D.value) * own / self.DD**2
            for part in along
        ]
        return np.array(left_squares), np.maximum(expected - np.array(taken), 0.0)

    def _products(self, P: NDArray, R: NDArray) -> NDArray:
        """Return the mean of (noise . P) (noise . R) for unit noise in y, p, Vy and dVy, (4, T)."""
        y, z, a, Vy, *_ = self.rate**2 * self.D.spread(self.D, P, R)
        return np.array([y, z + a, Vy, self.variance_d * dot(P, R)])

    def possible_noise(self, s: NDArray, a: NDArray, Vy: NDArray, ridge: float) -> NDArray:
        """Return squared noise fractions that leave about what is left, for candidates of s, (6,
        candidates, 6).

        They are the ends of what the data do not decide: whether noise is the same in all
        quantities or as fitted; how much of that along y is of z or of a, which strays from Vy'y at
        least as much; and how much of that in all directions is of the weights or of their changes.

        Parameters
        ----------
        s : (candidates,)
            The less a quantity counts in the rule at that s, the more noise it can have had.
        a : (T, w, k)
            Distal current.
        Vy : (T, n, k)
            Weights, 0 where they were not observed.
        ridge
            As :func:`~biorrr.analysis.infer_s` takes it.
        """
        fitted, none = self.fitted_noise, np.zeros_like(s)
        tiny, most = np.finfo(float).tiny, LARGEST_NOISE**2
        noise_y, noise_p, noise_V, noise_d = (
            np.full_like(s, one) for one in np.delete(fitted, [2, 5])
        )
        power, of_z, of_a = (
            fitted[1] * np.square(self.D.origins).sum(),
            self.D.origins[1] ** 2,
            np.mean(a**2),
        )
        strays = np.mean(np.square(a - np.einsum("twi,tij->twj", self.D.y, Vy)))
        most_a = np.minimum(
            power / np.maximum(s**2 * of_a, tiny), min(strays / max(of_a, tiny), most)
        )
        left_for_z = (power - s**2 * of_a * most_a) / max(of_z, tiny)
        in_all = fitted[3:5] @ self.expected[3:5].mean(axis=1)
        decay = self.D.y.shape[1] * (1 - s + s * ridge)
        of_V = decay**2 * self.D.variance_V * np.mean(self.rate**2) * (self.D.seen.sum() - 1)
        most_V = np.minimum(in_all / np.maximum(of_V, tiny), most)
        rows = [
            [none + one for one in self.equal_noise],
            [noise_y, noise_p, noise_p, noise_V, noise_d, none],
            [noise_y, none + power / max(of_z, tiny), none, noise_V, noise_d, none],
            [noise_y, left_for_z, most_a, noise_V, noise_d, none],
            [noise_y, noise_p, noise_p, most_V, none, none],
            [noise_y, noise_p, noise_p, none, noise_d, none],
        ]
        return np.array([np.stack(row, axis=1) for row in rows])

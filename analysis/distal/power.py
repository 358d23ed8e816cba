"""Power of experiments on distal plasticity to tell RRMSE from CCA, by synapses, samples and noise.

Experiments are simulated by the paper's equations (Eqs. 9 to 11), many side by side, each a circuit
of its own that has begun to learn; part of its distal synapses is observed, with noise, and s is
inferred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.distal.inference import infer_s
from biorrr.analysis.distal.observation import between_observations
from biorrr.errors import InputError

FIBRES = 40  # distal synapses of each neuron, unless more are to be observed
LEARNED = 300  # samples before the recording begins
RATE = 0.003  # of distal plasticity; proximal synapses learn twice as fast
LATENTS = np.array(
    [1.3, 1.0, 0.7]
)  # standard deviations of the causes that sensory and instructive inputs share
INPUTS, NOISE = 10, 0.6  # sensory inputs, and standard deviation of what is not shared
# numbers in the largest array of experiments that are simulated side by side, or of one of them
LARGEST = 10_000_000
INPUT_POWER = 6.0  # number of fibres of unit gain that all distal inputs together are as strong as


@dataclass(frozen=True)
class Design:
    """One experiment as it could be planned.

    Parameters
    ----------
    synapses
        Distal synapses observed on each neuron.
    samples
        Observed changes of each synapse.
    weight_noise
        Noise of one look at a weight, as a fraction of the root mean square of the weights. The
        change between two looks has the noise of both.
    activity_noise
        Noise of distal input, output and distal current, as a fraction of the root mean square of
        each.
    neurons
        How many are recorded together.
    every
        Samples from one observation of the weights to the next.
    """

    synapses: int
    samples: int
    weight_noise: float
    activity_noise: float = 0.1
    neurons: int = 1
    every: int = 1

    def __post_init__(self) -> None:
        if self.size > LARGEST:
            raise InputError(
                f"design: synapses (at least {FIBRES}) times samples times every times neurons must"
                f" not exceed {LARGEST:,} (got {self.size:,}); plan a smaller experiment: more can"
                " only tell better"
            )

    @property
    def size(self) -> int:
        """Size of the largest array of one simulated experiment."""
        return max(FIBRES, self.synapses) * self.samples * self.every * self.neurons


@dataclass(frozen=True)
class Outcome:
    """Outcome of many simulated experiments in which the circuits follow the same s.

    Attributes
    ----------
    tells
        Share of experiments whose interval excludes the opposite end of the family (for s between
        them, either end).
    misleads
        Share whose interval excludes the end that the circuits follow (for s between them, both).
    covers
        Share whose interval contains s.
    change
        Root mean square of the change of a weight between two looks, over that of the weights,
        without noise.
    """

    tells: float
    misleads: float
    covers: float
    change: float


def simulate_circuits(
    s: float,
    n: int,
    k: int,
    samples: int,
    experiments: int,
    seed: int | list[int],
    N: float = np.inf,
) -> tuple[NDArray, ...]:
    """Simulate circuits of k neurons with n distal synapses each, after they have begun to learn.

    Rates fall to half within the first ``N`` samples, of the 300 before the recording too.

    Returns
    -------
    y, z, a : (experiments, samples, n), (experiments, samples, k), (experiments, samples, k)
    Vy : (experiments, samples + 1, n, k)
        Before each sample, and after the last.
    """
    rng = np.random.default_rng(seed)
    E, gain = experiments, np.sqrt(min(1.0, INPUT_POWER / n))
    to_x, to_y = (
        rng.standard_normal((E, len(LATENTS), INPUTS)),
        rng.standard_normal((E, len(LATENTS), n)),
    )
    Vx, Vy = 0.1 * rng.standard_normal((E, INPUTS, k)), 0.1 * rng.standard_normal((E, n, k))
    Q = np.tile(0.3 * np.eye(k), (E, 1, 1))
    y, z, a = np.empty((E, samples, n)), np.empty((E, samples, k)), np.empty((E, samples, k))
    weights = np.empty((E, samples + 1, n, k))
    for t in range(-LEARNED, samples):
        causes = 0.5 * LATENTS * rng.standard_normal((E, 1, len(LATENTS)))
        x_t = (causes @ to_x)[:, 0] + NOISE * rng.standard_normal((E, INPUTS))
        y_t = gain * ((causes @ to_y)[:, 0] + NOISE * rng.standard_normal((E, n)))
        z_t, a_t = np.einsum("ei,eij->ej", x_t, Vx), np.einsum("ei,eij->ej", y_t, Vy)
        interneurons = np.einsum("ejl,ej->el", Q, z_t)
        if t >= 0:
            y[:, t], z[:, t], a[:, t], weights[:, t] = y_t, z_t, a_t, Vy
        rate = RATE / (1 + (t + LEARNED) / N)
        plateau = a_t - np.einsum("ejl,el->ej", Q, interneurons)
        Vx = Vx + 2 * rate * x_t[:, :, None] * plateau[:, None, :]
        Vy = Vy + rate * (y_t[:, :, None] * (z_t - s * a_t)[:, None, :] - (1 - s) * Vy)
        Q = Q + rate * (z_t[:, :, None] * interneurons[:, None, :] - Q)
    weights[:, samples] = Vy
    return y, z, a, weights


def observed(values: NDArray, noise: float, rng: np.random.Generator) -> NDArray:
    """Return ``values`` with noise of that fraction of their root mean square."""
    return values + noise * np.sqrt(np.mean(values**2)) * rng.standard_normal(values.shape)


def try_design(design: Design, s: float, experiments: int, seed: int) -> Outcome:
    """Carry out many simulated experiments of a design, on circuits that follow ``s``."""
    n, rng = max(FIBRES, design.synapses), np.random.default_rng([seed, 1])
    when = design.every * np.arange(design.samples + 1)
    seen = slice(design.synapses)  # inputs are drawn alike, so any will do
    together = int(np.clip(LARGEST // design.size, 1, experiments))
    ends = []
    for first in range(0, experiments, together):
        some = min(together, experiments - first)
        circuits = simulate_circuits(s, n, design.neurons, int(when[-1]), some, [seed, first])
        for y, z, a, Vy in zip(*circuits, strict=True):
            weights = Vy[when][:, seen]
            y, z, a = (
                observed(values, design.activity_noise, rng) for values in (y[:, seen], z, a)
            )
            looks = observed(weights, design.weight_noise, rng)
            found = infer_s(*between_observations(y, z, a, looks, when))
            change = np.sqrt(np.mean(np.diff(weights, axis=0) ** 2) / np.mean(weights**2))
            ends.append((found.low, found.high, change))
    low, high, change = np.array(ends).T
    excludes_0, excludes_1 = low > 0, high < 1
    right, wrong = (
        (excludes_1, excludes_0)
        if s == 0
        else (
            (excludes_0, excludes_1)
            if s == 1
            else (excludes_0 | excludes_1, (low > 1) | (high < 0))
        )
    )
    return Outcome(
        float(np.mean(right)),
        float(np.mean(wrong)),
        float(np.mean((low <= s) & (s <= high))),
        float(np.mean(change)),
    )

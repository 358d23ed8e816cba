"""Data made on the spot, with the truth known: two Gaussian views of latent variables, and spikes of two areas."""

from __future__ import annotations

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import Planted, Synthetic

BIN = 0.1  # seconds
SHARED = 8  # dimensions in which the source area varies together
RATES = (8.0, 0.6)  # median in spikes per second, and spread of its logarithm: log-normal, as in cortex


def read_synthetic(value: Synthetic) -> Dataset:
    """Return X = L diag(g) A' + noise, Y = L diag(g) B' + noise, with L standard normal latents.

    A (m, latents) and B (n, latents) have random orthonormal columns. Latent j has strength
    g_j = signal * (1 - j/latents): all differ, so that the best k-dimensional subspace is unique for every k. The
    canonical correlations of the two views are g_j^2 / (g_j^2 + noise^2).
    """
    samples, m, n, latents = value.samples, value.m, value.n, value.latents
    if latents > min(m, n):
        raise DataError(f"synthetic latents: must not exceed m and n (got {latents} for m = {m}, n = {n})")
    rng = np.random.default_rng(value.seed)
    A = np.linalg.qr(rng.standard_normal((m, latents)))[0]
    B = np.linalg.qr(rng.standard_normal((n, latents)))[0]
    g = value.signal * (1 - np.arange(latents) / latents)
    L = rng.standard_normal((samples, latents))
    return Dataset(
        "synthetic",
        X=(L * g) @ A.T + value.noise * rng.standard_normal((samples, m)),
        Y=(L * g) @ B.T + value.noise * rng.standard_normal((samples, n)),
        latents=L,
    )


def read_planted(value: Planted) -> Dataset:
    """Draw counts of a source area with its own shared variability, and of a target that follows ``rank`` dimensions.

    Each unit fires as a Poisson process whose log rate follows latent variables, smooth over the bins of a trial. The
    source's units follow 8 of them; the target's follow ``rank`` of these, and as many of their own, so that most of
    what they share does not come from the source. At a gain of 0.6 about a tenth of the target's variance can be
    predicted.
    """
    trials, bins, rank, gain = value.trials, value.bins, value.rank, value.gain
    source_units, target_units = value.source_units, value.target_units
    if rank > min(SHARED, source_units, target_units):
        raise DataError(f"planted rank: must lie between 0 and {min(SHARED, source_units, target_units)} (got {rank})")
    rng = np.random.default_rng(value.seed)
    latents = _smooth(rng.standard_normal((trials, bins, SHARED)))
    own = _smooth(rng.standard_normal((trials, bins, max(rank, 1))))
    to_source = _loadings(rng, source_units, SHARED)
    to_target = np.hstack([_loadings(rng, target_units, rank), _loadings(rng, target_units, own.shape[2])]) / np.sqrt(2)
    X = _spikes(rng, latents @ to_source.T, gain)
    Y = _spikes(rng, np.concatenate([latents[..., :rank], own], axis=2) @ to_target.T, gain)
    samples = trials * bins
    return Dataset(
        "planted",
        X.reshape(samples, -1),
        Y.reshape(samples, -1),
        groups=np.repeat(np.arange(trials), bins),
        latents=latents[..., :rank].reshape(samples, rank),
        strata=np.tile(np.arange(bins), trials),
        x_names=tuple(f"source {unit}" for unit in range(source_units)),
        y_names=tuple(f"target {unit}" for unit in range(target_units)),
        x_rates=X.mean(axis=(0, 1)) / BIN,
        y_rates=Y.mean(axis=(0, 1)) / BIN,
    )


def _loadings(rng: np.random.Generator, units: int, dimensions: int) -> np.ndarray:
    """Return orthogonal directions of equal strength, (units, dimensions), each unit with a variance near 1."""
    axes = np.linalg.qr(rng.standard_normal((units, dimensions)))[0] if dimensions else np.zeros((units, 0))
    return axes * np.sqrt(units / max(dimensions, 1))


def _smooth(white: np.ndarray) -> np.ndarray:
    """Return latent variables of unit variance, correlated from bin to bin, (trials, bins, dimensions)."""
    smooth = white.copy()
    for bin in range(1, white.shape[1]):
        smooth[:, bin] = 0.6 * smooth[:, bin - 1] + 0.8 * white[:, bin]
    return smooth


def _spikes(rng: np.random.Generator, drive: np.ndarray, gain: float) -> np.ndarray:
    """Return Poisson counts (trials, bins, units) with log-normal mean rates and a ``drive`` of about unit variance."""
    median, spread = RATES
    rates = median * np.exp(spread * rng.standard_normal(drive.shape[2]))
    return rng.poisson(BIN * rates * np.exp(gain * drive - gain**2 / 2)).astype(float)


READERS = {"synthetic": read_synthetic, "planted": read_planted}

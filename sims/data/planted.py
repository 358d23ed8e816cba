"""Spike counts of two areas, made on the spot, with a communication subspace of known dimension between them."""

from __future__ import annotations

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.source import Source

SOURCE = Source(
    summary="Poisson spikes of two areas with a planted communication subspace; options trials, bins, source_units, "
    "target_units, rank, gain, seed",
    home="made on the spot",
    licence="none needed",
    citation="none needed",
)
BIN = 0.1  # seconds
SHARED = 8  # dimensions in which the source area varies together
RATES = (8.0, 0.6)  # median in spikes per second, and spread of its logarithm: log-normal, as in cortex


def load(
    *,
    trials: int = 400,
    bins: int = 10,
    source_units: int = 80,
    target_units: int = 30,
    rank: int = 3,
    gain: float = 0.6,
    seed: int = 0,
) -> Dataset:
    """Counts of a source area with its own shared variability, and of a target that follows ``rank`` dimensions of it.

    Each unit fires as a Poisson process whose log rate follows latent variables, smooth over the bins of a trial. The
    source's units follow 8 of them; the target's follow ``rank`` of these, and as many of their own, so that most of
    what they share does not come from the source.

    Parameters
    ----------
    trials, bins
        How many, of 100 ms.
    source_units, target_units
        In each area.
    rank
        Dimensions that the areas share.
    gain
        Standard deviation of the log rates that the latent variables of an area cause. At 0.6 about a tenth of the
        target's variance can be predicted.
    seed
        Of the generator everything is drawn from.
    """
    for name, value in (
        ("trials", trials),
        ("bins", bins),
        ("source_units", source_units),
        ("target_units", target_units),
    ):
        if value < 2:
            raise DataError(f"planted {name}: must be at least 2 (got {value})")
    if not 0 <= rank <= min(SHARED, source_units, target_units):
        raise DataError(f"planted rank: must lie between 0 and {min(SHARED, source_units, target_units)} (got {rank})")
    if not gain >= 0:
        raise DataError(f"planted gain: must not be negative (got {gain})")
    rng = np.random.default_rng(seed)
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
        source=SOURCE.home,
        licence=SOURCE.licence,
        citation=SOURCE.citation,
    )


def _loadings(rng: np.random.Generator, units: int, dimensions: int) -> np.ndarray:
    """Orthogonal directions of equal strength, (units, dimensions), that give each unit a variance of about 1."""
    axes = np.linalg.qr(rng.standard_normal((units, dimensions)))[0] if dimensions else np.zeros((units, 0))
    return axes * np.sqrt(units / max(dimensions, 1))


def _smooth(white: np.ndarray) -> np.ndarray:
    """Latent variables of unit variance that are correlated from one bin to the next, (trials, bins, dimensions)."""
    smooth = white.copy()
    for bin in range(1, white.shape[1]):
        smooth[:, bin] = 0.6 * smooth[:, bin - 1] + 0.8 * white[:, bin]
    return smooth


def _spikes(rng: np.random.Generator, drive: np.ndarray, gain: float) -> np.ndarray:
    """Poisson counts (trials, bins, units) with log-normal mean rates, driven by ``drive`` of about unit variance."""
    median, spread = RATES
    rates = median * np.exp(spread * rng.standard_normal(drive.shape[2]))
    return rng.poisson(BIN * rates * np.exp(gain * drive - gain**2 / 2)).astype(float)

"""Spike counts of two areas, made on the spot, with a communication subspace of known dimension between them."""

from __future__ import annotations

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import Planted
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


SOURCES = {"planted": SOURCE}


def read(value: Planted) -> Dataset:
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

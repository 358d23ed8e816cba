"""Data made on the spot, with the truth known: two Gaussian views of latent variables, and spikes
of two areas.
"""

from __future__ import annotations

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.published import NamedData, Origin
from biorrr.sims.data.values import DataError
from biorrr.sims.lab.settings import option
from biorrr.sims.lazy import np

BIN = 0.1  # seconds
SHARED = 8  # dimensions in which the source area varies together
RATES = (
    8.0,
    0.6,
)  # median in spikes per second, and spread of its logarithm: log-normal, as in cortex


class Synthetic(NamedData):
    """Two Gaussian views of the same latent variables.

    X = L diag(g) A' + noise and Y = L diag(g) B' + noise, with standard normal latents L. A (m,
    latents) and B (n, latents) have random orthonormal columns. Latent j has strength g_j = signal
    * (1 - j/latents): all differ, so that the best k-dimensional subspace is unique for every k.
    The canonical correlations of the two views are g_j^2 / (g_j^2 + noise^2).
    """

    set_name = "synthetic"
    origin = Origin(
        summary=(
            "two Gaussian views of shared latent variables; options samples, m, n, latents, signal,"
            " noise, seed"
        ),
        home="made on the spot",
        licence="none needed",
        citation="none needed",
    )
    samples: int = option(2000, "number of samples", at_least=1)
    m: int = option(30, "inputs in X", at_least=1)
    n: int = option(20, "targets in Y", at_least=1)
    latents: int = option(3, "shared latent variables", at_least=1)
    signal: float = option(
        2.0, "standard deviation that the strongest latent causes in each view", at_least=0
    )
    noise: float = option(
        1.0, "standard deviation of the noise on every input and target", at_least=0
    )
    seed: int = option(0, "seed of the generator", at_least=0)

    def load(self) -> Dataset:
        """Draw the samples."""
        samples, m, n, latents = self.samples, self.m, self.n, self.latents
        if latents > min(m, n):
            raise DataError(
                f"synthetic latents: must not exceed m and n (got {latents} for m = {m}, n = {n})"
            )
        rng = np.random.default_rng(self.seed)
        A = np.linalg.qr(rng.standard_normal((m, latents)))[0]
        B = np.linalg.qr(rng.standard_normal((n, latents)))[0]
        g = self.signal * (1 - np.arange(latents) / latents)
        L = rng.standard_normal((samples, latents))
        X = (L * g) @ A.T + self.noise * rng.standard_normal((samples, m))
        return Dataset(
            "synthetic", X, (L * g) @ B.T + self.noise * rng.standard_normal((samples, n))
        )


SMALL_DATA = Synthetic(
    samples=60, m=6, n=5, latents=2
)  # of the small settings that experiments declare


class Planted(NamedData):
    """Poisson spikes of two areas with a planted communication subspace.

    The log rate of each unit follows latent variables, smooth over the bins of a trial. The
    source's units follow 8 of them, or as many as there are units. The target's units follow
    ``rank`` of these and as many of their own, so that most of what they share does not come from
    the source. At a gain of 0.6 about a tenth of the target's variance can be predicted.
    """

    set_name = "planted"
    origin = Origin(
        summary=(
            "Poisson spikes of two areas with a planted communication subspace; options trials,"
            " bins, source_units, target_units, rank, gain, seed"
        ),
        home="made on the spot",
        licence="none needed",
        citation="none needed",
    )
    trials: int = option(400, "number of trials", at_least=2)
    bins: int = option(10, "bins of 100 ms in a trial", at_least=2)
    source_units: int = option(80, "units in the source area", at_least=2)
    target_units: int = option(30, "units in the target area", at_least=2)
    rank: int = option(3, "dimensions that the areas share", at_least=0)
    gain: float = option(
        0.6, "standard deviation of the log rates that latent variables cause", at_least=0
    )
    seed: int = option(0, "seed of the generator", at_least=0)

    def load(self) -> Dataset:
        """Draw the samples."""
        trials, bins, rank = self.trials, self.bins, self.rank
        shared = min(SHARED, self.source_units)
        if rank > (most := min(shared, self.target_units)):
            raise DataError(f"planted rank: must lie between 0 and {most} (got {rank})")
        rng = np.random.default_rng(self.seed)
        latents = _smooth(rng.standard_normal((trials, bins, shared)))
        own = _smooth(rng.standard_normal((trials, bins, max(rank, 1))))
        to_source = _loadings(rng, self.source_units, shared)
        to_target = [_loadings(rng, self.target_units, one) for one in (rank, own.shape[2])]
        X = _spikes(rng, latents @ to_source.T, self.gain)
        both = np.concatenate([latents[..., :rank], own], axis=2)
        Y = _spikes(rng, both @ (np.hstack(to_target) / np.sqrt(2)).T, self.gain)
        return Dataset(
            "planted",
            X.reshape(trials * bins, -1),
            Y.reshape(trials * bins, -1),
            groups=np.repeat(np.arange(trials), bins),
            strata=np.tile(np.arange(bins), trials),
            x_rates=X.mean(axis=(0, 1)) / BIN,
            y_rates=Y.mean(axis=(0, 1)) / BIN,
        )


def _loadings(rng: np.random.Generator, units: int, dimensions: int) -> np.ndarray:
    """Return orthogonal directions of equal strength, (units, dimensions), each unit with a
    variance near 1.
    """
    axes = (
        np.linalg.qr(rng.standard_normal((units, dimensions)))[0]
        if dimensions
        else np.zeros((units, 0))
    )
    return axes * np.sqrt(units / max(dimensions, 1))


def _smooth(white: np.ndarray) -> np.ndarray:
    """Return latent variables of unit variance, correlated from bin to bin, (trials, bins,
    dimensions).
    """
    smooth = white.copy()
    for bin in range(1, white.shape[1]):
        smooth[:, bin] = 0.6 * smooth[:, bin - 1] + 0.8 * white[:, bin]
    return smooth


def _spikes(rng: np.random.Generator, drive: np.ndarray, gain: float) -> np.ndarray:
    """Return Poisson counts (trials, bins, units) with log-normal mean rates and a ``drive`` of
    about unit variance.
    """
    median, spread = RATES
    rates = median * np.exp(spread * rng.standard_normal(drive.shape[2]))
    return rng.poisson(BIN * rates * np.exp(gain * drive - gain**2 / 2)).astype(float)

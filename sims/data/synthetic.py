"""Two views of the same hidden causes, made on the spot, with the truth known."""

from __future__ import annotations

import math

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.source import Source

SOURCE = Source(
    summary="Gaussian views that share latents; options samples, m, n, latents, signal, noise, seed",
    home="made on the spot",
    licence="none needed",
    citation="none needed",
)


def load(
    *,
    samples: int = 2000,
    m: int = 30,
    n: int = 20,
    latents: int = 3,
    signal: float = 2.0,
    noise: float = 1.0,
    seed: int = 0,
) -> Dataset:
    """Make X = L diag(g) A' + noise, Y = L diag(g) B' + noise, with L standard normal latents.

    A (m, latents) and B (n, latents) have random orthonormal columns. Latent j has strength
    g_j = signal * (1 - j/latents): all differ, so that the best k-dimensional subspace is unique for every k. The
    canonical correlations of the two views are g_j^2 / (g_j^2 + noise^2).

    Parameters
    ----------
    samples, m, n, latents
        T, inputs in X, targets in Y, shared latents.
    signal
        Standard deviation that the strongest latent causes along its direction in each view.
    noise
        Standard deviation of the independent noise on every input and target.
    seed
        Of the generator everything is drawn from.
    """
    for name, value in (("samples", samples), ("m", m), ("n", n), ("latents", latents)):
        if value < 1:
            raise DataError(f"synthetic {name}: must be at least 1 (got {value})")
    if latents > min(m, n):
        raise DataError(f"synthetic latents: must not exceed m and n (got {latents} for m = {m}, n = {n})")
    for name, strength in (("signal", signal), ("noise", noise)):
        if not (math.isfinite(strength) and strength >= 0):
            raise DataError(f"synthetic {name}: must be finite and not negative (got {strength})")
    if seed < 0:
        raise DataError(f"synthetic seed: must not be negative (got {seed})")

    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((m, latents)))[0]
    B = np.linalg.qr(rng.standard_normal((n, latents)))[0]
    g = signal * (1 - np.arange(latents) / latents)
    L = rng.standard_normal((samples, latents))
    return Dataset(
        "synthetic",
        X=(L * g) @ A.T + noise * rng.standard_normal((samples, m)),
        Y=(L * g) @ B.T + noise * rng.standard_normal((samples, n)),
        latents=L,
        source=SOURCE.home,
        licence=SOURCE.licence,
        citation=SOURCE.citation,
    )

"""Two views of the same hidden causes, made on the spot, with the truth known."""

from __future__ import annotations

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import Synthetic
from biorrr.sims.data.source import Source

SOURCE = Source(
    summary="Gaussian views that share latents; options samples, m, n, latents, signal, noise, seed",
    home="made on the spot",
    licence="none needed",
    citation="none needed",
)


SOURCES = {"synthetic": SOURCE}


def read(value: Synthetic) -> Dataset:
    """Make X = L diag(g) A' + noise, Y = L diag(g) B' + noise, with L standard normal latents.

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
        source=SOURCE.home,
        licence=SOURCE.licence,
        citation=SOURCE.citation,
    )

"""Small data that the baseline's experiments and circuits run on, drawn from fixed seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def regression(samples: int = 300) -> dict[str, np.ndarray]:
    """Draw X (samples, 8) and Y (samples, 6), centred and of unit variance, of which three
    directions are predicted.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, 8)) * np.linspace(1.5, 0.5, 8)
    Y = X[:, :3] @ rng.standard_normal((3, 6)) + 0.3 * rng.standard_normal((samples, 6))
    return {name: (A - A.mean(axis=0)) / A.std() for name, A in (("X", X), ("Y", Y))}


def two_areas() -> dict[str, Any]:
    """Draw activity (trials, bins, units) of two areas that share one latent."""
    rng = np.random.default_rng(1)
    latent = rng.standard_normal((24, 5, 1))
    activity = rng.standard_normal((24, 5, 14)) + latent * rng.uniform(0.5, 1.5, 14)
    areas = np.array(["V1"] * 9 + ["V2"] * 5)
    return {
        "activity": np.exp(0.5 * activity),
        "areas": areas,
        "bin": 0.1,
        "conditions": np.arange(24) % 3,
    }


# Commands run in a folder that has these files.
FILES: dict[str, Callable[[], Mapping[str, Any]]] = {
    "small.npz": regression,
    "areas.npz": two_areas,
}

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


def distal_plasticity() -> dict[str, np.ndarray]:
    """Draw y (200, 5), z (200, 2) and a (200, 2), and let Vy (201, 5, 2) follow the rule of s = 0.5
    with noise.
    """
    rng = np.random.default_rng(2)
    y, z, a = rng.standard_normal((200, 5)), rng.standard_normal((200, 2)), np.zeros((200, 2))
    Vy = 0.3 * rng.standard_normal((201, 5, 2))
    for t in range(200):
        a[t] = y[t] @ Vy[t]
        Vy[t + 1] = Vy[t] + 0.02 * (np.outer(y[t], z[t] - 0.5 * a[t]) - 0.5 * Vy[t])
    return {"y": y, "z": z, "a": a, "Vy": Vy + 1e-4 * rng.standard_normal(Vy.shape)}


# Commands run in a folder that has these files.
FILES: dict[str, Callable[[], Mapping[str, Any]]] = {
    "small.npz": regression,
    "areas.npz": two_areas,
    "distal.npz": distal_plasticity,
}

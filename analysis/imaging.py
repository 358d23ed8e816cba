"""Activity as calcium imaging shows it: smoothed by the indicator, frame by frame, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.eligibility import eligibility_trace


def imaged(
    activity: NDArray, frames: int, decay: float, noise: float, rng: np.random.Generator
) -> NDArray:
    """Return the fluorescence (T * frames, N) of cells whose activity (T, N) is held for some
    frames each.

    Parameters
    ----------
    frames
        Frames that each row of ``activity`` lasts.
    decay
        Frames within which the indicator's fluorescence decays to 1/e.
    noise
        Standard deviation of the imaging noise, which is white, in units of the standard deviation
        of the fluorescence without it.
    """
    calcium = eligibility_trace(np.repeat(activity, frames, axis=0), decay)
    return calcium / calcium.std(axis=0) + noise * rng.standard_normal(calcium.shape)

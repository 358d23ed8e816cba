"""Signals that are analysed: fast parts of a recording, residuals of dendrites and error, and
stretches of time.

Slow changes are removed first, since two signals that change slowly are correlated by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.eligibility import eligibility_trace
from biorrr.analysis.instructive.recording import DendriticRecording
from biorrr.analysis.instructive.residual import dendritic_residual, error_beyond_somas

WINDOW, TRIALS, DECAYS, FRAMES = (
    5.0,
    3,
    10,
    20,
)  # seconds, trials, decays and frames in a running mean, at least
LARGEST_SHARE = 0.2  # of the recording that a running mean spans
STRETCHES = (
    10,
    40,
)  # at least and at most, in each of which a gap as long as a running mean is left out


@dataclass(frozen=True, eq=False)
class Signals:
    """Fast parts of a recording: T frames that have a whole running mean around them.

    Attributes
    ----------
    soma, dendrite : (T, N)
        Fluorescence less its running mean.
    residual : (T, N)
        Dendrites less what the somas explain of them; columns have unit length.
    error : (T, J) or None
        The error as the indicator would show it, less its running mean and less what the somas
        explain.
    role : (N, J) or None
    condition : (T,) or None
    stretch : (T,)
        Stretch of time that each frame belongs to, numbered from 0; -1 in the gaps between
        stretches.
    smooth
        True if the indicator carries over from frame to frame.
    """

    soma: NDArray
    dendrite: NDArray
    residual: NDArray
    error: NDArray | None
    role: NDArray | None
    condition: NDArray | None
    stretch: NDArray
    smooth: bool

    @property
    def neurons(self) -> int:
        """N."""
        return self.soma.shape[1]


def window(recording: DendriticRecording, decay: float) -> float:
    """Return the seconds of the running mean: five, three trials, ten decays or 20 frames,
    whichever is longest.
    """
    return max(
        WINDOW, TRIALS * recording.period / recording.rate, DECAYS * decay, FRAMES / recording.rate
    )


def signals_of(recording: DendriticRecording, decay: float) -> Signals:
    """Return the fast parts of a recording, imaged with an indicator that decays within ``decay``
    seconds.
    """
    from scipy.ndimage import convolve1d

    T, smooth = recording.frames, decay * recording.rate >= 1
    half = max(1, int(min(window(recording, decay) * recording.rate, LARGEST_SHARE * T)) // 2)
    kept, mean = slice(half, T - half), running_mean(half)

    def fast(signals: NDArray) -> NDArray:
        return (signals - convolve1d(signals, mean, axis=0))[kept]

    soma, dendrite, error = fast(recording.soma), fast(recording.dendrite), None
    if recording.error is not None:
        seen = eligibility_trace(
            recording.error, decay * recording.rate
        )  # as the indicator would show it
        error = error_beyond_somas(soma, fast(seen - seen.mean(axis=0)), smooth)
    condition = None if recording.condition is None else recording.condition[kept]
    residual, stretch = dendritic_residual(soma, dendrite, smooth), _stretches(len(soma), 2 * half)
    return Signals(soma, dendrite, residual, error, recording.role, condition, stretch, smooth)


def running_mean(half: int) -> NDArray:
    """Return the weights of a running mean over ``half`` frames to either side, (2 half + 1,).

    The two neighbours of a frame weigh less than the others, such that white noise less its running
    mean is still uncorrelated from one frame to the next: one frame remains an instrument for the
    other.
    """
    weights = np.full(2 * half + 1, 1 / (2 * half + 1))
    for _ in range(20):
        weights[[half - 1, half + 1]] = weights[1:] @ weights[:-1] / 2
        weights /= weights.sum()
    return weights


def _stretches(T: int, window: int) -> NDArray:
    """Return the stretch of each of T frames, -1 in gaps.

    Gaps last a whole window, so that no frame's running mean reaches two stretches; half of the
    time if that is less.
    """
    number = int(np.clip(T / (2 * window), *STRETCHES))
    place, gap = np.arange(T) * number / T, min((window + 1) * number / T, 0.5)
    return np.where(place % 1 < 1 - gap, place.astype(int), -1)

"""Residuals: dendrites and the task's error less what the somas explain of them.

Somas are known with imaging noise only. Least squares would subtract too little of them, and what
is left would pass for a signal of the dendrite's own. So slopes are found with the frame before as
an instrument: it shares the somas' calcium and not the noise of the frame. Dendrites lose their
regression on the frame, with the frame before as instrument; the error loses its regression on the
frame before, with the frame as instrument. The two residuals then share no noise, and an error in
the slopes of one meets nothing in the other: it does not pass for a relation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.errors import InputError

LEAST_CORRELATION = (
    3.0  # between frames, in its standard errors: with less, one frame tells nothing of the next
)


class WithoutMemoryError(InputError):
    """Somas of which one frame tells nothing of the next: too noisy, too few, or not frames."""


def frame_before(signals: NDArray) -> NDArray:
    """Return each frame's predecessor, (T, N): the same calcium with other noise. The first is its
    own.
    """
    return np.concatenate([signals[:1], signals[:-1]])


def dendritic_residual(soma: NDArray, dendrite: NDArray, smooth: bool = True) -> NDArray:
    """Return dendritic signals (T, N) less what the somas of all neurons, (T, N), explain of them.

    All somas, since a signal that all dendrites share would differ between neurons once each has
    lost its own soma's part of it. Where the indicator is not ``smooth`` from row to row, as in one
    row per trial, slopes are those of least squares.
    """
    frame, before, inverse = _instrument(soma, smooth)
    d = dendrite - dendrite.mean(axis=0)
    return d - frame @ (inverse @ (before.T @ d))


def error_beyond_somas(soma: NDArray, error: NDArray, smooth: bool = True) -> NDArray:
    """Return the task's error (T, J) less what the somas (T, N) explain of it."""
    frame, before, inverse = _instrument(soma, smooth)
    e = error - error.mean(axis=0)
    return e - before @ (inverse.T @ (frame.T @ e))


def _instrument(soma: NDArray, smooth: bool) -> tuple[NDArray, NDArray, NDArray]:
    """Return centred somas, their instrument, (T, N) each, and the inverse of their product, (N,
    N).
    """
    frame = soma - soma.mean(axis=0)
    before = frame_before(frame) if smooth else frame
    correlation = np.median(np.sum(frame * before, axis=0) / np.sum(frame * frame, axis=0))
    if correlation < LEAST_CORRELATION / np.sqrt(soma.size):
        raise WithoutMemoryError(
            "somas must carry over from one frame to the next, as an indicator does (got a"
            f" correlation of {correlation:.3f} in {len(soma)} frames); record longer, or set the"
            " decay to 0 where rows are trials"
        )
    # Combinations of somas within one standard error of nothing are left out: dividing by noise
    # would drown the rest.
    shared = before.T @ frame
    strength, directions = np.linalg.eigh((shared + shared.T) / 2)
    noise = np.linalg.norm(frame, axis=0).mean() ** 2 / np.sqrt(len(frame))
    kept = directions[:, strength > noise]
    return frame, before, kept @ np.linalg.solve(kept.T @ shared @ kept, kept.T)

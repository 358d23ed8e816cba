"""Somas and dendrites of the same neurons, with what is known of the task."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError

LARGEST = 1e50  # so that squares of squares, and their sums, stay finite
FEWEST_FRAMES = 200
FEWEST_TRIALS = 20
FRAMES_PER_NEURON = 20  # fewer, and the regressions fit noise


@dataclass(frozen=True, eq=False)
class DendriticRecording:
    """Fluorescence of T frames and N neurons; what is not known is None.

    Parameters
    ----------
    soma, dendrite : (T, N)
        Column i of both is neuron i. Imaging noise is taken to be independent from frame to frame.
    rate
        Frames per second.
    error : (T,) or (T, J)
        The task's error in each frame, target less outcome, with J components.
    role : (N,) or (N, J)
        How each neuron drives each component of the outcome, with its sign.
    condition : (T,)
        Which stimulus or trial type each frame belongs to, as whole numbers; negative where it
        belongs to none.
    period
        Frames from one trial to the next, where trials come at a fixed pace; 1 where they do not.
    """

    soma: NDArray
    dendrite: NDArray
    rate: float
    error: NDArray | None = None
    role: NDArray | None = None
    condition: NDArray | None = None
    period: int = 1

    def __post_init__(self) -> None:
        for name in ("soma", "dendrite"):
            object.__setattr__(
                self, name, _numbers(name, getattr(self, name), "frames by neurons", 2)
            )
        T, N = self.soma.shape
        if self.dendrite.shape != (T, N):
            raise InputError(
                "dendrite: must have the shape of soma, frames by neurons (got"
                f" {self.dendrite.shape} and {(T, N)}); column i of both is neuron i"
            )
        if max(FEWEST_FRAMES, FRAMES_PER_NEURON * N) > T:
            raise InputError(
                f"soma: must have at least {max(FEWEST_FRAMES, FRAMES_PER_NEURON * N)} frames for"
                f" {N} neurons (got {T}); is it transposed?"
            )
        for name in ("soma", "dendrite"):
            silent = np.flatnonzero(np.ptp(getattr(self, name), axis=0) == 0)
            if len(silent):
                raise InputError(
                    f"{name}: must change over time (got the same value throughout in neuron"
                    f" {silent[0]})"
                )
        if not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError(
                f"rate: must be a positive number of frames per second (got {self.rate})"
            )
        if self.error is not None:
            error = _columns(_numbers("error", self.error, "frames, or frames by components", 1, 2))
            if len(error) != T:
                raise InputError(f"error: must have one row per frame, {T} (got {len(error)})")
            if not np.ptp(error, axis=0).any():
                raise InputError("error: must change over time (got the same value throughout)")
            object.__setattr__(self, "error", error)
        if self.role is not None:
            role = _columns(
                _numbers("role", self.role, "neurons, or neurons by components of the error", 1, 2)
            )
            wanted = (N, role.shape[1] if self.error is None else self.error.shape[1])
            if role.shape != wanted:
                raise InputError(
                    "role: must have one row per neuron and one column per component of the error,"
                    f" {wanted} (got {role.shape})"
                )
            object.__setattr__(self, "role", role)
        if self.condition is not None:
            condition = _numbers("condition", self.condition, "frames", 1)
            if len(condition) != T or (condition != np.round(condition)).any():
                raise InputError(
                    f"condition: must be one whole number per frame, {T} (got {len(condition)}"
                    " values)"
                )
            object.__setattr__(self, "condition", condition.astype(np.int64))

        if not 1 <= self.period <= T // FEWEST_TRIALS or self.period != round(self.period):
            raise InputError(
                f"period: must be a whole number of frames, at most {T // FEWEST_TRIALS} of {T}"
                f" (got {self.period}); 1 where trials do not come at a fixed pace"
            )

    @property
    def frames(self) -> int:
        """T."""
        return len(self.soma)

    @property
    def neurons(self) -> int:
        """N."""
        return self.soma.shape[1]


def _numbers(name: str, values: ArrayLike, axes: str, *dimensions: int) -> NDArray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: must hold real numbers (got {array.dtype})")
    if array.ndim not in dimensions or 0 in array.shape:
        raise InputError(f"{name}: must have the axes {axes} (got shape {array.shape})")
    bad = np.argwhere(~(np.abs(array.astype(float)) <= LARGEST))
    if len(bad):
        raise InputError(
            f"{name}: must be finite, within {LARGEST:g} of 0 (got {array[tuple(bad[0])]} at "
            f"{', '.join(map(str, bad[0]))}, counted from 0); drop or fill such frames first"
        )
    return array.astype(float)


def _columns(values: NDArray) -> NDArray:
    return values[:, None] if values.ndim == 1 else values

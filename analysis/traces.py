"""Recorded traces at the start, halfway and at the end of learning, beside what theory expects of
them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.regression.exact_solution import ExactSolution


@dataclass(frozen=True)
class Stage:
    """A stretch of recorded samples.

    Attributes
    ----------
    samples : (T,)
        Which samples, counted from the first that the circuit saw.
    traces
        By name, (T, k), or (T, held, k) where each sample was held for several ticks.
    theory
        By name of the trace that it should equal at the optimum, of the same shape; empty where it
        is not known.
    """

    samples: NDArray
    traces: Mapping[str, NDArray]
    theory: Mapping[str, NDArray]


def stages_of_learning(
    samples: ArrayLike,
    traces: Mapping[str, ArrayLike],
    seen: ArrayLike,
    Vx: ArrayLike,
    Vy: ArrayLike,
    *,
    shown: int = 50,
    data: tuple[ArrayLike, ArrayLike] | None = None,
    exact: ExactSolution | None = None,
) -> dict[str, Stage]:
    """Choose stretches of consecutive samples at the start, halfway and at the end of learning.

    Halfway is where the prediction Vy Vx' has come, for good, within half of the distance that it
    travels in the run. A run that was not recorded near there, that is at between about half
    and twice as many samples, or that does not move, has no such stage.

    Parameters
    ----------
    samples : (T,)
        Samples that were recorded, ascending. Where no two follow one another, recorded ones are
        taken as they come.
    traces
        By name, each (T, k) or (T, held, k).
    seen : (S,)
        Samples seen before each snapshot of the weights.
    Vx, Vy : (S, m, k), (S, n, k)
        Weights at snapshots.
    shown
        Samples in each stage.
    data : (T, m) and (T, n)
        The sensory and instructive input of each recorded sample, centred as the circuit saw it.
    exact
        The exact solution, from which the regression y~ of y on x is taken. With it and with
        ``data``, the theory is known: the plateau becomes Vy'(y - y~) and the inhibition Vy'y~
        (Sec. 6), with Vy at the snapshot that precedes the stretch.
    """
    samples, seen, Vx, Vy = np.asarray(samples), np.asarray(seen), np.asarray(Vx), np.asarray(Vy)
    recorded = {name: np.asarray(trace) for name, trace in traces.items()}
    found = halfway(Vx, Vy)
    middle = None if found is None else seen[found]
    stages = {}
    for title, chosen in _stretches(samples, shown, middle).items():
        theory: dict[str, NDArray] = {}
        if data is not None and exact is not None:
            x, y = (np.asarray(rows)[chosen] for rows in data)
            regression = x @ exact.regression()
            known = Vy[max(int(np.searchsorted(seen, samples[chosen][0], side="right")) - 1, 0)]
            theory = {"plateau": (y - regression) @ known, "inhibition": regression @ known}
            if recorded["plateau"].ndim == 3:  # theory knows no time within a sample
                ticks = recorded["plateau"].shape[1]
                theory = {name: one[:, None].repeat(ticks, axis=1) for name, one in theory.items()}
        stages[title] = Stage(
            samples[chosen], {name: trace[chosen] for name, trace in recorded.items()}, theory
        )
    return stages


def halfway(Vx: NDArray, Vy: NDArray) -> int | None:
    """Return the first snapshot from which on Vy Vx' stays within half of its first distance from
    its last value.

    None where it does not move or has diverged. ``Vx`` is (S, m, k), ``Vy`` (S, n, k); Vy Vx' is
    never formed.
    """

    def inner(one: tuple[NDArray, NDArray], other: tuple[NDArray, NDArray]) -> NDArray:
        grams = [A.swapaxes(-2, -1) @ B for A, B in zip(one, other, strict=True)]
        return (grams[0] * grams[1]).sum(axis=(-2, -1))

    course, end = (Vx, Vy), (Vx[-1:], Vy[-1:])
    with np.errstate(over="ignore", invalid="ignore"):  # of a circuit that has diverged
        distance = inner(course, course) + inner(end, end) - 2 * inner(course, end)
    far = np.flatnonzero(~(distance <= distance[0] / 4))
    if not np.isfinite(distance).all() or not len(far) or far[-1] + 1 >= len(distance):
        return None
    return int(far[-1]) + 1


def _stretches(samples: NDArray, shown: int, halfway: float | None) -> dict[str, slice]:
    """Return the places of the samples of each stage; ``halfway`` is None where it is not known."""
    gaps = np.diff(samples) > 1
    borders = np.flatnonzero(gaps & ~gaps.all()) + 1
    runs = np.split(np.arange(len(samples)), borders)
    length = min(shown, max(map(len, runs)))
    starts = [
        at
        for run in runs
        if len(run) >= length
        for at in np.unique([*run[: len(run) - length : length], run[-length]]).tolist()
    ]
    first, last = starts[0], starts[-1]
    if last < first + length:
        return {"end": slice(last, last + length)}
    chosen = {"start": first, "end": last}
    if halfway is not None:
        # How far from halfway each piece in between is, as a factor of samples, in its logarithm.
        off = {
            at: abs(np.log((samples[at] + shown) / (halfway + shown)))
            for at in starts
            if first + length <= at <= last - length
        }
        nearest = min(off, key=off.__getitem__, default=first)
        if off.get(nearest, np.inf) <= np.log(2):
            chosen = {"start": first, "halfway": nearest, "end": last}
    return {title: slice(at, at + length) for title, at in chosen.items()}

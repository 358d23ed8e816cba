"""Time per sample as the slope between two run lengths, so that start-up is not counted."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping

import numpy as np

_TRIES = 10  # of a slope, where something else has disturbed it so much that it is not positive


def wall_seconds(run: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def undisturbed_seconds(run: Callable[[], object]) -> float:
    """Time one call would take on a machine that does nothing else.

    That is its wall time there, and here no more than the time that processors have spent on it,
    programs it has run included: while other work holds a processor, only the wall clock goes on.
    """
    before = _processor_seconds()
    wall = wall_seconds(run)
    return min(wall, _processor_seconds() - before)


def _processor_seconds() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def suitable_length(run: Callable[[int], object], seconds: float, shortest: int = 200) -> int:
    """Return how many samples take about ``seconds``, found by trials of ``run(samples)``."""
    samples = shortest
    for _ in range(3):
        run(samples)  # some compile for each length
        pace = samples / undisturbed_seconds(lambda: run(samples))  # noqa: B023
        samples = max(shortest, min(int(seconds * pace), 32 * samples))
    return samples


def slopes(
    runs: Mapping[str, Callable[[int], object]], seconds: float, repeats: int
) -> dict[str, np.ndarray]:
    """Seconds per sample of each of ``runs``, taking turns so that all meet the machine in the same
    moods.

    Returns
    -------
    slopes
        Arrays of shape (repeats,).
    """
    lengths = {name: suitable_length(run, seconds) for name, run in runs.items()}
    found: dict[str, list[float]] = {name: [] for name in runs}
    for name, run in runs.items():
        run(lengths[name] // 4)
        run(lengths[name])
    for _ in range(repeats):
        for name, run in runs.items():
            found[name].append(_slope(run, lengths[name] // 4, lengths[name]))
    return {name: np.array(values) for name, values in found.items()}


def _slope(run: Callable[[int], object], short: int, long: int) -> float:
    for _ in range(_TRIES):
        took = undisturbed_seconds(lambda: run(short)), undisturbed_seconds(lambda: run(long))
        if took[1] > took[0]:
            return (took[1] - took[0]) / (long - short)
    raise RuntimeError(
        f"{long} samples took no longer than {short}, {_TRIES} times:"
        " too much other work on this machine; try again later"
    )

"""Races of the circuit against the same equations written in other ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.sims.bench.contestants import CONTESTANTS, prepare
from biorrr.sims.bench.contestants.task import HeldTask, MillivoltTask, SettledTask, Task
from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import ratio, slopes

HELD_SIZES = ("64x10x2", "100x120x4", "784x10x10")  # inputs x instructions x outputs
_TIMES_C = 2.0  # at most, over a plain loop in C
_LABELS = CONTESTANTS | {
    "leaky_c_loop": "C",
    "settled_c_loop": "C",
    "millivolt_c_loop": "C",
    "stock_brian2": "stock Brian2",
}


def samples_of_one_tick(
    size: str, seconds: float, repeats: int
) -> tuple[dict[str, Any], list[Goal]]:
    """Race the circuit of the paper at one size, m x n x k, against every other contestant."""
    return _race(size, Task(*_sizes(size)), tuple(CONTESTANTS), "", seconds, repeats)


def held_samples(
    size: str, spiking: bool, seconds: float, repeats: int, ticks: int = 200
) -> tuple[dict[str, Any], list[Goal]]:
    """Race circuit and C at one size: inputs stand still while a sample is held, or spike in every
    tick.
    """
    inputs = "inputs that spike" if spiking else "held inputs"
    task = HeldTask(*_sizes(size), ticks=ticks, spiking=spiking)
    title = f", {ticks} ticks of {inputs}"
    results, goals = _race(
        size, task, ("leaky_c_loop", "circuit"), title, seconds, repeats, samples=5
    )
    return {**results, "ticks": ticks, "inputs": inputs}, goals


def settling(seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Race circuit and C in one area with apical feedback, whose samples settle."""
    task = SettledTask(64, 10, 4)
    results, goals = _race(
        "64x10x4", task, ("settled_c_loop", "circuit"), " settling", seconds, repeats
    )
    return {**results, "ticks": task.ticks}, goals


def millivolts(size: str, seconds: float, repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Race circuit, C and stock Brian2 in millivolts; only the first two draw the same random
    numbers.
    """
    task = MillivoltTask(*_sizes(size))
    names = ("millivolt_c_loop", "circuit", "stock_brian2")
    results, goals = _race(size, task, names, " in millivolts", seconds, repeats)
    cells = task.cells
    return {
        **results,
        "ticks": cells.held,
        "cells": task.k * cells.population,
        "interneurons": task.k * cells.interneuron_population,
    }, goals


def _sizes(size: str) -> tuple[int, ...]:
    return tuple(map(int, size.split("x")))


def _race(
    size: str,
    task: Task,
    names: tuple[str, ...],
    title: str,
    seconds: float,
    repeats: int,
    samples: int = 50,
) -> tuple[dict[str, Any], list[Goal]]:
    """Return microseconds per sample of each contestant, and the goals of the circuit.

    Weights after ``samples`` are compared with those of the first contestant. In millivolts a spike
    is a threshold: after very many samples a rounding may flip one, and everything that follows
    differs.
    """
    learners = prepare(task, names)
    weights = {name: learn(samples) for name, learn in learners.items() if name != "stock_brian2"}
    expected = weights[names[0]]
    found = slopes(learners, seconds, repeats)
    return {
        "size": size,
        "microseconds": {name: float(1e6 * np.median(values)) for name, values in found.items()},
        "repeats": {name: (1e6 * values).tolist() for name, values in found.items()},
        "largest_difference_of_weights": max(
            float(np.abs(learned[matrix] - values).max())
            for learned in weights.values()
            for matrix, values in expected.items()
        ),
    }, [
        Goal(
            f"{size}{title}: circuit over {_LABELS[other]}",
            ratio(found, "circuit", other) if other in found else None,
            _TIMES_C if _LABELS[other] == "C" else 1.0,
            "" if other in found else "not installed here: pip install biorrr[bench]",
        )
        for other in names
        if other != "circuit"
    ]

"""Circuits that learn to predict one area from another, and the controls; each finds a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from biorrr.analysis.communication import (
    lagged,
    matched_units,
    removed_dimensions,
    shared_dimensionality,
    shuffled_trials,
)
from biorrr.sims.experiments.communication.areas import Areas
from biorrr.sims.lab import Task

MOST_REMOVED = 10  # predictive dimensions


@dataclass(frozen=True)
class Circuit:
    """A circuit that learns all folds but one."""

    fold: int
    rank: int
    seed: int


def learn_fold(task: Task, item: Circuit, areas: Areas) -> xr.Dataset:
    """Return the squared error of a circuit's prediction of the held-out trials."""
    x_train, y_train, x_test, y_test = areas.fold(item.fold)
    settings = task.settings
    circuit = settings.make_circuit(k=item.rank, s=settings.s, ridge=settings.ridge, seed=item.seed)
    run = task.run(
        circuit, x_train, y_train, epochs=settings.epochs, centre=True, record=(), snapshots=1
    )
    error = np.square(y_test - run.predict(x_test)).sum()
    return xr.Dataset(
        {"error": error}, attrs={name: run.data.attrs[name] for name in ("engine", "seconds")}
    )


def controls_of(areas: Areas) -> list[str]:
    """Return the names of the controls that data and settings allow."""
    allowed = {"shuffle": areas.settings.shuffles, "lag": most_lags(areas)}
    return [name for name in CONTROLS if allowed.get(name, 1)]


def control(task: Task, name: str, areas: Areas) -> xr.Dataset:
    """Return what one of the controls finds."""
    return CONTROLS[name](areas)


def shuffle(areas: Areas) -> xr.Dataset:
    """Return R2 at the chosen rank under the null hypothesis, (shuffle,).

    The target's trials are shuffled, within conditions where these have means.
    """
    found = []
    for number in range(areas.settings.shuffles):
        rng = np.random.default_rng([areas.settings.seed, number])
        shuffled = areas.moments_of(
            target=shuffled_trials(areas.data.trials, rng, areas.conditions)
        )
        found.append(
            areas.predict(shuffled, areas.source, areas.target).r2[areas.prediction.rank - 1]
        )
    return xr.Dataset({"null_r2": ("shuffle", found)})


def most_lags(areas: Areas) -> int:
    """Return the number of bins by which the target is shifted either way."""
    return min(areas.settings.lags, (areas.bins - 1) // 2)


def lag(areas: Areas) -> xr.Dataset:
    """Return R2 at the chosen rank and its standard error, (lag,), with lags of the target in
    seconds.
    """
    bins, most = areas.bins, most_lags(areas)
    lags, rows = np.arange(-most, most + 1), np.arange(len(areas.data.trials)).reshape(-1, bins)
    found = []
    for one in lags:
        here, there = (rows[:, some].ravel() for some in lagged(bins, int(one), most))
        prediction = areas.predict(areas.moments_of(here, there), areas.source, areas.target)
        found.append((prediction.r2, prediction.r2_sem))
    r2, sem = np.array(found)[:, :, areas.prediction.rank - 1].T
    seconds = lags * areas.settings.bin + areas.settings.lag
    return xr.Dataset({"lag_r2": ("lag", r2), "lag_r2_sem": ("lag", sem)}, coords={"lag": seconds})


def dimensions(areas: Areas) -> xr.Dataset:
    """Return the dimensions that source and target share within themselves."""
    sides = {"source": areas.source, "target": areas.target}
    shared = {
        side: shared_dimensionality(areas.moments, channels) for side, channels in sides.items()
    }
    return xr.Dataset({f"{side}_dimensionality": found for side, found in shared.items()})


def removal(areas: Areas) -> xr.Dataset:
    """Return R2 of the full regression without the source's predictive dimensions, with standard
    errors, (removed,).
    """
    most, settings = min(MOST_REMOVED, len(areas.source) - 1, len(areas.target)), areas.settings
    found = removed_dimensions(
        areas.moments, areas.source, areas.target, most, s=settings.s, ridge=settings.ridge or 0.0
    )
    return xr.Dataset(
        {"removed_r2": ("removed", found.r2), "removed_r2_sem": ("removed", found.r2_sem)}
    )


CONTROLS = {"dimensions": dimensions, "removal": removal, "shuffle": shuffle, "lag": lag}


def draw(task: Task, number: int, areas: Areas) -> xr.Dataset:
    """Let part of the source predict matched units of its own area, and units of the target.

    Returns ranks, R2 (draw_k,) and rates, within and across.
    """
    of_source, of_target = areas.data.x_rates, areas.data.y_rates
    rated = of_source is not None and of_target is not None
    if of_source is None or of_target is None:
        of_source, of_target = np.ones(len(areas.source)), np.ones(len(areas.target))
    rng = np.random.default_rng([task.settings.seed, 1, number])
    units = matched_units(of_source, of_target, rng, matched=rated)
    targets = {"within": units.within, "across": len(areas.source) + units.across}
    every_rate = np.concatenate([of_source, of_target])
    found: dict[str, Any] = {
        "draw_units": len(units.within),
        "within_dimensionality": shared_dimensionality(areas.moments, units.within),
    }
    for name, target in targets.items():
        prediction = areas.predict(areas.moments, units.source, target)
        found |= {
            f"{name}_rank": prediction.rank,
            f"{name}_r2_at_rank": prediction.r2[prediction.rank - 1],
            f"{name}_r2": ("draw_k", prediction.r2),
            f"{name}_rate": every_rate[target].mean() if rated else np.nan,
        }
    return xr.Dataset(found)

"""Questions about two areas: circuits that learn to predict, and the controls; each answer is a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from biorrr.sims.lab import Job

if TYPE_CHECKING:
    from biorrr.sims.experiments.communication import CommunicationSettings

MOST_REMOVED = 10  # predictive dimensions


def questions(areas: Areas, settings: CommunicationSettings) -> list[Any]:
    """Return a circuit for each fold, rank and seed, and the controls that the data allow."""
    folds, ranks, seeds = range(settings.folds), settings.ranks, settings.every_seed
    asked: list[Any] = [Dimensions(), Removal()]
    if settings.simulation:
        asked += [Circuit(fold, rank, seed) for fold in folds for rank in ranks for seed in seeds]
    if settings.shuffles:
        asked.append(Shuffles(settings.shuffles))
    if most := min(settings.lags, (areas.bins - 1) // 2):
        asked.append(Lags(most))
    if len(areas.source) >= 4:
        asked += [Draw(number) for number in range(settings.draws)]
    return asked


def answer(job: Job, question: Any, areas: Areas) -> xr.Dataset:
    """Return the answer to one of the questions below."""
    return question.answer(job, areas)


@dataclass(frozen=True)
class Circuit:
    """A circuit that learns all folds but one."""

    fold: int
    rank: int
    seed: int

    def answer(self, job: Job, areas: Areas) -> xr.Dataset:
        """Return the squared error of its prediction of the held-out trials."""
        x_train, y_train, x_test, y_test = areas.fold(self.fold)
        settings = job.settings
        circuit = settings.make_circuit(k=self.rank, s=settings.s, ridge=settings.ridge, seed=self.seed)
        run = job.run(circuit, x_train, y_train, epochs=settings.epochs, centre=True, record=(), snapshots=1)
        error = np.square(y_test - run.predict(x_test)).sum()
        return xr.Dataset({"error": error}, attrs={name: run.data.attrs[name] for name in ("engine", "seconds")})


@dataclass(frozen=True)
class Shuffles:
    """Null hypothesis: the target's trials are shuffled, within conditions where these have means."""

    count: int

    def answer(self, job: Job, areas: Areas) -> xr.Dataset:
        """Return R2 at the chosen rank, (shuffle,)."""
        found = []
        for number in range(self.count):
            rng = np.random.default_rng([job.settings.seed, number])
            shuffled = areas.moments_of(target=shuffled_trials(areas.trials, rng, areas.conditions))
            found.append(areas.predict(shuffled, areas.source, areas.target).r2[areas.prediction.rank - 1])
        return xr.Dataset({"null_r2": ("shuffle", found)})


@dataclass(frozen=True)
class Lags:
    """Prediction with the target later by -most to most bins."""

    most: int

    def answer(self, job: Job, areas: Areas) -> xr.Dataset:
        """Return R2 at the chosen rank and its standard error, (lag,), with lags in seconds."""
        bins, lags = areas.bins, np.arange(-self.most, self.most + 1)
        rows = np.arange(len(areas.trials)).reshape(-1, bins)
        found = []
        for lag in lags:
            here, there = (rows[:, some].ravel() for some in lagged(bins, int(lag), self.most))
            prediction = areas.predict(areas.moments_of(here, there), areas.source, areas.target)
            found.append((prediction.r2, prediction.r2_sem))
        r2, sem = np.array(found)[:, :, areas.prediction.rank - 1].T
        seconds = lags * job.settings.bin + job.settings.lag
        return xr.Dataset({"lag_r2": ("lag", r2), "lag_r2_sem": ("lag", sem)}, coords={"lag": seconds})


@dataclass(frozen=True)
class Dimensions:
    """Dimensions that each area shares within itself."""

    def answer(self, job: Job, areas: Areas) -> xr.Dataset:
        """Return the shared dimensions of source and target."""
        sides = {"source": areas.source, "target": areas.target}
        shared = {side: shared_dimensionality(areas.moments, channels).shared for side, channels in sides.items()}
        return xr.Dataset({f"{side}_dimensionality": found for side, found in shared.items()})


@dataclass(frozen=True)
class Removal:
    """Prediction without the source's activity along its predictive dimensions."""

    def answer(self, job: Job, areas: Areas) -> xr.Dataset:
        """Return R2 of the full regression and its standard error, (removed,)."""
        most, settings = min(MOST_REMOVED, len(areas.source) - 1, len(areas.target)), areas.settings
        found = removed_dimensions(
            areas.moments, areas.source, areas.target, most, s=settings.s, ridge=settings.ridge or 0.0
        )
        return xr.Dataset({"removed_r2": ("removed", found.r2), "removed_r2_sem": ("removed", found.r2_sem)})


@dataclass(frozen=True)
class Draw:
    """One within-area control: part of the source predicts matched units of its own area, and units of the target."""

    number: int

    def answer(self, job: Job, areas: Areas) -> xr.Dataset:
        """Return ranks, R2 (draw_k,) and rates, within and across."""
        of_source, of_target = areas.data.x_rates, areas.data.y_rates
        rated = of_source is not None and of_target is not None
        if of_source is None or of_target is None:
            of_source, of_target = np.ones(len(areas.source)), np.ones(len(areas.target))
        rng = np.random.default_rng([job.settings.seed, 1, self.number])
        units = matched_units(of_source, of_target, rng, matched=rated)
        targets = {"within": units.within, "across": len(areas.source) + units.across}
        every_rate = np.concatenate([of_source, of_target])
        found: dict[str, Any] = {
            "draw_units": len(units.within),
            "within_dimensionality": shared_dimensionality(areas.moments, units.within).shared,
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

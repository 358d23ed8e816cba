"""Questions about two areas: circuits that learn to predict, and the controls; each answer is arrays by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr import analysis
from biorrr.analysis import communication as areas_analysis
from biorrr.analysis.communication import FoldMoments, Prediction
from biorrr.sims.data import Dataset
from biorrr.sims.experiments.communication.areas import Areas, conditions_of
from biorrr.sims.lab import Job

if TYPE_CHECKING:
    from biorrr.sims.experiments.communication import CommunicationSettings

MOST_REMOVED = 10  # predictive dimensions
DENDRITE_SAMPLES = 20_000  # of which plateaus are kept


@dataclass(frozen=True)
class Pair:
    """Two areas, their moments, and the exact prediction."""

    data: Dataset
    areas: Areas
    moments: FoldMoments
    prediction: Prediction

    @classmethod
    def of(cls, data: Dataset, settings: CommunicationSettings) -> Pair:
        """Split trials into folds, sum moments, and predict exactly."""
        assert settings.ridge is not None
        areas = Areas.split(data, settings.folds, settings.residual, settings.seed, settings.s, settings.ridge)
        moments = areas.moments()
        return cls(data, areas, moments, areas.predict(moments, areas.source, areas.target))


# -- questions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Circuit:
    """A circuit that learns all folds but one."""

    fold: int
    rank: int
    seed: int

    def answer(self, job: Job, pair: Pair) -> dict[str, Any]:
        """Return the squared error of its prediction of the trials that it has not seen."""
        x_train, y_train, x_test, y_test = pair.areas.fold(self.fold)
        run = learned(job, x_train, y_train, self.rank, self.seed)
        error = np.square(y_test - run.predict(x_test)).sum()
        return {"error": error, "engine": run.data.attrs["engine"], "seconds": run.data.attrs["seconds"]}


@dataclass(frozen=True)
class Dendrites:
    """Apical dendrites of a circuit of the chosen rank that has learned all trials."""

    def answer(self, job: Job, pair: Pair) -> dict[str, Any]:
        """Return distal current, inhibition and plateau, (samples, neurons)."""
        settings = job.settings
        X, Y = pair.areas.whole()
        run = learned(job, X, Y, pair.prediction.rank, settings.seed)
        audit = analysis.audit_plateau(X, Y, run.Vx, run.Vy, run.Q, run.R, settings.ridge)
        first = slice(DENDRITE_SAMPLES)
        a = Y @ run.Vy
        return {
            "distal": a[first],
            "inhibition": audit.inhibition[first],
            "plateau": audit.plateau[first],
            # Beyond ten digits, sums depend on where in memory their terms lie.
            "share": np.round(np.var(audit.plateau) / np.var(a), 10),
            "correlation": np.round(np.min(audit.plateau_and_error.correlation), 10),
        }


@dataclass(frozen=True)
class Shuffles:
    """Prediction with the target's trials shuffled, within conditions where these have means."""

    count: int

    def answer(self, job: Job, pair: Pair) -> dict[str, Any]:
        """Return R2 at every rank, (count, ranks)."""
        areas, curves = pair.areas, []
        conditions = None if areas.strata is None else conditions_of(areas.strata, areas.trials)
        for number in range(self.count):
            rng = np.random.default_rng([job.settings.seed, number])
            order = areas_analysis.shuffled_trials(areas.trials, rng, conditions)
            rows = np.arange(len(order)), order
            shuffled = FoldMoments.of(pair.data.X, pair.data.Y, areas.folds, areas.strata, rows=rows)
            curves.append(areas.predict(shuffled, areas.source, areas.target).r2)
        return {"r2": np.array(curves)}


@dataclass(frozen=True)
class Lags:
    """Prediction with the target later by -most to most bins."""

    most: int

    def answer(self, job: Job, pair: Pair) -> dict[str, Any]:
        """Return R2 at the chosen rank and its standard error, (2 * most + 1,)."""
        areas, rank = pair.areas, pair.prediction.rank
        assert areas.bins is not None
        rows = np.arange(len(areas.data.X)).reshape(-1, areas.bins)
        found = []
        for lag in range(-self.most, self.most + 1):
            here, there = (rows[:, bins].ravel() for bins in areas_analysis.lagged(areas.bins, lag, self.most))
            strata = None if areas.strata is None else np.unique(areas.strata[here], return_inverse=True)[1]
            moments = FoldMoments.of(areas.data.X, areas.data.Y, areas.folds[here], strata, rows=(here, there))
            prediction = areas.predict(moments, areas.source, areas.target)
            found.append((prediction.r2[rank - 1], prediction.r2_sem[rank - 1]))
        r2, sem = np.array(found).T
        return {"r2": r2, "sem": sem}


@dataclass(frozen=True)
class Dimensions:
    """Dimensions that each area shares within itself."""

    def answer(self, job: Job, pair: Pair) -> dict[str, Any]:
        """Return shared dimensions of source and target, and the numbers of factors they are found with."""
        areas = pair.areas
        source, target = (
            areas_analysis.shared_dimensionality(pair.moments, side) for side in (areas.source, areas.target)
        )
        return {
            "source": source.shared, "source_factors": source.factors, "target": target.shared,
            "target_factors": target.factors,
        }  # fmt: skip


@dataclass(frozen=True)
class Removal:
    """Prediction without the source's activity along its predictive dimensions."""

    def answer(self, job: Job, pair: Pair) -> dict[str, Any]:
        """Return R2 of the full regression, (removed + 1,)."""
        areas = pair.areas
        return {"r2": without(pair, areas.source, areas.target, areas.target)}


@dataclass(frozen=True)
class Draw:
    """One within-area control: part of the source predicts matched units of its own area, and units of the target."""

    number: int

    def answer(self, job: Job, pair: Pair) -> dict[str, Any]:
        """Return rates, ranks, R2 at every rank, and R2 without predictive dimensions, within and across areas."""
        areas, data, moments = pair.areas, pair.data, pair.moments
        rated = data.x_rates is not None and data.y_rates is not None
        x_rates = data.x_rates if data.x_rates is not None and rated else np.ones(areas.m)
        y_rates = data.y_rates if data.y_rates is not None and rated else np.ones(data.Y.shape[1])
        rng = np.random.default_rng([job.settings.seed, 1, self.number])
        units = areas_analysis.matched_units(x_rates, y_rates, rng, matched=rated)
        targets = {"within": units.within, "across": areas.m + units.across}
        found: dict[str, Any] = {
            "within_rate": x_rates[units.within].mean() if rated else np.nan,
            "across_rate": y_rates[units.across].mean() if rated else np.nan,
            "within_dimensions": areas_analysis.shared_dimensionality(moments, units.within).shared,
            "units": len(units.within),
        }
        for name, target in targets.items():
            prediction = areas.predict(moments, units.source, target)
            found |= {f"{name}_r2": prediction.r2, f"{name}_rank": prediction.rank}
        for removed, of_removed in targets.items():
            for predicted, of_predicted in targets.items():
                found[f"{predicted}_without_{removed}"] = without(pair, units.source, of_removed, of_predicted)
        return found


def questions(pair: Pair, settings: CommunicationSettings) -> list[Any]:
    """Return a circuit for each fold, rank and seed, one for the dendrites, and the controls that the data allow."""
    asked: list[Any] = []
    if settings.simulation:
        asked += [
            Circuit(fold, rank, seed)
            for fold in range(settings.folds)
            for rank in settings.ranks
            for seed in settings.every_seed
        ]
        asked.append(Dendrites())
    asked += [Dimensions(), Removal()]
    if settings.shuffles:
        asked.append(Shuffles(settings.shuffles))
    most = min(settings.lags, 0 if pair.areas.bins is None else (pair.areas.bins - 1) // 2)
    if most:
        asked.append(Lags(most))
    if len(settings.every_data) == 1 and pair.areas.m >= 4:  # the published recording has its own control
        asked += [Draw(number) for number in range(settings.draws)]
    return asked


def answer(job: Job, question: Any, pair: Pair) -> dict[str, Any]:
    """Return the answer to one of the questions above."""
    return question.answer(job, pair)


def learned(job: Job, X: np.ndarray, Y: np.ndarray, rank: int, seed: int) -> Any:
    """Return the run of a circuit that has learned to predict Y from X."""
    settings = job.settings
    circuit = settings.make_circuit(k=rank, s=settings.s, ridge=settings.ridge, seed=seed)
    return job.run(circuit, X, Y, epochs=settings.epochs, centre=True, record=(), snapshots=1)


def without(pair: Pair, source: np.ndarray, removed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return R2 of the full regression, (removed + 1,), without the source's dimensions that predict ``removed``."""
    most = min(MOST_REMOVED, len(source) - 1, len(removed))
    s, ridge = pair.areas.s, pair.areas.ridge
    return areas_analysis.removed_dimensions(pair.moments, source, removed, predicted, most, s=s, ridge=ridge).r2

"""What is asked of two areas recorded together: exact prediction, its controls, and the areas' own dimensions.

Each function answers one question about an :class:`Areas` and returns arrays by name, which the frame can keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biorrr.analysis import communication as areas_analysis
from biorrr.analysis.communication import FoldMoments, Prediction, predict_held_out
from biorrr.analysis.rank import residuals
from biorrr.sims.data import Dataset

MOST_REMOVED = 10  # predictive dimensions


@dataclass(frozen=True)
class Areas:
    """Two areas, split into folds of whole trials.

    Parameters
    ----------
    data
        X of the source, Y of the target.
    folds
        (T,) in which fold each sample is held out.
    strata
        (T,) samples that have a mean of their own, which is subtracted; None for a single mean.
    trials
        (T,) which trial each sample belongs to.
    bins
        In each trial; None where trials differ.
    s, ridge
        Of the regression.
    """

    data: Dataset
    folds: np.ndarray
    strata: np.ndarray | None
    trials: np.ndarray
    bins: int | None
    s: float
    ridge: float

    @classmethod
    def split(cls, data: Dataset, folds: int, residual: str, seed: int, s: float, ridge: float) -> Areas:
        """Split trials into folds, evenly over conditions where means of conditions are subtracted."""
        trials = np.arange(len(data.X)) if data.groups is None else data.groups
        lengths = np.unique(trials, return_counts=True)[1]
        even = (lengths == lengths[0]).all() and np.array_equal(trials, np.repeat(trials[:: lengths[0]], lengths[0]))
        bins = int(lengths[0]) if even else None
        strata = data.strata if residual == "condition" else None
        conditions = None if strata is None else _conditions(strata, trials)
        held_out = areas_analysis.trial_folds(trials, folds, conditions=conditions, random_state=seed)
        return cls(data, held_out, strata, trials, bins, s, ridge)

    @property
    def m(self) -> int:
        """Units in the source."""
        return self.data.X.shape[1]

    @property
    def source(self) -> np.ndarray:
        """Channels of the source."""
        return np.arange(self.m)

    @property
    def target(self) -> np.ndarray:
        """Channels of the target."""
        return np.arange(self.m, self.m + self.data.Y.shape[1])

    def moments(self) -> FoldMoments:
        """Sum all samples."""
        return FoldMoments.of(self.data.X, self.data.Y, self.folds, self.strata)

    def predict(self, moments: FoldMoments, source: np.ndarray, target: np.ndarray) -> Prediction:
        """Held-out prediction of some units from others, numbered through both areas."""
        return predict_held_out(moments, source, target, s=self.s, ridge=self.ridge)

    def fold(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Training X and Y, test X and Y of a fold, around means of the training trials where there are strata."""
        train, test = np.flatnonzero(self.folds != number), np.flatnonzero(self.folds == number)
        X, Y = self.data.X, self.data.Y
        if self.strata is None:
            return X[train], Y[train], X[test], Y[test]
        (x_train, x_test), (y_train, y_test) = (residuals(view, self.strata, train, test) for view in (X, Y))
        return x_train, y_train, x_test, y_test

    def whole(self) -> tuple[np.ndarray, np.ndarray]:
        """X and Y of all trials, centred, each stratum around its own mean."""
        # In C's order: the same numbers, the same sums, whatever file they are from.
        X, Y = (
            residuals(np.ascontiguousarray(view), self.strata, slice(None))[0] for view in (self.data.X, self.data.Y)
        )
        return X, Y


def _conditions(strata: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Condition of each sample's trial, (T,): trials of one condition begin in the same stratum."""
    first, place = np.unique(trials, return_index=True, return_inverse=True)[1:]
    return strata[first][place]


def shuffles(areas: Areas, count: int, seed: int) -> dict[str, Any]:
    """R2 at every rank, (count, ranks), with the target's trials shuffled, within conditions where these have means."""
    conditions = None if areas.strata is None else _conditions(areas.strata, areas.trials)
    curves, data = [], areas.data
    for number in range(count):
        order = areas_analysis.shuffled_trials(areas.trials, np.random.default_rng([seed, number]), conditions)
        shuffled = FoldMoments.of(data.X, data.Y, areas.folds, areas.strata, rows=(np.arange(len(order)), order))
        curves.append(areas.predict(shuffled, areas.source, areas.target).r2)
    return {"r2": np.array(curves)}


def lags(areas: Areas, most: int, rank: int) -> dict[str, Any]:
    """R2 at ``rank`` and its standard error, (2 * most + 1,), with the target later by -most to most bins."""
    assert areas.bins is not None
    rows = np.arange(len(areas.data.X)).reshape(-1, areas.bins)
    found = []
    for lag in range(-most, most + 1):
        here, there = (rows[:, bins].ravel() for bins in areas_analysis.lagged(areas.bins, lag, most))
        strata = None if areas.strata is None else np.unique(areas.strata[here], return_inverse=True)[1]
        moments = FoldMoments.of(areas.data.X, areas.data.Y, areas.folds[here], strata, rows=(here, there))
        prediction = areas.predict(moments, areas.source, areas.target)
        found.append((prediction.r2[rank - 1], prediction.r2_sem[rank - 1]))
    r2, sem = np.array(found).T
    return {"r2": r2, "sem": sem}


def dimensions(areas: Areas, moments: FoldMoments) -> dict[str, Any]:
    """Shared dimensions of source and target, and the numbers of factors they are found with."""
    source, target = (areas_analysis.shared_dimensionality(moments, side) for side in (areas.source, areas.target))
    return {
        "source": source.shared, "source_factors": source.factors, "target": target.shared,
        "target_factors": target.factors,
    }  # fmt: skip


def removal(areas: Areas, moments: FoldMoments) -> dict[str, Any]:
    """R2 of the full regression, (removed + 1,), without the source's activity along its predictive dimensions."""
    return {"r2": _without(areas, moments, areas.source, areas.target, areas.target)}


def draw(areas: Areas, moments: FoldMoments, number: int, seed: int) -> dict[str, Any]:
    """One within-area control: part of the source predicts matched units of its own area, and units of the target."""
    data = areas.data
    rated = data.x_rates is not None and data.y_rates is not None
    x_rates = data.x_rates if data.x_rates is not None and rated else np.ones(areas.m)
    y_rates = data.y_rates if data.y_rates is not None and rated else np.ones(data.Y.shape[1])
    rng = np.random.default_rng([seed, 1, number])
    units = areas_analysis.matched_units(x_rates, y_rates, rng, matched=rated)
    across = areas.m + units.across
    predictions = {
        "within": areas.predict(moments, units.source, units.within),
        "across": areas.predict(moments, units.source, across),
    }
    found: dict[str, Any] = {
        "within_rate": x_rates[units.within].mean() if rated else np.nan,
        "across_rate": y_rates[units.across].mean() if rated else np.nan,
        "within_dimensions": areas_analysis.shared_dimensionality(moments, units.within).shared,
        "units": len(units.within),
    }
    for name, prediction in predictions.items():
        found |= {f"{name}_r2": prediction.r2, f"{name}_rank": prediction.rank}
    targets = {"within": units.within, "across": across}
    for removed, of_removed in targets.items():
        for predicted, of_predicted in targets.items():
            found[f"{predicted}_without_{removed}"] = _without(areas, moments, units.source, of_removed, of_predicted)
    return found


def _without(
    areas: Areas, moments: FoldMoments, source: np.ndarray, removed: np.ndarray, predicted: np.ndarray
) -> np.ndarray:
    most = min(MOST_REMOVED, len(source) - 1, len(removed))
    return areas_analysis.removed_dimensions(moments, source, removed, predicted, most, s=areas.s, ridge=areas.ridge).r2

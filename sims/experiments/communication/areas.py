"""Two areas recorded together, split into folds of whole trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biorrr.analysis import communication as areas_analysis
from biorrr.analysis.communication import FoldMoments, Prediction, predict_held_out
from biorrr.analysis.regression.rank import residuals
from biorrr.sims.data import Dataset


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
        conditions = None if strata is None else conditions_of(strata, trials)
        held_out = areas_analysis.trial_folds(trials, folds, conditions=conditions, random_state=seed)
        return cls(data, held_out, strata, trials, bins, s, ridge)

    @property
    def m(self) -> int:
        """Number of units in the source."""
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
        """Return the held-out prediction of some units from others, numbered through both areas."""
        return predict_held_out(moments, source, target, s=self.s, ridge=self.ridge)

    def fold(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return training X and Y, test X and Y of a fold; with strata, around the means of the training trials."""
        train, test = np.flatnonzero(self.folds != number), np.flatnonzero(self.folds == number)
        X, Y = self.data.X, self.data.Y
        if self.strata is None:
            return X[train], Y[train], X[test], Y[test]
        (x_train, x_test), (y_train, y_test) = (residuals(view, self.strata, train, test) for view in (X, Y))
        return x_train, y_train, x_test, y_test

    def whole(self) -> tuple[np.ndarray, np.ndarray]:
        """Return X and Y of all trials, centred, each stratum around its own mean."""
        # In C's order: the same numbers, the same sums, whatever file they are from.
        X, Y = (
            residuals(np.ascontiguousarray(view), self.strata, slice(None))[0] for view in (self.data.X, self.data.Y)
        )
        return X, Y


def conditions_of(strata: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """Return the condition of each sample's trial, (T,): trials of one condition begin in the same stratum."""
    first, place = np.unique(trials, return_index=True, return_inverse=True)[1:]
    return strata[first][place]

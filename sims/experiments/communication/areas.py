"""Two areas recorded together, split into folds of whole trials, and the exact prediction of one
from the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from biorrr.analysis.communication import FoldMoments, Prediction, predict_held_out, trial_folds
from biorrr.analysis.regression.rank import residuals
from biorrr.sims.data import Dataset

if TYPE_CHECKING:
    from biorrr.sims.experiments.communication import CommunicationSettings


@dataclass(frozen=True)
class Areas:
    """Two areas, split into folds of whole trials.

    Parameters
    ----------
    data
        X of the source, Y of the target.
    settings
        Settings of the experiment.
    """

    data: Dataset
    settings: CommunicationSettings

    @property
    def strata(self) -> np.ndarray | None:
        """Condition and time bin of each sample, (T,), whose mean is subtracted; None for a single
        mean.
        """
        return self.data.strata if self.settings.residual == "condition" else None

    @property
    def conditions(self) -> np.ndarray | None:
        """Condition of each sample's trial, (T,): trials of one condition begin in the same
        stratum.
        """
        if self.strata is None:
            return None
        first, place = np.unique(self.data.trials, return_index=True, return_inverse=True)[1:]
        return self.strata[first][place]

    @cached_property
    def folds(self) -> np.ndarray:
        """Fold in which each sample is held out, (T,); conditions are spread evenly over the
        folds.
        """
        return trial_folds(
            self.data.trials,
            self.settings.folds,
            conditions=self.conditions,
            random_state=self.settings.seed,
        )

    @property
    def bins(self) -> int:
        """Time bins in each trial; 1 where trials differ in length or are mixed."""
        lengths = np.unique(self.data.trials, return_counts=True)[1]
        rows = (
            self.data.trials.reshape(-1, lengths[0])
            if (lengths == lengths[0]).all()
            else self.data.trials[:, None]
        )
        return rows.shape[1] if (rows == rows[:, :1]).all() else 1

    @property
    def source(self) -> np.ndarray:
        """Channels of the source."""
        return np.arange(self.data.X.shape[1])

    @property
    def target(self) -> np.ndarray:
        """Channels of the target, numbered on from those of the source."""
        return len(self.source) + np.arange(self.data.Y.shape[1])

    @cached_property
    def moments(self) -> FoldMoments:
        """Second moments of all channels."""
        return self.moments_of()

    def moments_of(
        self, source: np.ndarray | None = None, target: np.ndarray | None = None
    ) -> FoldMoments:
        """Return the moments with these rows of the source beside these rows of the target; all in
        order by default.
        """
        source, target = (
            np.arange(len(self.data.trials)) if rows is None else rows for rows in (source, target)
        )
        strata = (
            None if self.strata is None else np.unique(self.strata[source], return_inverse=True)[1]
        )
        X, Y, zscore = self.data.X, self.data.Y, self.settings.zscore
        return FoldMoments.of(
            X, Y, self.folds[source], strata, rows=(source, target), zscore=zscore
        )

    @cached_property
    def prediction(self) -> Prediction:
        """Exact held-out prediction of the target."""
        return self.predict(self.moments, self.source, self.target)

    def predict(self, moments: FoldMoments, source: np.ndarray, target: np.ndarray) -> Prediction:
        """Return the exact held-out prediction of some channels from others."""
        return predict_held_out(
            moments, source, target, s=self.settings.s, ridge=self.settings.ridge or 0.0
        )

    def fold(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return training X and Y, test X and Y of a fold, around means of the training trials."""
        train, test = np.flatnonzero(self.folds != number), np.flatnonzero(self.folds == number)
        views = []
        for view in (self.data.X, self.data.Y):
            # In C's order: the same numbers, the same sums, whatever file they are from.
            trained, held_out = residuals(np.ascontiguousarray(view), self.strata, train, test)
            deviation = trained.std(axis=0) if self.settings.zscore else np.ones(view.shape[1])
            deviation[deviation == 0] = 1.0
            views.append((trained / deviation, held_out / deviation))
        (x_train, x_test), (y_train, y_test) = views
        return x_train, y_train, x_test, y_test

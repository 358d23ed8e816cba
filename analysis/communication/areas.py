"""Two areas recorded together, split into folds of whole trials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from biorrr.analysis.communication.controls import (
    equal_signals,
    lagged,
    matched_units,
    removed_dimensions,
    shared_dimensionality,
    shuffled_trials,
)
from biorrr.analysis.communication.moments import FoldMoments, predict_held_out, trial_folds
from biorrr.analysis.regression.rank import Prediction, residuals


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoAreas:
    """A source area and a target area, and how one is predicted from the other.

    Parameters
    ----------
    X, Y : (n_samples, m), (n_samples, n)
        Activity of the source and of the target.
    trials : (n_samples,)
        Trial of each sample.
    strata : (n_samples,)
        Condition and time bin of each sample, whose mean is subtracted; None for a single mean.
    rates : (m,), (n,)
        Mean rates of the units of each area, by which matched units are drawn; None where they
        mean nothing, and units are drawn at random.
    folds
        Number of parts of the trials, each held out once.
    zscore
        True to divide each unit by its standard deviation over the training trials.
    s, ridge
        As in :class:`~biorrr.analysis.ReducedRankRegression`.
    seed
        Seed of the folds and of the draws.
    """

    X: NDArray
    Y: NDArray
    trials: NDArray
    strata: NDArray | None = None
    rates: tuple[NDArray, NDArray] | None = None
    folds: int = 10
    zscore: bool = False
    s: float = 0.0
    ridge: float = 0.0
    seed: int = 0

    @property
    def conditions(self) -> NDArray | None:
        """Condition of each sample's trial, (n_samples,): trials of one condition begin in the same
        stratum.
        """
        if self.strata is None:
            return None
        first, place = np.unique(self.trials, return_index=True, return_inverse=True)[1:]
        return self.strata[first][place]

    @cached_property
    def fold_of(self) -> NDArray:
        """Fold in which each sample is held out, (n_samples,); conditions are spread evenly over
        the folds.
        """
        return trial_folds(
            self.trials, self.folds, conditions=self.conditions, random_state=self.seed
        )

    @property
    def bins(self) -> int:
        """Time bins in each trial; 1 where trials differ in length or are mixed."""
        lengths = np.unique(self.trials, return_counts=True)[1]
        same = (lengths == lengths[0]).all()
        rows = self.trials.reshape(-1, lengths[0]) if same else self.trials[:, None]
        return rows.shape[1] if (rows == rows[:, :1]).all() else 1

    @property
    def source(self) -> NDArray:
        """Channels of the source."""
        return np.arange(self.X.shape[1])

    @property
    def target(self) -> NDArray:
        """Channels of the target, numbered on from those of the source."""
        return len(self.source) + np.arange(self.Y.shape[1])

    @cached_property
    def moments(self) -> FoldMoments:
        """Second moments of all channels."""
        return self.moments_of()

    def moments_of(
        self,
        source: NDArray | None = None,
        target: NDArray | None = None,
        noise: int = 0,
        random_state: int | list[int] | None = None,
    ) -> FoldMoments:
        """Return the moments with these rows of the source beside these rows of the target; all in
        order by default. Channels of noise may follow.
        """
        every = np.arange(len(self.trials))
        source, target = (every if rows is None else rows for rows in (source, target))
        strata = None
        if self.strata is not None:
            strata = np.unique(self.strata[source], return_inverse=True)[1]
        return FoldMoments.of(
            self.X,
            self.Y,
            self.fold_of[source],
            strata,
            rows=(source, target),
            zscore=self.zscore,
            noise=noise,
            random_state=random_state,
        )

    @cached_property
    def prediction(self) -> Prediction:
        """Exact held-out prediction of the target."""
        return self.predict(self.moments)

    def predict(
        self, moments: FoldMoments, source: NDArray | None = None, target: NDArray | None = None
    ) -> Prediction:
        """Return the exact held-out prediction of some channels from others, by default of the
        target from the source.
        """
        source = self.source if source is None else source
        target = self.target if target is None else target
        return predict_held_out(moments, source, target, s=self.s, ridge=self.ridge)

    def shuffled(self, shuffle: int) -> dict[str, float]:
        """Return R2 under the null hypothesis, at the rank that is chosen under it: trials of the
        target are shuffled, within conditions where these have means. ``shuffle`` is a number.
        """
        rng = np.random.default_rng([self.seed, shuffle])
        target = shuffled_trials(self.trials, rng, self.conditions)
        return {"null_r2": self.predict(self.moments_of(target=target)).r2_at_rank}

    def lagged(self, most: int, lag: int) -> dict[str, float]:
        """Return R2 at the chosen rank, and its standard error, with the target ``lag`` bins later,
        on the same bins of the source for all lags up to ``most``.
        """
        rows = np.arange(len(self.trials)).reshape(-1, self.bins)
        here, there = (rows[:, some].ravel() for some in lagged(self.bins, lag, most))
        found, at = self.predict(self.moments_of(here, there)), self.prediction.rank - 1
        return {"lag_r2": found.r2[at], "lag_r2_sem": found.r2_sem[at]}

    def exact_results(self, most_removed: int) -> xr.Dataset:
        """Return R2 at each rank and with up to so many predictive dimensions removed, with
        standard errors; the chosen rank; and the dimensions that each area shares within itself.
        """
        exact, sides = self.prediction, {"source": self.source, "target": self.target}
        most = min(most_removed, len(self.source) - 1, len(self.target))
        removed = removed_dimensions(
            self.moments, self.source, self.target, most, s=self.s, ridge=self.ridge
        )
        found = {
            "exact_r2": ("k", exact.r2),
            "exact_r2_sem": ("k", exact.r2_sem),
            "chosen_rank": exact.rank,
            "deviations": exact.deviations.sum(),
            "removed_r2": ("removed", removed.r2),
            "removed_r2_sem": ("removed", removed.r2_sem),
        }
        found |= {
            f"{side}_dimensionality": shared_dimensionality(self.moments, channels)
            for side, channels in sides.items()
        }
        return xr.Dataset(
            found, {"k": 1 + np.arange(len(exact.r2)), "removed": np.arange(most + 1)}
        )

    def fold(self, number: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return training X and Y, test X and Y of a fold, around means of the training trials."""
        train, test = np.flatnonzero(self.fold_of != number), np.flatnonzero(self.fold_of == number)
        views = []
        for view in (self.X, self.Y):
            # In C's order: the same numbers, the same sums, whatever file they are from.
            trained, held_out = residuals(np.ascontiguousarray(view), self.strata, train, test)
            deviation = trained.std(axis=0) if self.zscore else np.ones(view.shape[1])
            deviation[deviation == 0] = 1.0
            views.append((trained / deviation, held_out / deviation))
        (x_train, x_test), (y_train, y_test) = views
        return x_train, y_train, x_test, y_test

    def drawn(self, draw: int) -> xr.Dataset:
        """Let part of the source predict matched units ``within`` its own area, and units of the
        target ``across`` areas. ``draw`` is a number.

        Returns ranks, R2 and mean rates of both. What begins with ``equal`` is with noise added to
        one target, so that both have the same R2; NaN where one cannot be predicted at all.
        """
        ones = np.ones(len(self.source)), np.ones(len(self.target))
        of_source, of_target = self.rates or ones
        rng = np.random.default_rng([self.seed, 1, draw])
        units = matched_units(of_source, of_target, rng, matched=self.rates is not None)
        targets = {"within": units.within, "across": len(self.source) + units.across}
        moments = self.moments_of(noise=len(units.within), random_state=[self.seed, 2, draw])
        noise = len(self.source) + len(self.target) + np.arange(len(units.within))
        equal = equal_signals(moments, units.source, targets, noise, s=self.s, ridge=self.ridge)
        found: dict[str, object] = {
            "draw_units": len(units.within),
            "within_dimensionality": shared_dimensionality(self.moments, units.within),
        }
        for name, target in targets.items():
            predicted = self.predict(moments, units.source, target)
            found |= {
                f"{name}_rank": predicted.rank,
                f"{name}_r2": ("draw_k", predicted.r2),
                f"{name}_r2_at_rank": predicted.r2_at_rank,
                f"equal_{name}_rank": equal[name].rank if equal else np.nan,
                f"equal_{name}_r2": equal[name].r2[-1] if equal else np.nan,
            }
            if self.rates is not None:
                found[f"{name}_rate"] = np.concatenate(self.rates)[target].mean()
        return xr.Dataset(found, {"draw_k": 1 + np.arange(len(units.within))})

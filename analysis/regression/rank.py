"""The rank that data support, by cross-validation, as in Semedo et al. (2019), Neuron 102,
249-259.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, KFold

from biorrr.analysis.checks import check_k
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.regression.reduced_rank import ReducedRankRegression
from biorrr.errors import InputError


@dataclass(frozen=True)
class Prediction:
    """Held-out prediction of a target, at each of several ranks.

    Attributes
    ----------
    errors : (folds, ranks)
        Squared errors on held-out trials.
    deviations : (folds,)
        Squared deviations from the means of the training trials.
    """

    errors: NDArray
    deviations: NDArray

    @property
    def r2(self) -> NDArray:
        """R2 pooled over folds, (ranks,)."""
        return 1 - self.errors.sum(axis=0) / self.deviations.sum()

    @property
    def r2_folds(self) -> NDArray:
        """R2 of each fold, (folds, ranks)."""
        return 1 - self.errors / self.deviations[:, None]

    @property
    def r2_sem(self) -> NDArray:
        """Standard error over folds, (ranks,)."""
        return self.r2_folds.std(axis=0, ddof=1) / np.sqrt(len(self.errors))

    @property
    def place(self) -> int:
        """Place of the smallest rank whose mean over folds lies within one standard error of the
        best.
        """
        mean = self.r2_folds.mean(axis=0)
        best = mean.argmax()
        return int((mean >= mean[best] - self.r2_sem[best]).argmax())

    @property
    def rank(self) -> int:
        """The smallest good rank, where all from 1 on were tried."""
        return 1 + self.place

    @property
    def r2_at_rank(self) -> float:
        """Pooled R2 at the chosen rank."""
        return float(self.r2[self.place])


class RankCV(ReducedRankRegression):
    """Reduced-rank regression whose rank is chosen by held-out prediction.

    The rank is the smallest whose mean held-out R2 over folds lies within one standard error of the
    best, as in Semedo et al. (2019). Fitted, it is the exact solution of that rank on all the data.

    Parameters
    ----------
    ks
        Ranks to try; all from 1 to min(m, n) unless given.
    s, ridge
        As in :class:`~biorrr.analysis.regression.reduced_rank.ReducedRankRegression`.
    cv
        Number of folds of shuffled samples, or of shuffled groups when ``fit`` is given groups; or
        a scikit-learn splitter.
    random_state
        Seed of the shuffle.

    Attributes
    ----------
    k_
        The chosen rank.
    ks_ : (n_ranks,)
        The ranks tried, increasing.
    r2_folds_ : (n_folds, n_ranks)
        R2 of each held-out fold about the training mean, responses pooled; folds in which nothing
        varies are left out.
    r2_mean_, r2_sem_ : (n_ranks,)
        Their mean over folds and its standard error: what the rank is chosen by.
    r2_ : (n_ranks,)
        R2 pooled over folds too: all squared errors over all squared deviations.
    """

    def __init__(
        self,
        ks: Sequence[int] | None = None,
        *,
        s: float = 0.0,
        ridge: float | tuple[float, float] = 0.0,
        cv=10,
        random_state=None,
    ):
        self.ks = ks
        self.s = s
        self.ridge = ridge
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        strata: ArrayLike | None = None,
    ) -> Self:
        """Choose the rank and solve for ``X`` (n_samples, m) and ``y`` (n_samples, n).

        ``groups`` (n_samples,), such as trial numbers, are held out whole: neighbouring time bins
        of a trial share noise, and a model that has seen one knows something of the other. Samples
        of one of ``strata`` (n_samples,), such as a condition and time bin, have a mean of their
        own, which is learned from training samples and subtracted from held-out ones: what is
        predicted are residuals.
        """
        X, Y = self._check_training(X, y, ensure_min_samples=2)
        limits = X.shape[1], Y.shape[1]
        ks = range(1, min(limits) + 1) if self.ks is None else self.ks
        self.ks_ = np.unique([check_k(k, *limits) for k in ks])
        if strata is not None:
            strata = np.unique(np.asarray(strata), return_inverse=True)[1]
        splitter = self.cv
        if isinstance(splitter, int | np.integer):
            kind = KFold if groups is None else GroupKFold
            splitter = kind(splitter, shuffle=True, random_state=self.random_state)
        splits = splitter.split(X, Y, groups)
        folds = [self._held_out(X, Y, train, test, strata) for train, test in splits]
        errors, deviations = map(np.array, zip(*folds, strict=True))
        scorable = deviations > 0
        if scorable.sum() < 2:
            raise InputError(
                f"y: must vary in at least two held-out folds (got {scorable.sum()} of"
                f" {len(folds)}); lower cv"
            )
        found = Prediction(errors[scorable], deviations[scorable])
        self.r2_folds_, self.r2_sem_ = found.r2_folds, found.r2_sem
        self.r2_mean_ = self.r2_folds_.mean(axis=0)
        self.r2_ = Prediction(errors, deviations).r2
        self.k_ = int(self.ks_[found.place])
        if strata is not None:
            X, Y = (residuals(view, strata, slice(None))[0] + view.mean(axis=0) for view in (X, Y))
        return self._solve(X, Y, self.k_)

    def _held_out(
        self, X: NDArray, Y: NDArray, train: NDArray, test: NDArray, strata: NDArray | None
    ) -> tuple[NDArray, float]:
        """Return squared errors on ``test`` for each rank of ``ks_``, and squared deviations from
        the training mean.
        """
        x_train, x_test = residuals(X, strata, train, test)
        y_train, deviations = residuals(Y, strata, train, test)
        solution = ExactSolution(x_train, y_train, self.s, self.ridge)  # type: ignore[arg-type]  # "cv" is not for RankCV
        k_max = self.ks_[-1]
        Z, readout = x_test @ solution.Vx(k_max), solution.readout(k_max)
        errors = [np.square(deviations - Z[:, :k] @ readout[:, :k].T).sum() for k in self.ks_]
        return np.array(errors), float(np.square(deviations).sum())


def residuals(
    values: NDArray,
    strata: NDArray | None,
    train: NDArray | slice,
    test: NDArray | slice = slice(0),
) -> tuple[NDArray, NDArray]:
    """Return samples ``train`` and ``test`` of ``values`` (n_samples, channels) less the means of
    the training samples.

    ``strata`` (n_samples,) are whole numbers from 0 on; each has a mean of its own. None stands for
    a single one.
    """
    if strata is None:
        mean = values[train].mean(axis=0)
        return values[train] - mean, values[test] - mean
    counts = np.bincount(strata[train], minlength=strata.max() + 1)
    if not counts[strata[test]].all():
        raise InputError(
            "strata: each must have samples in at least two folds; leave out conditions with one"
            " trial"
        )
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, strata[train], values[train])
    means = sums / np.maximum(counts, 1)[:, None]
    return values[train] - means[strata[train]], values[test] - means[strata[test]]

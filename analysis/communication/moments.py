"""Folds of whole trials, second moments of a recording in each, and predictions from these alone:
every regression on its units follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.memory_maps import forget_pages
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.regression.rank import Prediction
from biorrr.errors import InputError

ROWS_AT_ONCE = 8192


def trial_folds(
    trials: ArrayLike,
    folds: int,
    *,
    conditions: ArrayLike | None = None,
    random_state: int | None = None,
) -> NDArray:
    """Return the number of the fold in which each sample is held out, (n_samples,); samples of one
    trial share theirs.

    Parameters
    ----------
    trials : (n_samples,)
        Which trial a sample belongs to.
    folds
        How many.
    conditions : (n_samples,)
        Condition of each sample's trial. Each condition is then dealt out over the folds, so that a
        condition with at least two trials has one to learn its mean from, whichever fold is held
        out. Without, trials are split as scikit-learn's shuffled ``GroupKFold`` does.
    random_state
        Seed of the shuffle.

    Examples
    --------
    >>> trial_folds([0, 0, 1, 1, 2, 2, 3, 3], 2, conditions=[5, 5, 5, 5, 7, 7, 7, 7],
    ... random_state=0)
    array([0, 0, 1, 1, 0, 0, 1, 1])
    """
    trials = np.asarray(trials)
    names, place = np.unique(trials, return_inverse=True)
    if not 2 <= folds <= len(names):
        raise InputError(
            f"folds: must lie between 2 and the number of trials, {len(names)} (got {folds})"
        )
    if conditions is None:
        from sklearn.model_selection import GroupKFold

        held_out = np.empty(len(trials), dtype=int)
        splitter = GroupKFold(folds, shuffle=True, random_state=random_state)
        for fold, (_, test) in enumerate(splitter.split(trials, groups=trials)):
            held_out[test] = fold
        return held_out
    rng = np.random.default_rng(random_state)
    condition = np.empty(len(names), dtype=int)
    condition[place] = np.unique(np.asarray(conditions), return_inverse=True)[1]
    # Shuffled, then in the order of their conditions, trials are dealt out like cards: folds are
    # even in both.
    shuffled = rng.permutation(len(names))
    dealt = shuffled[np.argsort(condition[shuffled], kind="stable")]
    fold_of_trial = np.empty(len(names), dtype=int)
    fold_of_trial[dealt] = np.arange(len(names)) % folds
    return fold_of_trial[place]


@dataclass(frozen=True, eq=False)
class FoldMoments:
    """Sums of p channels, source and target units together, and of their products, by fold.

    Training data are those of all other folds, residuals are taken around the means of the training
    data alone, and both are differences of these sums: a fold, a subset of units or a target costs
    algebra on p x p matrices and no pass over the data. Made by :meth:`of`.

    Parameters
    ----------
    gram : (folds, p, p)
        Sums of products.
    sums : (folds, strata, p)
        Sums of values. Each stratum, such as a condition and time bin, has a mean of its own.
    counts : (folds, strata)
        Numbers of samples.
    zscore
        True to divide each residual by the standard deviation of its channel over the training
        data.
    """

    gram: NDArray
    sums: NDArray
    counts: NDArray
    zscore: bool = False

    @classmethod
    def of(
        cls,
        X: NDArray,
        Y: NDArray,
        folds: ArrayLike,
        strata: ArrayLike | None = None,
        rows: tuple[NDArray, NDArray] | None = None,
        zscore: bool = False,
        noise: int = 0,
        random_state: int | Sequence[int] | None = None,
    ) -> Self:
        """Sum ``X`` (n_samples, m) and ``Y`` (n_samples, n), block by block; channels 0 to m-1 are
        those of X.

        Parameters
        ----------
        X, Y
            Arrays, or memory maps of any size.
        folds : (n_samples,)
            Fold in which each sample is held out.
        strata : (n_samples,)
            Stratum of each sample; samples of one stratum share a mean.
        rows : (n_samples,), (n_samples,)
            Rows of X and rows of Y that belong together, where these are not simply the rows in
            their order.
        zscore
            True for z-scores, by the standard deviations of the training data.
        noise
            Number of channels of independent standard normal noise to append; see
            :meth:`with_noise`.
        random_state
            Seed of the noise.
        """
        folds = np.asarray(folds)
        strata = np.zeros(len(folds), dtype=int) if strata is None else np.asarray(strata)
        channels, rng = X.shape[1] + Y.shape[1] + noise, np.random.default_rng(random_state)
        counts = np.zeros((folds.max() + 1, strata.max() + 1))
        sums = np.zeros((*counts.shape, channels))
        gram = np.zeros((len(counts), channels, channels))
        for start in range(0, len(folds), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            of_x, of_y = (some, some) if rows is None else (rows[0][some], rows[1][some])
            # In C's order: sums of the same numbers are then the same to the last bit, however they
            # are stored.
            extra = rng.standard_normal((len(folds[some]), noise))
            block = np.ascontiguousarray(np.hstack([X[of_x], Y[of_y], extra]))
            for fold in np.unique(folds[some]):
                held = folds[some] == fold
                own, stratum = block[held], strata[some][held]
                gram[fold] += own.T @ own
                np.add.at(sums[fold], stratum, own)
                np.add.at(counts[fold], stratum, 1)
            forget_pages(X, Y)
        return cls(gram, sums, counts, zscore)

    def with_noise(self, target: NDArray, noise: NDArray, relative: float) -> FoldMoments:
        """Return the moments of channels of which some are noisier.

        Parameters
        ----------
        target : (n,)
            Channels to which noise is added.
        noise : (n,)
            Channels of noise; see :meth:`of`.
        relative
            Standard deviation of the noise over that of the channel.
        """
        products, _, counts, _ = self._trained(None, target)
        mix = np.eye(self.gram.shape[1])
        mix[noise, target] = relative * np.sqrt(np.maximum(np.diag(products), 0) / counts.sum())
        return replace(self, gram=mix.T @ self.gram @ mix, sums=self.sums @ mix)

    @property
    def folds(self) -> range:
        """Numbers of the folds."""
        return range(len(self.gram))

    def splits(self, channels: Sequence[int]) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield for each fold the covariance of ``channels`` over the training data, and the
        products of their residuals held out, each (p', p').
        """
        for fold in self.folds:
            products, n = self.training(fold, channels)
            yield products / n, self.held_out(fold, channels)[0]

    def training(
        self, fold: int | None, channels: Sequence[int] | NDArray | slice = slice(None)
    ) -> tuple[NDArray, float]:
        """Return the products of residuals summed over all folds but ``fold``, (p', p'), and the
        number of samples.

        With ``fold`` None all samples are training data.
        """
        products, _, counts, units = self._trained(fold, channels)
        return products / units, float(counts.sum())

    def held_out(
        self, fold: int, channels: Sequence[int] | NDArray | slice = slice(None)
    ) -> tuple[NDArray, float]:
        """Return the products of the residuals of ``fold`` around the training means, (p', p'), and
        the sample count.

        Samples whose stratum has none in the training data must not exist: :func:`trial_folds` sees
        to that.
        """
        _, means, counts, units = self._trained(fold, channels)
        n = self.counts[fold]
        if (n[counts == 0] > 0).any():
            raise InputError(
                "strata: each must have samples in at least two folds; leave out conditions with"
                " one trial"
            )
        cross = self.sums[fold][:, channels].T @ means
        weighted = means * np.sqrt(n)[:, None]
        residual = self.gram[fold][channels][:, channels] - cross - cross.T + weighted.T @ weighted
        return residual / units, float(n.sum())

    def _trained(
        self, fold: int | None, channels: Sequence[int] | NDArray | slice
    ) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return products of residuals, means (strata, p') and counts (strata,) of all folds but
        ``fold``, and the units of the products: 1, or those of standard deviations for z-scores.
        """
        others = [one for one in self.folds if one != fold]
        gram = np.sum([self.gram[other][channels][:, channels] for other in others], axis=0)
        sums, counts = self.sums[others][..., channels].sum(axis=0), self.counts[others].sum(axis=0)
        spread = sums / np.sqrt(np.maximum(counts, 1))[:, None]
        products = gram - spread.T @ spread
        variance = np.diag(products) / counts.sum() if self.zscore else np.ones(len(products))
        deviations = np.sqrt(np.where(variance > 0, variance, 1.0))
        means = sums / np.maximum(counts, 1)[:, None]
        return products, means, counts, np.outer(deviations, deviations)


def predict_held_out(
    moments: FoldMoments,
    source: Sequence[int] | NDArray,
    target: Sequence[int] | NDArray,
    *,
    s: float = 0.0,
    ridge: float = 0.0,
) -> Prediction:
    """Predict the channels ``target`` from the channels ``source``, fold by fold, at every rank.

    The same numbers as :class:`~biorrr.analysis.RankCV` gives, to rounding.
    """
    m, k = len(source), min(len(source), len(target))
    errors, deviations = [], []
    for covariance, held_out in moments.splits([*source, *target]):
        exact = solution(covariance, m, s, ridge)
        Vx, readout, deviation = exact.Vx(k), exact.readout(k), np.trace(held_out[m:, m:])
        # Of what is predicted through the first 1, 2, ... of the k filters.
        cross = np.cumsum(np.einsum("ik,ij,jk->k", Vx, held_out[:m, m:], readout))
        among = (Vx.T @ held_out[:m, :m] @ Vx) * (readout.T @ readout)
        power = [among[:rank, :rank].sum() for rank in range(1, k + 1)]
        errors.append(deviation - 2 * cross + np.array(power))
        deviations.append(deviation)
    return Prediction(np.array(errors), np.array(deviations))


def solution(covariance: NDArray, m: int, s: float, ridge: float) -> ExactSolution:
    """Return the exact solution for the covariance (m + n, m + n) of inputs and targets together.

    It is found from m + n made-up samples that have this covariance: its Cholesky factor, which is
    quick, or, where there is no ridge or no such factor, its square root, without directions in
    which nothing but rounding varies.
    """
    root = None
    if ridge:
        with suppress(np.linalg.LinAlgError):
            root = np.linalg.cholesky(covariance).T
    if root is None:
        eigenvalues, axes = np.linalg.eigh(covariance)
        rounding = len(eigenvalues) * np.finfo(float).eps * eigenvalues[-1]
        root = (axes * np.sqrt(np.where(eigenvalues > rounding, eigenvalues, 0.0))).T
    root = root * np.sqrt(len(root))
    return ExactSolution(root[:, :m], root[:, m:], s, ridge)

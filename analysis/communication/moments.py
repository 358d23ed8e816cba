"""Folds of whole trials, second moments of a recording in each, and predictions from these alone:
every regression on its units follows from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
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


class FoldMoments:
    """Sums of p channels and of their products, by fold.

    Training data are those of all other folds, residuals are taken around the means of the training
    data alone, and both are differences of these sums: a fold, a subset of units or a target costs
    algebra on p x p matrices and no pass over the data. Blocks of samples are added one after
    another, so that the data may be larger than memory.

    Parameters
    ----------
    channels
        p, source and target units together.
    folds
        Number of folds.
    strata
        Number of groups of samples that have a mean of their own: one for each condition and time
        bin, or a single one.
    zscore
        True to divide each residual by the standard deviation of its channel over the training
        data.

    Attributes
    ----------
    gram : (folds, p, p)
        Sums of products.
    sums : (folds, strata, p)
        Sums of values.
    counts : (folds, strata)
        Numbers of samples.
    """

    def __init__(self, channels: int, folds: int, strata: int = 1, zscore: bool = False) -> None:
        self.gram = np.zeros((folds, channels, channels))
        self.sums = np.zeros((folds, strata, channels))
        self.counts = np.zeros((folds, strata))
        self.zscore = zscore

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
        moments = cls(channels, int(folds.max()) + 1, int(strata.max()) + 1, zscore)
        for start in range(0, len(folds), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            of_x, of_y = (some, some) if rows is None else (rows[0][some], rows[1][some])
            # In C's order: sums of the same numbers are then the same to the last bit, however they
            # are stored.
            extra = rng.standard_normal((len(folds[some]), noise))
            block = np.ascontiguousarray(np.hstack([X[of_x], Y[of_y], extra]))
            moments.add(block, folds[some], strata[some])
            forget_pages(X, Y)
        return moments

    def add(self, rows: NDArray, folds: NDArray, strata: NDArray) -> None:
        """Add samples ``rows`` (n, p), each with its fold and its stratum, (n,)."""
        for fold in np.unique(folds):
            held = folds == fold
            block = rows[held]
            self.gram[fold] += block.T @ block
            np.add.at(self.sums[fold], strata[held], block)
            self.counts[fold] += np.bincount(strata[held], minlength=self.counts.shape[1])

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
        products, _, counts = self._trained(None, target)
        deviations = np.sqrt(np.maximum(np.diag(products), 0) / counts.sum())
        mix = np.eye(self.gram.shape[1])
        mix[noise, target] = relative * deviations
        noisier = FoldMoments(len(mix), len(self.gram), self.counts.shape[1], self.zscore)
        noisier.gram, noisier.sums = mix.T @ self.gram @ mix, self.sums @ mix
        noisier.counts = self.counts
        return noisier

    @property
    def folds(self) -> range:
        """Numbers of the folds."""
        return range(len(self.gram))

    def splits(self, channels: Iterable[int]) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield for each fold the covariance of ``channels`` over the training data, and the
        products of their residuals held out, each (p', p').
        """
        for fold in self.folds:
            products, n = self.training(fold, channels)
            yield products / n, self.held_out(fold, channels)[0]

    def training(
        self, fold: int | None, channels: Iterable[int] | slice = slice(None)
    ) -> tuple[NDArray, float]:
        """Return the products of residuals summed over all folds but ``fold``, (p', p'), and the
        number of samples.

        With ``fold`` None all samples are training data.
        """
        products, _, counts = self._trained(fold, channels)
        return products / self._units(products, counts), float(counts.sum())

    def held_out(
        self, fold: int, channels: Iterable[int] | slice = slice(None)
    ) -> tuple[NDArray, float]:
        """Return the products of the residuals of ``fold`` around the training means, (p', p'), and
        the sample count.

        Samples whose stratum has none in the training data must not exist: :func:`trial_folds` sees
        to that.
        """
        products, means, counts = self._trained(fold, channels)
        index = _index(channels)
        gram, own, n = (
            self.gram[fold][index][:, index],
            self.sums[fold][:, index],
            self.counts[fold],
        )
        if (n[counts == 0] > 0).any():
            raise InputError(
                "strata: each must have samples in at least two folds; leave out conditions with"
                " one trial"
            )
        cross = own.T @ means
        weighted = means * np.sqrt(n)[:, None]
        residual = gram - cross - cross.T + weighted.T @ weighted
        return residual / self._units(products, counts), float(n.sum())

    def _trained(
        self, fold: int | None, channels: Iterable[int] | slice
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Return products of residuals, means (strata, p') and counts (strata,) of all folds but
        ``fold``.
        """
        index, others = _index(channels), [one for one in self.folds if one != fold]
        gram = sum(self.gram[other][index][:, index] for other in others)
        sums = np.asarray(sum(self.sums[other][:, index] for other in others))
        counts = self.counts[others].sum(axis=0)
        spread = sums / np.sqrt(np.maximum(counts, 1))[:, None]
        return gram - spread.T @ spread, sums / np.maximum(counts, 1)[:, None], counts

    def _units(self, products: NDArray, counts: NDArray) -> NDArray | float:
        """Return the units of products of channels, (p', p'): 1, or products of standard deviations
        for z-scores.
        """
        if not self.zscore:
            return 1.0
        variance = np.diag(products) / counts.sum()
        deviations = np.sqrt(np.where(variance > 0, variance, 1.0))
        return np.outer(deviations, deviations)


def _index(channels: Iterable[int] | slice) -> slice | NDArray:
    return channels if isinstance(channels, slice) else np.asarray(channels, dtype=int)


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
        errors.append(squared_errors(exact.Vx(k), exact.readout(k), held_out, m))
        deviations.append(np.trace(held_out[m:, m:]))
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


def squared_errors(Vx: NDArray, readout: NDArray, products: NDArray, m: int) -> NDArray:
    """Return squared errors, (k,), of predictions through the first 1, 2, ... of the k filters,
    over all samples.

    ``products`` (m + n, m + n) are sums over those samples of products of inputs and targets.
    """
    cross = np.einsum("ik,ij,jk->k", Vx, products[:m, m:], readout)
    among = (Vx.T @ products[:m, :m] @ Vx) * (readout.T @ readout)
    power = np.array([among[:k, :k].sum() for k in range(1, len(among) + 1)])
    return np.trace(products[m:, m:]) - 2 * np.cumsum(cross) + power

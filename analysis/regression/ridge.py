"""The ridge that predicts best: chosen by held-out R2, from second moments alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import Ridge, check_k, check_pair, check_ridge, check_s, ridge_pair
from biorrr.errors import InputError

# Relative to trace(Cxx)/m; the commands' default is 0.1.
_SHARES = np.geomspace(1e-4, 100, 13)
_SHUFFLE = 0  # seed of the folds: the same data give the same ridge


@dataclass(frozen=True)
class RidgeChoice:
    """Ridges that were tried, and how well the exact solution predicts held-out samples with each.

    Attributes
    ----------
    ridges : (n_ridges,)
        Ridges, increasing.
    r2 : (n_ridges,)
        Held-out R2 about the training means, pooled over responses and folds.
    """

    ridges: NDArray
    r2: NDArray

    @property
    def best(self) -> float:
        """Ridge with the highest held-out R2."""
        return float(self.ridges[self.r2.argmax()])


def choose_ridge(
    X: ArrayLike,
    Y: ArrayLike,
    k: int,
    s: float = 0.0,
    *,
    ridges: ArrayLike | None = None,
    folds: int = 5,
    groups: ArrayLike | None = None,
) -> RidgeChoice:
    """Score ridges by how well the exact solution of rank ``k`` predicts held-out samples.

    Data are read once, into moments of each fold.

    Parameters
    ----------
    X : (n_samples, m)
    Y : (n_samples, n)
        Means of the training folds are removed.
    k, s
        Rank, and member of the family: 0 is RRMSE, 1 is CCA.
    ridges : (n_ridges,)
        Ridges to try, added to Cxx and Cyy; by default 13 of them, from 1e-4 to 100 times
        trace(Cxx)/m.
    folds
        Number of shuffled folds.
    groups : (n_samples,)
        Trial of each sample: samples of one trial are held out together. Samples are exchangeable
        unless given.

    Examples
    --------
    Noise in many inputs calls for a ridge:

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 40))
    >>> Y = X[:, :1] + rng.standard_normal((60, 1))
    >>> choose_ridge(X, Y, k=1).best > 0.1
    True
    """
    # They import the estimators.
    from biorrr.analysis.communication.moments import FoldMoments
    from biorrr.analysis.communication.prediction import predict_held_out

    X, Y = check_pair(X, Y)
    m, n = X.shape[1], Y.shape[1]
    check_k(k, m, n)
    check_s(s)
    trials, trial_of = np.unique(
        np.arange(len(X)) if groups is None else groups, return_inverse=True
    )
    if not 2 <= folds <= len(trials):
        what = "samples" if groups is None else "groups"
        raise InputError(
            f"folds: must lie between 2 and the number of {what}, {len(trials)} (got {folds})"
        )
    fold_of = np.random.default_rng(_SHUFFLE).permutation(len(trials))[trial_of] % folds
    moments = FoldMoments.of(X, Y, fold_of)
    if ridges is None:
        everything, n_samples = moments.training(None, slice(0, m))
        tried = _SHARES * (np.trace(everything) / n_samples / m or 1.0)
    else:
        tried = np.unique(
            [ridge_pair(ridge)[0] for ridge in np.atleast_1d(np.asarray(ridges, dtype=float))]
        )
    if not np.trace(moments.training(None, slice(m, None))[0]) > 0:
        raise InputError("Y: must vary (got constant columns); there is nothing to predict")
    source, target = np.split(np.arange(m + n), [m])
    found = [predict_held_out(moments, source, target, s=s, ridge=ridge) for ridge in tried]
    return RidgeChoice(tried, np.array([one.r2[k - 1] for one in found]))


def fitted_ridge(ridge: Ridge | str, X: NDArray, Y: NDArray, k: int, s: float) -> Ridge:
    """Return ``ridge``, or where it is "cv" the one that predicts held-out samples best."""
    if isinstance(ridge, str) and ridge == "cv":
        return choose_ridge(X, Y, k, s, folds=min(5, len(X))).best
    return check_ridge(ridge)


def given_ridge(ridge: Ridge | str) -> Ridge:
    """Return ``ridge`` for data that come in chunks; "cv" is refused."""
    if isinstance(ridge, str) and ridge == "cv":
        raise InputError(
            'ridge: "cv" needs all samples at once (got partial_fit); use fit, or give a number'
        )
    return check_ridge(ridge)

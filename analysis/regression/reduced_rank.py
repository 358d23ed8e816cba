"""Predictors made of filters, with the interface of scikit-learn: reduced-rank regression, solved
exactly, and the ridge that predicts best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from biorrr.analysis.checks import (
    Ridge,
    check_k,
    check_pair,
    check_s,
    ridge_pair,
    unmasked,
)
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.regression.metrics import r2
from biorrr.errors import InputError
from biorrr.hints import HintsAtKeywords


class FilterPredictor(
    HintsAtKeywords,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    MultiOutputMixin,
    RegressorMixin,
    BaseEstimator,
):
    """Predicts Y from X through k filters; a subclass has a `fit` that finds them.

    Attributes
    ----------
    Vx_ : (m, k)
        Filters.
    readout_ : (n, k)
        Prediction of y from the filters' output z, ``readout_ @ z``.
    x_mean_, y_mean_ : (m,), (n,)
        Means of the training data, removed before anything else.
    """

    Vx_: NDArray
    readout_: NDArray
    x_mean_: NDArray
    y_mean_: NDArray

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the output z = Vx'(x - mean) of the filters for ``X`` (n_samples, m): (n_samples,
        k).
        """
        check_is_fitted(self)
        X = validate_data(self, unmasked("X", X), reset=False, dtype=float)
        return (X - self.x_mean_) @ self.Vx_

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict Y, (n_samples, n), or (n_samples,) after a fit to such, from ``X`` (n_samples,
        m).
        """
        predicted = self.transform(X) @ self.readout_.T + self.y_mean_
        return predicted[:, 0] if self._single_response else predicted

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the share of the variance of ``y`` about the training mean that is predicted, all
        responses pooled.
        """
        return r2(y, self.predict(X), self.y_mean_)

    @property
    def _n_features_out(self) -> int:
        return self.Vx_.shape[1]

    def _centre(self, X: NDArray, Y: NDArray, k: int) -> tuple[NDArray, NDArray]:
        """Remove means and keep them, and choose the ridge for filters of rank ``k``."""
        self.x_mean_, self.y_mean_ = X.mean(axis=0), Y.mean(axis=0)
        X, Y = X - self.x_mean_, Y - self.y_mean_
        self.ridge_ = settle_ridge(self.ridge, (X, Y), k, self.s)
        return X, Y

    def _check_training(self, X: ArrayLike, y: ArrayLike, **options) -> tuple[NDArray, NDArray]:
        """Check ``X`` and ``y``; return arrays (n_samples, m) and (n_samples, n)."""
        X, y = unmasked("X", X), unmasked("y", y)
        X, Y = validate_data(
            self, X, y, dtype=float, order="C", multi_output=True, y_numeric=True, **options
        )
        self._single_response = Y.ndim == 1
        return X, np.ascontiguousarray(Y, dtype=float).reshape(len(Y), -1)


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
    from biorrr.analysis.communication.moments import FoldMoments, predict_held_out

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


def settle_ridge(
    ridge: Ridge | str, data: tuple[NDArray, NDArray] | None = None, k: int = 1, s: float = 0.0
) -> Ridge:
    """Return ``ridge``, or where it is "cv" the one that predicts held-out samples of ``data``, X
    (n_samples, m) and Y (n_samples, n), best; without data "cv" is refused.
    """
    if not isinstance(ridge, str):
        ridge_pair(ridge)
        return ridge
    if ridge != "cv":
        raise InputError(
            'ridge: must be a number >= 0, a pair of them for Cxx and Cyy, or "cv", for the one'
            f" that predicts held-out samples best (got {ridge!r})"
        )
    if data is None:
        raise InputError(
            'ridge: "cv" needs all samples at once (got partial_fit); use fit, or give a number'
        )
    return choose_ridge(*data, k, s, folds=min(5, len(data[0]))).best


class ReducedRankRegression(FilterPredictor):
    """The best prediction of Y from X through k filters (Eqs. 1 to 3, solved as in supplement C).

    Parameters
    ----------
    k
        Rank: how many filters, from 1 to min(m, n).
    s
        Which errors count: Sigma_s^-1 = s Cyy + (1-s) I. 0 is RRMSE, classical reduced-rank
        regression; 1 is CCA.
    ridge
        Added to Cxx and Cyy; a pair sets them separately. With 0, inverses are pseudo-inverses.
        "cv" chooses the one that predicts held-out samples best
        (:func:`~biorrr.analysis.choose_ridge`).

    Attributes
    ----------
    Vx_ : (m, k)
        Filters, white: Vx'(Cxx + ridge I)Vx = I, in the order of M's eigenvalues.
    Vy_ : (n, k)
        Distal weights at the optimum, Sigma_s Cyx Vx.
    readout_ : (n, k)
        Cyx Vx: predictions are ``readout_ @ z``.
    eigenvalues_ : (min(m, n),)
        Eigenvalues of M, largest first; for s = 1 and no ridge the squared canonical correlations.
    objective_
        Value of the objective, minus the sum of the k largest eigenvalues.
    ridge_
        Ridge that was used.
    x_mean_, y_mean_ : (m,), (n,)
        Means of the training data, removed before anything else.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + rng.standard_normal((500, 4))
    >>> rrr = ReducedRankRegression(k=2).fit(X, Y)
    >>> rrr.transform(X).shape, rrr.predict(X).shape
    ((500, 2), (500, 4))
    """

    def __init__(self, k: int = 1, *, s: float = 0.0, ridge: Ridge | str = 0.0):
        self.k = k
        self.s = s
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Solve for ``X`` (n_samples, m) and ``y`` (n_samples, n) or (n_samples,)."""
        X, Y = self._check_training(X, y, ensure_min_samples=2)
        return self._solve(X, Y, self.k)

    def _solve(self, X: NDArray, Y: NDArray, k: int) -> Self:
        X, Y = self._centre(X, Y, k)
        solution = ExactSolution(X, Y, self.s, self.ridge_)
        self.Vx_, self.Vy_, self.readout_ = solution.Vx(k), solution.Vy(k), solution.readout(k)
        self.eigenvalues_, self.objective_ = solution.eigenvalues, solution.optimum(k)
        return self

"""Predictors made of filters, exact or learned, with the interface of scikit-learn."""

from __future__ import annotations

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

from biorrr.analysis.checks import unmasked
from biorrr.analysis.regression.metrics import r2
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

    def _check_training(self, X: ArrayLike, y: ArrayLike, **options) -> tuple[NDArray, NDArray]:
        """Check ``X`` and ``y``; return arrays (n_samples, m) and (n_samples, n)."""
        X, y = unmasked("X", X), unmasked("y", y)
        X, Y = validate_data(
            self, X, y, dtype=float, order="C", multi_output=True, y_numeric=True, **options
        )
        self._single_response = Y.ndim == 1
        return X, np.ascontiguousarray(Y, dtype=float).reshape(len(Y), -1)

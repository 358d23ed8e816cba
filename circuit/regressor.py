"""The microcircuit as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from biorrr.circuit.microcircuit import Microcircuit
from biorrr.circuit.results.run import Run
from biorrr.errors import InputError
from biorrr.hints import HintsAtKeywords
from biorrr.models import Departure, Rates


class MicrocircuitRegressor(
    HintsAtKeywords,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    MultiOutputMixin,
    RegressorMixin,
    BaseEstimator,
):
    """Reduced-rank regression by a simulated :class:`Microcircuit`, for pipelines and
    cross-validation.

    Parameters
    ----------
    k
        Number of pyramidal neurons: the rank of the regression, from 1 to min(m, n).
    s
        Member of the family of regressions: 0 is RRMSE, 1 is CCA.
    ridge
        Epsilon added to Cxx and Cyy, or a pair of them; "cv" chooses the one that predicts held-out
        samples best.
    epochs
        Number of passes over the training data.
    rates
        Learning rates: :class:`~biorrr.models.Rates`, or "auto".
    cell
        Model of the cells: "algebraic" or "millivolts".
    departures
        Departures from the paper's circuit.
    engine
        "numpy", "cpp" or "auto".
    random_state
        Seed of the initial weights and of the order of samples.

    Attributes
    ----------
    run_ : Run
        The run that learned: weights, snapshots and recorded traces; after `partial_fit`, those of
        the last chunk.
    ridge_
        Ridge that was used.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), MicrocircuitRegressor(k=1, ridge=1.0, epochs=5,
    ... random_state=0))
    >>> model.fit(X, y).predict(X).shape
    (1797,)
    """

    def __init__(
        self,
        k: int = 1,
        *,
        s: float = 0.0,
        ridge: float | tuple[float, float] | str = 0.0,
        epochs: int = 60,
        rates: Rates | str = "auto",
        cell: str = "algebraic",
        departures: Sequence[Departure] = (),
        engine: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.k = k
        self.s = s
        self.ridge = ridge
        self.epochs = epochs
        self.rates = rates
        self.cell = cell
        self.departures = departures
        self.engine = engine
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> MicrocircuitRegressor:
        """Let the circuit learn from ``X`` (n_samples, m) and ``y`` (n_samples, n) or (n_samples,),
        both centred.
        """
        from biorrr.analysis.regression.reduced_rank import settle_ridge

        X, Y = self._check_training(X, y, ensure_min_samples=2)
        centred = X - X.mean(axis=0), Y - Y.mean(axis=0)
        self.ridge_ = settle_ridge(self.ridge, centred, self.k, self.s)
        self.run_ = self._circuit().run(X, Y, epochs=self.epochs, centre=True, progress=False)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> MicrocircuitRegressor:
        """Go on learning from ``X`` (n_samples, m) and ``y`` (n_samples, n) or (n_samples,), row
        after row, as given.

        Rates "auto" are fitted to the first chunk, and no end of learning is announced. Nothing is
        centred, unless an earlier `fit` has kept means. For s > 0 the readout that `predict` uses
        averages over about the last tenth of all samples presented so far.
        """
        from biorrr.analysis.regression.reduced_rank import settle_ridge

        earlier: Run | None = getattr(self, "run_", None)
        X, Y = self._check_training(X, y, reset=earlier is None)
        if earlier is None:
            self.ridge_ = settle_ridge(self.ridge)
            circuit = self._circuit()
            run = circuit.run(X, Y, order="sequential", final=False, progress=False)
        else:
            run = self._go_on(earlier, X, Y)
        self.run_ = run
        return self

    def _go_on(self, earlier: Run, X: NDArray, Y: NDArray) -> Run:
        """Return the run that continues ``earlier`` with one more chunk."""
        mean_x, mean_y = earlier.data["mean_x"], earlier.data["mean_y"]
        if Y.shape[1] != len(mean_y):
            raise InputError(f"y: must have {len(mean_y)} columns, as before (got {Y.shape[1]})")
        # A continued run goes on where it was in its order: the first row comes first from there.
        order = np.roll(np.arange(len(X)), earlier.samples % len(X))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "start: that run was final")  # that of `fit` is
            run = earlier.circuit.run(  # type: ignore[union-attr]
                X - mean_x.values,
                Y - mean_y.values,
                order=order,
                start=earlier,
                final=False,
                progress=False,
            )
        run.data["mean_x"], run.data["mean_y"] = mean_x, mean_y
        if self.s:
            share = min(1.0, 10 * len(X) / run.samples)
            before, now = earlier.data["readout"], run.data["readout"]
            run.data["readout"] = (1 - share) * before + share * now
        return run

    def _check_training(self, X: ArrayLike, y: ArrayLike, **options) -> tuple[NDArray, NDArray]:
        """Check ``X`` and ``y``; return arrays (n_samples, m) and (n_samples, n)."""
        X, Y = validate_data(self, X, y, dtype=float, multi_output=True, y_numeric=True, **options)
        self._single_response = Y.ndim == 1
        return X, np.asarray(Y, dtype=float).reshape(len(Y), -1)

    def _circuit(self) -> Microcircuit:
        """Return the circuit that learns."""
        return Microcircuit(
            k=self.k,
            s=self.s,
            ridge=self.ridge_,
            rates=self.rates,
            cell=self.cell,
            departures=self.departures,
            engine=self.engine,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the output of the pyramidal neurons for ``X`` (n_samples, m), shape (n_samples,
        k).
        """
        check_is_fitted(self)
        return self.run_.transform(validate_data(self, X, reset=False, dtype=float))

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the prediction of y for ``X`` (n_samples, m): (n_samples, n), or (n_samples,)
        after a fit to such.
        """
        check_is_fitted(self)
        predicted = self.run_.predict(validate_data(self, X, reset=False, dtype=float))
        return predicted[:, 0] if self._single_response else predicted

    @property
    def _n_features_out(self) -> int:
        return self.k

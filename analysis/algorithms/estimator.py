"""Base class of the algorithms: learning step by step, with filters kept along the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import process_time
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from biorrr.analysis.checks import Ridge, check_k, check_s, ridge_pair
from biorrr.analysis.regression.reduced_rank import FilterPredictor, settle_ridge
from biorrr.errors import DivergenceError, InputError

Iterations = Callable[[int, int], tuple[int, bool]]


class Path(NamedTuple):
    """Filters along the way.

    Attributes
    ----------
    t : (S,)
        Samples presented so far (online) or iterations done (offline).
    passes : (S,)
        Passes through all data until then, the unit in which online and offline learners can be
        compared: a sample is 1/n_samples, a gradient over all data is 1. Covariances that are
        computed once save time, not passes.
    seconds : (S,)
        CPU time spent learning until then: compilation, scoring and keeping snapshots are left out.
    Vx : (S, m, k)
        Filters then.
    """

    t: NDArray
    passes: NDArray
    seconds: NDArray
    Vx: NDArray


# Gives a class the constructor that scikit-learn expects: it only stores, and names every
# parameter. All but k are keyword-only.
learner = dataclass(kw_only=True, repr=False, eq=False)


def _learns_online(learner: FilterLearner) -> bool:
    if not learner.online:
        raise AttributeError("online: must be True to learn sample by sample (got False); use fit")
    return True


@learner
class FilterLearner(FilterPredictor):
    """Learns k filters Vx of X that predict Y; each subclass is one algorithm.

    A subclass has a parameter ``steps``, an ``s`` (a parameter, or an attribute of the class where
    the algorithm solves one member of the family only), and `_begin`. If it is ``online``, it sees
    one sample after another in `_present`; if not, it learns from all data by `_iterations`.

    Parameters
    ----------
    k
        Rank: how many filters, from 1 to min(m, n).
    ridge
        Added to Cxx and Cyy; a pair sets them separately. "cv" chooses the one that predicts
        held-out samples best (:func:`~biorrr.analysis.choose_ridge`).
    steps
        How many samples `fit` presents, in shuffled passes through the data, or how many iterations
        it does at most.
    snapshots
        How many times `fit` keeps the filters in ``path_``, evenly in log time, or the t at which
        it does.
    random_state
        Seed of everything random: initial weights, the order of samples.

    Attributes
    ----------
    Vx_ : (m, k)
        Filters, as the algorithm leaves them: white only if it makes them so.
    t_
        Samples presented so far (online), or iterations done.
    ridge_
        Ridge that was used.
    readout_ : (n, k)
        Best prediction of y from the filters' output z, ``readout_ @ z``; Cyx Vx where the filters
        are white.
    path_ : Path
        Filters along the way; ``path_.Vx`` goes straight into :meth:`ExactSolution.excess`.
    x_mean_, y_mean_ : (m,), (n,)
        Means of the training data, removed before anything else.
    """

    k: int = field(default=1, kw_only=False)
    ridge: Ridge | str = 0.0
    snapshots: int | Sequence[int] = 1
    random_state: int | np.random.RandomState | None = None

    online = True
    _last = math.inf  # the number of samples after which learning ends, where that is known

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from ``X`` (n_samples, m) and ``y`` (n_samples, n) or (n_samples,), both centred
        first.
        """
        X, Y = self._centre(*self._check_training(X, y, ensure_min_samples=2), self.k)
        stops = _stops(self.snapshots, self._total_steps(len(X)))
        rng = check_random_state(self.random_state)
        learning = self._learn(X, Y, stops[stops > 0].tolist(), rng)
        self.t_ = 0
        next(learning)
        path = [(0, 0.0, 0.0, self.Vx_.copy())] if stops[0] == 0 else []
        seconds, clock = 0.0, process_time()
        for self.t_ in learning:
            seconds += process_time() - clock
            self._check_finite()
            path.append((self.t_, self._passes(len(X)), seconds, self.Vx_.copy()))
            clock = process_time()
        self.path_ = Path(*map(np.array, zip(*path, strict=True)))
        self._set_readout(X, Y)
        return self

    @available_if(_learns_online)
    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Go on learning from ``X`` (n_samples, m) and ``y`` (n_samples, n) or (n_samples,), row
        after row, as given.

        Nothing is centred, unless an earlier `fit` has kept means. The readout that `predict` uses
        follows the filters: it averages over about the last tenth of all samples presented so far.
        """
        first = not hasattr(self, "Vx_")
        X, Y = self._check_training(X, y, reset=first)
        self._last = math.inf
        if first:
            self.ridge_ = settle_ridge(self.ridge)
            self.x_mean_, self.y_mean_ = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
            self.t_ = 0
            self._begin(X, Y, check_random_state(self.random_state))
        elif Y.shape[1] != len(self.y_mean_):
            raise InputError(
                f"y: must have {len(self.y_mean_)} columns, as before (got {Y.shape[1]})"
            )
        X, Y = X - self.x_mean_, Y - self.y_mean_
        self._present(X, Y, np.arange(len(X)))
        self.t_ += len(X)
        self._check_finite()
        self._set_readout(X, Y, weight=min(1.0, 10 * len(X) / self.t_))
        return self

    def _learn(
        self, X: NDArray, Y: NDArray, stops: list[int], rng: np.random.RandomState
    ) -> Iterator[int]:
        """Learn from centred data, yielding the t of each of ``stops``, with ``Vx_`` as it is then.

        It first yields 0, once initial weights stand and what must be compiled is: learning is
        timed from there. An algorithm that has converged yields the t it has reached and returns.
        """
        if self.online:
            # Drawn before the weights: learners of the same seed see the same samples in the same
            # order.
            order = shuffled_passes(len(X), stops[-1], rng)
            self._last = stops[-1]
            self._begin(X, Y, rng)
            self._present(X, Y, order[:0])  # compiles, as an iteration up to step 0 does
            yield 0
            for start, stop in pairwise([0, *stops]):
                self._present(X, Y, order[start:stop])
                yield stop
            return
        self._begin(X, Y, np.random.RandomState(0))
        self._iterations(X[:1], Y[:1], rng)(0, 0)
        self._begin(X, Y, rng)
        yield 0
        iterate, t = self._iterations(X, Y, rng), 0
        for stop in stops:
            t, converged = iterate(t, stop)
            yield t
            if converged:
                return

    def _begin(self, X: NDArray, Y: NDArray, rng: np.random.RandomState) -> None:
        """Set the weights before the first sample or iteration; only the scale of the data may be
        read from them.
        """
        raise NotImplementedError

    def _present(self, X: NDArray, Y: NDArray, order: NDArray) -> None:
        """Learn from the samples ``order`` (n_presented,) of ``X`` and ``Y``, from ``t_`` on."""
        raise NotImplementedError

    def _iterations(self, X: NDArray, Y: NDArray, rng: np.random.RandomState) -> Iterations:
        """Return the function that iterates from step t up to another, or until it has converged;
        it returns the step that it has reached, and True if it has converged.
        """
        raise NotImplementedError

    def _passes(self, n_samples: int) -> float:
        """Return the number of passes over the data until now: one for each iteration, unless a
        subclass overrides it.
        """
        return self.t_ / n_samples if self.online else float(self.t_)

    def _total_steps(self, n_samples: int) -> int:
        if not (isinstance(self.steps, int | np.integer) and self.steps >= 1):
            raise InputError(f"steps: must be a whole number >= 1 (got {self.steps!r})")
        return int(self.steps)

    def _check_training(self, X: ArrayLike, y: ArrayLike, **options) -> tuple[NDArray, NDArray]:
        """Check the parameters too, against the data."""
        X, Y = super()._check_training(X, y, **options)
        check_k(self.k, X.shape[1], Y.shape[1])
        check_s(self.s)
        return X, Y

    def _given(self, name: str, drawn: NDArray) -> NDArray:
        """Return the weights that the parameter ``name`` gives, or else those that were
        ``drawn``.
        """
        given = getattr(self, name)
        if given is None:
            return drawn
        # Q has as many columns as there are interneurons.
        columns = np.shape(given)[-1] if name == "Q0" else drawn.shape[1]
        shape, weights = (len(drawn), columns), np.array(given, dtype=float)
        if weights.shape != shape or not np.isfinite(weights).all():
            raise InputError(
                f"{name}: must be finite, of shape {shape} (got shape {weights.shape})"
            )
        return weights

    def _check_finite(self) -> None:
        if not np.isfinite(self.Vx_).all():
            raise DivergenceError(
                f"{type(self).__name__}: must stay finite (got weights that diverged by"
                f" t = {self.t_}); lower the rates, or scale X and Y to unit variance"
            )

    def _set_readout(self, X: NDArray, Y: NDArray, weight: float = 1.0) -> None:
        """Regress Y on the filters' output, mixing the moments of these samples with earlier ones
        by ``weight``.
        """
        Z = X @ self.Vx_
        moments = np.hstack([Z.T @ Z, Z.T @ Y]) / len(X)  # (k, k + n), Czz and Czy
        self._moments: NDArray = (
            moments if weight == 1 else (1 - weight) * self._moments + weight * moments
        )
        Czz = self._moments[:, : self.k] + ridge_pair(self.ridge_)[0] * self.Vx_.T @ self.Vx_
        self.readout_ = (linalg.pinvh(Czz) @ self._moments[:, self.k :]).T


def shuffled_passes(
    n_samples: int, steps: int, rng: np.random.RandomState | np.random.Generator
) -> NDArray:
    """Return the sample of each step, (steps,): shuffled passes through the data, the last one cut
    short.
    """
    passes = [rng.permutation(n_samples) for _ in range(-(-steps // n_samples))]
    return np.concatenate(passes)[:steps]


def _stops(snapshots: int | Sequence[int], total: int) -> NDArray:
    """When to keep the filters, ascending: ``snapshots`` times evenly in log time, or at those
    given; always the end.

    Examples
    --------
    >>> _stops(4, 1000).tolist(), _stops([0, 500], 1000).tolist()
    ([1, 10, 100, 1000], [0, 500, 1000])
    """
    if np.ndim(snapshots) == 0:
        if not (isinstance(snapshots, int | np.integer) and snapshots >= 1):
            raise InputError(
                f"snapshots: must be a whole number >= 1, or the t of each (got {snapshots!r})"
            )
        return (
            np.unique(np.geomspace(1, total, snapshots).round().astype(int))
            if snapshots > 1
            else np.array([total])
        )
    stops = np.unique([*np.asarray(snapshots), total])
    if stops.dtype.kind not in "iu" or stops[0] < 0 or stops[-1] > total:
        raise InputError(
            f"snapshots: must be whole numbers from 0 to steps = {total} (got {snapshots!r})"
        )
    return stops


def initial_weights(
    shape: tuple[int, int, int], start: tuple[float, float, float], rng: np.random.RandomState
) -> tuple[NDArray, NDArray, NDArray]:
    """Draw Vx (m, k) and Vy (n, k); return them and Q (k, k).

    Parameters
    ----------
    shape
        m, n and k.
    start
        Standard deviations of Vx and of Vy, and the diagonal of Q.
    rng
        Draws them.
    """
    (m, n, k), (size_x, size_y, size_q) = shape, start
    Vx, Vy = size_x * rng.standard_normal((m, k)), size_y * rng.standard_normal((n, k))
    return Vx, Vy, size_q * np.eye(k)

"""Controls of a prediction between areas, and the number of dimensions that a population shares.

Controls are matched targets, shuffled trials, lags and removed dimensions. Shared dimensions are
found by factor analysis, as in Williamson et al. (2016), PLoS Comput Biol 12: the number of factors
is that with the highest held-out likelihood; the dimensionality is how many of its shared
dimensions are needed for 95 % of the shared variance. Semedo et al. (2019) compare predictive
dimensions with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize

from biorrr.analysis.communication.moments import FoldMoments, predict_held_out, solution
from biorrr.analysis.regression.rank import Prediction
from biorrr.errors import InputError

HALVINGS = 12  # of the interval in which the amplitude of the added noise lies
MOST_NOISE = 64.0  # relative to the deviation of a unit: nothing is predicted beyond
# Share of draws that must agree on fewer dimensions, and share that must have a signal to match.
AGREE, MATCHED = 0.9, 0.5
NEAREST = 5  # of the units not yet taken, those nearest in rate, of which one is drawn


class MatchedUnits(NamedTuple):
    """One draw of a within-area control; all are numbers of units.

    Attributes
    ----------
    source : (m - n,)
        Units of the source area that predict both targets.
    within : (n,)
        Units of the source area that are predicted.
    across : (n,)
        As many units of the target area.
    """

    source: NDArray
    within: NDArray
    across: NDArray


def matched_units(
    source_rates: ArrayLike, target_rates: ArrayLike, rng: np.random.Generator, matched: bool = True
) -> MatchedUnits:
    """Draw units of the source area that are as many as those of the target area and fire alike
    (Semedo et al. 2019).

    At most half of the source area's units become targets; where the target area has more, as many
    of its units are drawn.

    Parameters
    ----------
    source_rates, target_rates : (m,), (n,)
        Mean rates.
    rng
        Of the draw. Each unit of the target area, in random order, takes one of the five units
        nearest in log rate.
    matched
        False where rates mean nothing, as in z-scored data: units are drawn at random.
    """
    source_rates, target_rates = np.asarray(source_rates, float), np.asarray(target_rates, float)
    m, n = len(source_rates), min(len(target_rates), len(source_rates) // 2)
    if n < 1:
        raise InputError(
            f"source: must have at least two units for a within-area control (got {m})"
        )
    across = np.sort(rng.permutation(len(target_rates))[:n])
    free = np.ones(m, dtype=bool)
    logs = np.log(np.maximum(source_rates, 1e-9)), np.log(np.maximum(target_rates, 1e-9))
    for unit in rng.permutation(across):
        left = np.flatnonzero(free)
        if matched:
            left = left[np.argsort(np.abs(logs[0][left] - logs[1][unit]), kind="stable")[:NEAREST]]
        free[rng.choice(left)] = False
    return MatchedUnits(np.flatnonzero(free), np.flatnonzero(~free), across)


def equal_signals(
    moments: FoldMoments,
    source: NDArray,
    targets: Mapping[str, NDArray],
    noise: NDArray,
    *,
    s: float = 0.0,
    ridge: float = 0.0,
) -> dict[str, Prediction] | None:
    """Predict two targets after noise has made the better predicted one as hard to predict.

    Weak dimensions drown in noise, so that a noisier target seems to have fewer. Independent
    noise, in proportion to each unit's deviation, is added to the target whose full regression
    has the higher held-out R2, until both have the same.

    Parameters
    ----------
    source : (m,)
        Channels that predict.
    targets : (n,), (n,)
        Channels of each of the two targets, by name.
    noise : (n,)
        Channels of noise; see :meth:`FoldMoments.of`.

    Returns
    -------
    The prediction of each target, by name; None if one is not predicted at all (R2 <= 0), so that
    it has no signal to match.
    """

    def predict(target: NDArray, relative: float = 0.0) -> Prediction:
        noisier = moments.with_noise(target, noise, relative) if relative else moments
        return predict_held_out(noisier, source, target, s=s, ridge=ridge)

    found = {name: predict(target) for name, target in targets.items()}
    worse, better = sorted(found, key=lambda name: found[name].r2[-1])
    goal = found[worse].r2[-1]
    if goal <= 0:
        return None
    low, high = 0.0, 1.0
    while predict(targets[better], high).r2[-1] > goal and high < MOST_NOISE:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if predict(targets[better], middle).r2[-1] > goal:
            low = middle
        else:
            high = middle
    return found | {better: predict(targets[better], low)}


def fewer_dimensions(within: ArrayLike, across: ArrayLike) -> str:
    """Answer whether fewer dimensions predict the other area than the same area, at equal signals.

    Parameters
    ----------
    within, across : (draws,)
        Ranks of each matched draw; NaN where signals could not be made equal.

    Examples
    --------
    >>> fewer_dimensions([4, 4, 5, np.nan], [2, 2, 3, np.nan])
    'yes, in 100% of the draws at equal R2'
    """
    within, across = np.asarray(within, float), np.asarray(across, float)
    matched = np.isfinite(within)
    if matched.mean() < MATCHED:
        return "withheld: signals cannot be made equal"
    fewer = float((across < within)[matched].mean())
    return f"{'yes' if fewer >= AGREE else 'not shown'}, in {fewer:.0%} of the draws at equal R2"


def shuffled_trials(
    trials: ArrayLike, rng: np.random.Generator, conditions: ArrayLike | None = None
) -> NDArray:
    """Return rows (n_samples,) in which whole trials are shuffled, within their condition if there
    are ``conditions``.

    Taken for the target alone, they leave each area as it is and break what the areas share within
    a trial. Time bins keep their place.

    Examples
    --------
    >>> shuffled_trials([0, 0, 1, 1, 2, 2], np.random.default_rng(0))
    array([4, 5, 0, 1, 2, 3])
    """
    trials = np.asarray(trials)
    conditions = np.zeros(len(trials)) if conditions is None else conditions
    _, first, place, length = np.unique(
        trials, return_index=True, return_inverse=True, return_counts=True
    )
    rows = np.split(np.argsort(place, kind="stable"), np.cumsum(length)[:-1])  # of each trial
    kinds = np.column_stack([length, np.unique(conditions, return_inverse=True)[1][first]])
    kind = np.unique(kinds, axis=0, return_inverse=True)[1].ravel()
    order = np.empty(len(trials), dtype=int)
    for one in np.unique(kind):
        members = np.flatnonzero(kind == one)
        for here, there in zip(members, rng.permutation(members), strict=True):
            order[rows[here]] = rows[there]
    return order


def lagged(bins: int, lag: int, most: int) -> tuple[slice, slice]:
    """Return the time bins of source and target, of ``bins`` in a trial, with the target ``lag``
    bins later.

    The source's bins are those that have a partner at every lag up to ``most`` either way: lags are
    compared on the same activity.

    Examples
    --------
    >>> lagged(bins=10, lag=1, most=2)
    (slice(2, 8, None), slice(3, 9, None))
    """
    if bins <= 2 * most:
        raise InputError(
            f"lags: must be fewer than half of the {bins} bins in a trial, either way (got {most})"
        )
    return slice(most, bins - most), slice(most + lag, bins - most + lag)


def removed_dimensions(
    moments: FoldMoments,
    source: NDArray,
    target: NDArray,
    most: int,
    *,
    s: float = 0.0,
    ridge: float = 0.0,
) -> Prediction:
    """Return the full regression of the target with its predictive dimensions removed from the
    source.

    In each fold the filters that predict the target are found from training trials, and what is
    correlated with the first 0, 1, ..., ``most`` of them is taken out of the source: x - (Cxx +
    ridge I) Vx Vx'x. The result has these numbers in place of ranks.
    """
    m = len(source)
    errors, deviations = [], []
    for C, held_out in moments.splits([*source, *target]):
        Vx, Cxx = solution(C, m, s, ridge).Vx(most), C[:m, :m] + ridge * np.eye(m)
        of_fold = []
        for gone in range(most + 1):
            keep = np.eye(m) - Vx[:, :gone] @ (Vx[:, :gone].T @ Cxx)  # x becomes keep'x
            weights = linalg.lstsq(
                keep.T @ C[:m, :m] @ keep + ridge * np.eye(m), keep.T @ C[:m, m:]
            )[0]
            weights = keep @ weights
            of_fold.append(
                np.trace(held_out[m:, m:])
                - 2 * np.sum(weights * held_out[:m, m:])
                + np.sum(weights * (held_out[:m, :m] @ weights))
            )
        errors.append(of_fold)
        deviations.append(np.trace(held_out[m:, m:]))
    return Prediction(np.array(errors), np.array(deviations))


SHARED = 0.95  # of the shared variance
PATIENCE = (
    3  # numbers of factors in a row without a better likelihood, after which no more are tried
)


def shared_dimensionality(moments: FoldMoments, channels: ArrayLike) -> int:
    """Return how many dimensions hold 95 % of what the channels share, by cross-validation over the
    folds.
    """
    channels = np.asarray(channels, dtype=int)
    sides = [
        (moments.training(fold, channels), moments.held_out(fold, channels))
        for fold in moments.folds
    ]
    scores: list[float] = []
    private: list[NDArray | None] = [None] * len(sides)
    # Beyond this number of factors the model has more parameters than the covariance has numbers
    # (Ledermann's bound).
    most = int(len(channels) + 0.5 - np.sqrt(2 * len(channels) + 0.25))
    for factors in range(max(most, 0) + 1):
        total = samples = 0.0
        for fold, ((training, n), (held_out, held)) in enumerate(sides):
            loadings, own = fit_factors(training / n, factors, private[fold])
            private[fold] = own
            total += held * log_likelihood(held_out / held, loadings @ loadings.T + np.diag(own))
            samples += held
        scores.append(total / samples)
        if factors - int(np.argmax(scores)) >= PATIENCE:
            break
    factors = int(np.argmax(scores))
    if not factors:
        return 0
    products, n = moments.training(None, channels)
    variances = linalg.svdvals(fit_factors(products / n, factors)[0]) ** 2
    return 1 + int(
        np.argmax(np.cumsum(variances) >= SHARED * variances.sum())
    )  # the first at which it is reached


def fit_factors(
    covariance: NDArray, factors: int, start: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """Return loadings (p, factors) and private variances (p,) of a covariance (p, p), by maximum
    likelihood.

    The likelihood is maximised over the private variances, for which the best loadings are known
    (Joreskog 1967). ``start`` (p,) are private variances to begin from.
    """
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    p = len(scale)
    if not factors:
        return np.zeros((p, 0)), scale**2
    begin = 1 / np.diag(linalg.pinvh(correlation)) if start is None else start / scale**2

    def parts(private: NDArray) -> tuple[NDArray, NDArray]:
        """Return the eigenvalues of the correlation in units of private variance, and loadings."""
        root = np.sqrt(private)
        values, axes = linalg.eigh(correlation / np.outer(root, root))
        top = axes[:, -factors:] * np.sqrt(np.maximum(values[-factors:] - 1, 0))
        return values, root[:, None] * top

    def misfit(private: NDArray) -> tuple[float, NDArray]:
        values, loadings = parts(private)
        rest = values[:-factors]
        residual = (
            np.square(loadings).sum(axis=1) + private - 1
        )  # diagonal of the model minus that of the data
        return float(np.sum(rest - np.log(np.maximum(rest, 1e-300)) - 1)), residual / private**2

    found = optimize.minimize(
        misfit,
        np.clip(begin, 0.005, 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.005, 1)] * p,
        options={"maxiter": 200, "ftol": 1e-9},
    )
    return scale[:, None] * parts(found.x)[1], scale**2 * found.x


def log_likelihood(covariance: NDArray, model: NDArray) -> float:
    """Return the mean log-likelihood of centred samples with a ``covariance`` (p, p) under a
    Gaussian ``model``.
    """
    factor = linalg.cho_factor(model)
    determinant = 2 * np.log(np.diag(factor[0])).sum()
    return -0.5 * float(
        len(model) * np.log(2 * np.pi)
        + determinant
        + np.trace(linalg.cho_solve(factor, covariance))
    )

"""Number of dimensions that a population shares: factor analysis, as in Williamson et al. (2016),
PLoS Comput Biol 12.

The number of factors is that with the highest held-out likelihood; the dimensionality is how many
of its shared dimensions are needed for 95 % of the shared variance. Semedo et al. (2019) compare
predictive dimensions with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize

from biorrr.analysis.communication.moments import FoldMoments

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

"""Checks of arguments: each returns its argument or raises."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError
from biorrr.hints import did_you_transpose
from biorrr.models.rates import Rates

Ridge = float | tuple[float, float]


def ridge_pair(ridge: Ridge) -> tuple[float, float]:
    """Return ``ridge`` as (ridge_x, ridge_y)."""
    try:
        pair = np.broadcast_to(np.array(ridge, dtype=float), (2,))
    except (TypeError, ValueError):
        pair = np.array([np.nan])
    if isinstance(ridge, str) or not (np.isfinite(pair).all() and (pair >= 0).all()):
        raise InputError(
            f"ridge: must be a number >= 0, or a pair of them for Cxx and Cyy (got {ridge!r})"
        )
    return float(pair[0]), float(pair[1])


def check_s(s: float) -> float:
    """Return ``s``, if it names a member of the family between RRMSE and CCA."""
    if not 0 <= s <= 1:
        raise InputError(f"s: must lie in [0, 1] (got {s}); 0 is RRMSE, 1 is CCA")
    return s


def check_k(k: int, m: int, n: int) -> int:
    """Return ``k``, if data of m inputs and n responses can have that rank."""
    if not (isinstance(k, int | np.integer) and 1 <= k <= min(m, n)):
        raise InputError(
            f"k: must be a whole number from 1 to min(m, n) = {min(m, n)} (got {k!r}); "
            f"X has m = {m} columns and Y has n = {n}"
        )
    return int(k)


def given_rates(rates: Rates | str) -> Rates | None:
    """Return ``rates``, or None if they are to follow the data, ``"auto"``."""
    if isinstance(rates, Rates):
        return rates
    if not (isinstance(rates, str) and rates == "auto"):
        raise InputError(
            f'rates: must be a Rates or "auto" (got {rates!r}); write Rates(x=Rate(eta0, N), ...)'
        )
    return None


def unmasked(name: str, values: ArrayLike) -> ArrayLike:
    """Return ``values``, unless some are masked: no estimator or metric would heed the mask."""
    if np.ma.is_masked(values):
        raise InputError(
            f"{name}: must have no masked values, which would count as data (got"
            f" {np.ma.count_masked(values)}); drop or fill them first"
        )
    return values


def as_floats(name: str, values: ArrayLike) -> NDArray:
    """Return ``values`` as a float array, if none of them are masked."""
    return np.asarray(unmasked(name, values), dtype=float)


def check_pair(X: ArrayLike, Y: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return ``X`` (n_samples, m) and ``Y`` (n_samples, n) as float arrays, if they are that."""
    X, Y = as_floats("X", X), as_floats("Y", Y)
    for name, A in (("X", X), ("Y", Y)):
        if A.ndim != 2 or not A.size:
            raise InputError(
                f"{name}: must be two-dimensional, samples by channels, and not empty (got shape"
                f" {A.shape}); one channel is {name}.reshape(-1, 1)"
            )
        if not np.isfinite(A).all():
            raise InputError(
                f"{name}: must be finite (got {np.count_nonzero(~np.isfinite(A))} NaN or infinite"
                " values)"
            )
    if len(X) != len(Y):
        raise InputError(
            f"Y: must have a row for each of the {len(X)} rows of X (got {len(Y)})"
            f"{did_you_transpose(X.shape, Y.shape)}"
        )
    return X, Y

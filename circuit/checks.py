"""Checks of what a person hands to a circuit, each with an error that says what to do."""

from __future__ import annotations

import warnings

import numpy as np

from biorrr.circuit.statistics import chunks


def check_data(name: str, values) -> np.ndarray:
    """``values`` as a two-dimensional array of finite numbers; memory maps are not copied."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.dtype == object or array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: must hold real numbers (got an array of {array.dtype}); convert it to float first")
    if array.ndim != 2:
        raise ValueError(
            f"{name}: must be two-dimensional, (samples, features) (got shape {array.shape}); "
            f"a single feature is {name}.reshape(-1, 1)"
        )
    if 0 in array.shape:
        raise ValueError(f"{name}: must have at least one sample and one feature (got shape {array.shape})")
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    for rows in chunks(array):
        bad = ~np.isfinite(rows)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise ValueError(
                f"{name}: must be finite (got {rows[row, column]} among the values of feature {column}); "
                "drop or fill in such samples first"
            )
    return array


def warn_of_columns(name: str, mean: np.ndarray, variance: np.ndarray, centred: bool) -> None:
    """Warn of columns that say nothing, and of means that would be learned in place of the rest."""
    constant = np.flatnonzero(variance <= 1e-24 * (mean**2 + variance.max()))
    if len(constant):
        which = ", ".join(map(str, constant[:5])) + (", ..." if len(constant) > 5 else "")
        warnings.warn(
            f"{name}: {len(constant)} of {len(mean)} columns are constant ({which}); they carry no information",
            stacklevel=4,
        )
    if not centred and np.sqrt((mean**2).mean()) > 0.1 * np.sqrt(variance.mean()):
        warnings.warn(
            f"{name}: its mean is large beside its spread; the theory is for centred data: "
            f"subtract the mean, or run with centre=True",
            stacklevel=4,
        )


def check_order(order, n_samples: int) -> str | np.ndarray:
    """``order`` as "shuffle", "sequential" or an index array within the data."""
    if isinstance(order, str):
        if order not in ("shuffle", "sequential"):
            raise ValueError(f"order: must be 'shuffle', 'sequential' or an index array (got {order!r})")
        return order
    index = np.asarray(order)
    if index.ndim != 1 or index.dtype.kind not in "iu" or not len(index):
        raise ValueError(
            "order: an index array must be one-dimensional whole numbers, at least one "
            f"(got {index.dtype} of shape {index.shape})"
        )
    if index.min() < 0 or index.max() >= n_samples:
        raise ValueError(
            f"order: must lie in [0, {n_samples - 1}], the rows of the data (got {index.min()} to {index.max()})"
        )
    return index.astype(np.int64)


def check_weights(name: str, values, shape: tuple[int, int]) -> np.ndarray:
    """``values`` as a finite matrix of ``shape``."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != shape:
        raise ValueError(f"{name}: must have shape {shape} (got {matrix.shape})")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name}: must be finite")
    return matrix.copy()

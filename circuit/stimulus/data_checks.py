"""Checks of data and arguments, each with an error that says what to do."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from biorrr.circuit.compile.blueprint import Timing
from biorrr.errors import InputError, InputTypeError, RunError
from biorrr.models import LateInstruction


def warn(text: str) -> None:
    """Warn of ``text`` at the line outside biorrr that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("biorrr."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def mapping(name: str, values) -> Mapping[str, Any]:
    """Return ``values``, if they are given by name; None stands for none."""
    if not isinstance(values, Mapping | None):
        raise InputTypeError(f"{name}: must be a dict of values by name (got {values!r})")
    return values or {}


def check_table(name: str, values) -> np.ndarray:
    """Return ``values`` as a two-dimensional array of numbers, without reading them; memory maps
    are not copied.
    """
    if isinstance(values, Iterator):
        raise InputTypeError(
            f"{name}: must be an array (got a {type(values).__name__}); to learn from a stream,"
            " give MicrocircuitRegressor(...).partial_fit(X, Y) one chunk after another"
        )
    if values is None:
        raise InputTypeError(f"{name}: must be an array, (samples, features) (got none)")
    refuse_units(name, values)
    if np.ma.is_masked(values):
        raise InputError(
            f"{name}: has masked values, which would be learned as if they were data; drop or fill"
            " them in"
        )
    array = values if type(values) in (np.ndarray, np.memmap) else as_array(name, values)
    if array.dtype == object or array.dtype.kind not in "fiub":
        raise InputTypeError(
            f"{name}: must hold real numbers (got an array of {array.dtype}); convert it to float"
            " first"
        )
    if array.ndim != 2:
        raise InputError(
            f"{name}: must be two-dimensional, (samples, features) (got shape {array.shape}); "
            f"a single feature is {name}.reshape(-1, 1)"
        )
    if 0 in array.shape:
        raise InputError(
            f"{name}: must have at least one sample and one feature (got shape {array.shape})"
        )
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def as_array(name: str, values, dtype: type | None = None) -> np.ndarray:
    """Return ``values`` as an array, of ``dtype`` if given."""
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"{name}: must be an array of numbers (got {values!r:.80}: {error})"
        ) from None


def file_facts(values: np.ndarray) -> tuple[int, int] | None:
    """Return size and time of the file that a memory map is of; None where there is none (any
    more: the data are still there for those who have them open).
    """
    with suppress(AttributeError, TypeError, OSError):
        facts = os.stat(values.filename)  # type: ignore[attr-defined]  # memory maps have one
        return facts.st_size, facts.st_mtime_ns
    return None


def check_unchanged(feeds) -> None:
    """Raise where a file that data are read from has changed since the run began."""
    for feed in feeds.values():
        if file_facts(feed.values) not in (feed.file, None):
            raise RunError(
                f"{feed.values.filename}: the file changed while the run was reading it; nothing"
                " of this run can be relied on, so run it again with a file that stays as it is"
            )


def refuse_units(name: str, values) -> None:
    """Refuse numbers with a physical unit: they mean something else in another unit, and it cannot
    be guessed.
    """
    marks = (
        getattr(values, mark, None) for mark in ("dim", "units", "unit")
    )  # the first is Brian2's
    unit = next((found for found in marks if found is not None and not callable(found)), None)
    if unit is not None and not getattr(unit, "is_dimensionless", False):
        raise InputTypeError(
            f"{name}: carries a physical unit ({unit}), and a circuit learns from plain numbers;"
            f" divide by the unit you want it in first, for example {name} / mV"
        )


def check_memory(name: str, need: float, remedy: str) -> None:
    """Refuse what would take more bytes than are free."""
    import psutil

    room = psutil.virtual_memory().available
    if need > room:
        raise InputError(
            f"{name}: would take {need / 1e9:.1f} GB of memory, and {room / 1e9:.1f} GB are free;"
            f" {remedy}"
        )


def warn_of_columns(
    name: str, mean: np.ndarray, variance: np.ndarray, samples: int, centred: bool
) -> None:
    """Warn of constant columns, and of means that would be learned in place of the rest.

    Columns that are always zero are silent inputs, such as the corners of pictures; they need no
    warning.
    """
    if samples < 2:  # says nothing about means
        return
    constant = np.flatnonzero((variance <= 1e-24 * (mean**2 + variance.max())) & (mean != 0))
    if len(constant):
        which = ", ".join(map(str, constant[:5])) + (", ..." if len(constant) > 5 else "")
        warn(
            f"{name}: {len(constant)} of {len(mean)} columns are constant ({which}); they carry no"
            " information"
        )
    # Beyond a tenth of the spread, and beyond three standard errors of the mean.
    least = max(0.1**2, 3**2 / samples) * variance.mean()
    if not centred and (mean**2).mean() > least:
        warn(
            f"{name}: its mean is large beside its spread; the theory is for centred data: "
            "subtract the mean, or run with centre=True"
        )


def check_order(order, n_samples: int, signal_in_time: bool) -> str | np.ndarray:
    """Return ``order`` as "shuffle", "sequential" or an index array within the data.

    None stands for "shuffle", or for "sequential" where an input is a signal in time.
    """
    if order is None:
        return "sequential" if signal_in_time else "shuffle"
    if isinstance(order, str):
        if order not in ("shuffle", "sequential"):
            raise InputError(
                f"order: must be 'shuffle', 'sequential' or an index array (got {order!r})"
            )
        return order
    index = as_array("order", order)
    if index.ndim != 1 or index.dtype.kind not in "iu" or not len(index):
        raise InputError(
            "order: an index array must be one-dimensional whole numbers, at least one "
            f"(got {index.dtype} of shape {index.shape})"
        )
    if index.min() < 0 or index.max() >= n_samples:
        raise InputError(
            f"order: must lie in [0, {n_samples - 1}], the rows of the data (got {index.min()} to"
            f" {index.max()})"
        )
    return index.astype(np.int64)


def warn_of_shuffling(order, departures, timing: Timing) -> None:
    """Warn where samples come in random order and a rule looks back at earlier ones, which say
    nothing about them.
    """
    shuffled = isinstance(order, str) and order == "shuffle"
    late = any(isinstance(departure, LateInstruction) for departure in departures)
    for departure in departures:
        if shuffled and not late and departure.memory > 1000 * timing.window:
            warn(
                "order: 'shuffle' presents samples in random order, in which the traces of"
                f" {departure!r} have no meaning; give order='sequential', or traces that are"
                " shorter than a sample is held"
            )


def warn_of_rank(k: int, views: Mapping[str, np.ndarray]) -> None:
    """Warn where rows of X or Y, by name, each (rows, features), span fewer than ``k``
    directions.
    """
    for name, rows in views.items():
        # A few random directions have the rank of the whole, up to their number.
        mixed = rows @ np.random.default_rng(0).standard_normal((rows.shape[1], k + 4))
        rank = int(np.linalg.matrix_rank(mixed)) if mixed.any() else 0
        if rank < k < len(rows):
            warn(
                f"{name}: its rank is {rank}, below k = {k}; some pyramidal neurons have nothing to"
                f" learn, and what they converge to has no meaning: reduce k to {max(rank, 1)}"
            )


def check_weights(name: str, values, shape: tuple[int, int]) -> np.ndarray:
    """Return ``values`` as a finite matrix of ``shape``."""
    matrix = as_array(name, values, np.float64)
    if matrix.shape != shape:
        raise InputError(f"{name}: must have shape {shape} (got {matrix.shape})")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name}: must be finite")
    return matrix.copy()

"""Values as the page's data hold them: JSON that every browser reads, and that tells nothing of the user's machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

DIGITS = 5  # significant


def plain(values: Any) -> Any:
    """Return nested lists with few digits, None for what is not finite."""
    array = np.asarray(values)
    if array.dtype.kind not in "fc":
        return array.tolist()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        magnitude = np.where(array == 0, 1.0, 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(array)))))
        rounded = np.round(array * magnitude) / magnitude
    nested = np.array(rounded, dtype=object)
    nested[~np.isfinite(rounded)] = None
    return nested.tolist()


def without_home(value: Any) -> Any:
    """Return ``value`` with the home folder as ~ in every text: settings and reasons may hold paths."""
    if isinstance(value, str):
        return value.replace(f"{Path.home()}/", "~/")
    if isinstance(value, dict):
        return {without_home(name): without_home(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_home(inner) for inner in value]
    return value

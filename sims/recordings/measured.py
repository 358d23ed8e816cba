"""Measurements that are not samples of X and Y: somas with dendrites, or distal plasticity."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from biorrr.sims.data.dataset import LARGEST
from biorrr.sims.data.values import DataError
from biorrr.sims.words import printable


def checked_numbers(
    file: str, name: str, values: np.ndarray, *ndim: int, nan: bool = False
) -> np.ndarray:
    """Return ``values`` as floats of one of the numbers of dimensions given, whose squares are
    finite.

    With ``nan``, values that were not measured may be NaN.
    """
    values = np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise DataError(f"{file}: {name} must be real numbers (got {printable(values.dtype)})")
    if values.ndim not in ndim or 0 in values.shape:
        wanted = " or ".join(
            ("one number", "one axis", "two axes", "three axes")[one] for one in ndim
        )
        raise DataError(
            f"{file}: {name} must have {wanted}, and not be empty (got shape {values.shape})"
        )
    values = values.astype(float)
    good = np.abs(values) <= LARGEST
    if not (good | np.isnan(values) if nan else good).all():
        raise DataError(
            f"{file}: {name} must be finite numbers within {LARGEST:g} of 0; leave out what was not"
            " recorded"
        )
    return values


@dataclass(frozen=True, eq=False)
class Measured:
    """A recording as it is loaded.

    Parameters
    ----------
    name
        Name that the user gave.
    recording
        Arrays and numbers by name, a dataclass or a named tuple: what the analysis takes.
    used
        Choices made in the file, by name, for the summary.
    """

    name: str
    recording: Any
    used: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def checksum(self) -> str:
        """Sha256 of all numbers."""
        held = self.recording
        parts = vars(held) if dataclasses.is_dataclass(held) else held._asdict()
        digest = hashlib.sha256()
        for name, values in parts.items():
            digest.update(f"{name} {np.shape(values)}".encode())
            digest.update(b"" if values is None else np.ascontiguousarray(values).data)
        return digest.hexdigest()

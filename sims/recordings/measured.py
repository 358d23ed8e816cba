"""Measurements that are not samples of X and Y: somas with dendrites, or distal plasticity."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Measured:
    """A recording as it is loaded.

    Parameters
    ----------
    name
        What the user called it.
    recording
        Arrays and numbers by name, a dataclass or a named tuple: what the analysis takes.
    used
        What was chosen in the file, by name. It belongs into the summary.
    notes
        What was left out or guessed, in words.
    """

    name: str
    recording: Any
    used: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def checksum(self) -> str:
        """Sha256 of all numbers."""
        held = self.recording
        parts = (
            {one.name: getattr(held, one.name) for one in dataclasses.fields(held)}
            if dataclasses.is_dataclass(held)
            else held._asdict()
        )
        digest = hashlib.sha256()
        for name, values in parts.items():
            digest.update(f"{name} {np.shape(values)}".encode())
            digest.update(b"" if values is None else np.ascontiguousarray(values).data)
        return digest.hexdigest()

"""The paper's claims, each with whether it holds here and the numbers behind the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, checked.

    Parameters
    ----------
    text
        What the paper says.
    holds
        Whether it holds in this run.
    numbers
        What the answer rests on: text and plain numbers.
    """

    text: str
    holds: bool
    numbers: Mapping[str, float | int | str]

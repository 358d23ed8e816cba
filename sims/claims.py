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


def print_claims(claims: list[Claim]) -> None:
    """Print each claim with its answer."""
    print("the paper's claims")
    for claim in claims:
        behind = ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in claim.numbers.items())
        print(f"  {'holds' if claim.holds else 'DOES NOT HOLD'}: {claim.text} ({behind})")

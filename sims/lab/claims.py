"""Claims of the paper, each as a number with bounds that were fixed beforehand, and the verdict that follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from biorrr.sims.lab.quantities import Quantity, readable

HOLDS, FAILS, NOT_JUDGED, NOT_TESTABLE = "holds", "does not hold", "not judged", "not testable here"
QUICK = "a --quick run is a first look: it has not converged"


def without_verdicts(claims: Sequence[Claim], why: str) -> list[Claim]:
    """``claims`` as they are if ``why`` is empty, and otherwise not judged, for that reason."""
    return [replace(claim, unjudged=claim.unjudged or why) for claim in claims]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of the paper: it holds if ``low <= value <= high``.

    Parameters
    ----------
    text
        What the paper says, in its terms.
    place
        Where it says so: section, figure or equation by name.
    run
        What was run to check it.
    value
        The number on which the verdict rests; None where nothing can be measured. What is not a number is in no bounds.
    spread
        Standard deviation of ``value`` over seeds, where it is a mean over seeds.
    low, high
        Bounds, fixed before looking at the value; infinite on a side that the claim leaves open.
    unit
        Of value, spread and bounds: ``"%"`` shows a fraction in percent.
    numbers
        What else the answer rests on: text and plain numbers.
    unjudged
        Why there is no verdict, where there can be none: a run that has not converged can only say so.
    untestable
        Why the claim cannot be tested here at all.

    Examples
    --------
    >>> claim = Claim(text="the circuit comes near the optimum", value=0.012, spread=0.003, high=0.05, unit="%")
    >>> claim.verdict, claim.measured, claim.bounds
    ('holds', '1.2 ± 0.3 %', 'at most 5 %')
    """

    text: str
    value: float | None = None
    place: str = ""
    run: str = ""
    spread: float | None = None
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
    unjudged: str = ""
    untestable: str = ""

    def __post_init__(self) -> None:
        if self.untestable:
            return
        if self.value is None:
            raise ValueError(f"Claim {self.text!r}: must have a value, unless it says why it is untestable")
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueError(f"Claim {self.text!r}: must have a bound, low or high: otherwise it cannot fail")

    @classmethod
    def about(cls, quantity: Quantity, text: str, **more: Any) -> Claim:
        """Make the claim that a quantity lies within its bound; ``more`` are further fields."""
        low, high = quantity.bound or (-math.inf, math.inf)
        known: dict[str, Any] = {"text": text, "low": low, "high": high, "unit": quantity.unit}
        known |= {"value": quantity.value, "spread": quantity.spread}
        return cls(**known | more)

    @property
    def verdict(self) -> str:
        """``"holds"``, ``"does not hold"``, ``"not judged"`` or ``"not testable here"``."""
        if self.value is None:
            return NOT_TESTABLE
        if self.unjudged:
            return NOT_JUDGED
        return HOLDS if self.low <= self.value <= self.high else FAILS

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds; None where there is no verdict."""
        return {HOLDS: True, FAILS: False}.get(self.verdict)

    @property
    def measured(self) -> str:
        """The value, its spread and its unit, as people read them."""
        return "" if self.value is None else readable(self.value, self.unit, self.spread, digits=3)

    @property
    def bounds(self) -> str:
        """The bounds, in words."""
        low, high = (readable(bound, self.unit, digits=3) for bound in (self.low, self.high))
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"exactly {low}" if self.low == self.high else f"from {low} to {high}"
        return f"at least {low}" if math.isfinite(self.low) else f"at most {high}" if math.isfinite(self.high) else ""

    def record(self) -> dict[str, Any]:
        """For summary.json: the claim, whether it holds (null where there is no verdict), and all numbers behind it."""
        said = {"place": self.place, "run": self.run, "unit": self.unit}
        said |= {"reason": self.untestable or self.unjudged}
        bounds = {"low": self.low, "high": self.high}
        return (
            {"claim": self.text, "holds": self.holds, "verdict": self.verdict, "value": self.value}
            | ({} if self.spread is None else {"spread": self.spread})
            | {name: bound for name, bound in bounds.items() if math.isfinite(bound)}
            | {name: text for name, text in said.items() if text}
            | dict(self.numbers)
        )

"""Claims of the paper, each as a number with bounds that were fixed beforehand, and the verdict
that follows.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from biorrr.errors import InputError
from biorrr.sims.lab.findings import PERCENT, Quantity, plain, readable

HOLDS, FAILS, NOT_JUDGED, NOT_TESTABLE = "holds", "does not hold", "not judged", "not testable here"
BETTER, UNDECIDED, OTHER_SETTING = "better than claimed", "undecided", "other setting"
# In the entry of summary.json, where they are known.
RECORDED = ("s", "k", "spread", "low", "high", "place", "run", "unit", "data", "case", "reason")


def median_interval(values: Any) -> tuple[float, float]:
    """Return the 95 % confidence interval of the median from order statistics; up to five values
    give their range.

    Examples
    --------
    >>> median_interval(range(1, 21)), median_interval([3.0, 1.0, 2.0])
    ((6.0, 15.0), (1.0, 3.0))
    """
    from scipy.stats import binom

    ordered = sorted(float(value) for value in values)
    outside = max(int(binom.ppf(0.025, len(ordered), 0.5)) - 1, 0)
    return ordered[outside], ordered[-1 - outside]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of the paper: it holds if ``low <= value <= high``.

    Parameters
    ----------
    text
        What the paper says, in its terms.
    place
        Where it says so: section, figure or equation by name.
    data, s, k, case
        The case to which the value belongs: data set, member of the family, rank, and anything else
        in words.
    run
        What was run to check it.
    value
        The number on which the verdict rests; None where nothing can be measured. What is not a
        number is in no bounds.
    spread
        Standard deviation of ``value`` over seeds, where it is a mean over seeds.
    interval
        Confidence interval of ``value``, where it is a median over seeds. The claim is undecided if
        a bound lies in it.
    low, high
        Bounds, fixed before looking at the value; infinite on a side that the claim leaves open.
    better
        ``"below"`` or ``"above"``: the side on which a value out of bounds is better than claimed.
    unit
        Of value, spread and bounds: ``"%"`` shows a fraction in percent.
    numbers
        What else the answer rests on: text and plain numbers.
    unjudged
        Why there is no verdict, where there can be none: a run that has not converged can only say
        so.
    setting
        Why the claim has no verdict here: data or settings differ from the paper's in a way that
        decides it.
    untestable
        Why the claim cannot be tested here at all.

    Examples
    --------
    >>> text = "the circuit comes near the optimum"
    >>> claim = Claim(text=text, value=0.012, spread=0.003, high=0.05, unit="%")
    >>> claim.verdict, claim.measured, claim.bounds
    ('holds', '1.2 ± 0.3 %', 'at most 5 %')
    """

    text: str
    value: float | None = None
    place: str = ""
    run: str = ""
    data: str = ""
    s: float | None = None
    k: int | None = None
    case: str = ""
    spread: float | None = None
    interval: tuple[float, float] | None = None
    low: float = -math.inf
    high: float = math.inf
    better: str = ""
    unit: str = ""
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
    unjudged: str = ""
    setting: str = ""
    untestable: str = ""

    def __post_init__(self) -> None:
        if self.untestable:
            return
        if self.value is None:
            raise InputError(
                f"Claim {self.text!r}: must have a value, unless it says why it is untestable"
            )
        if math.isinf(self.low) and math.isinf(self.high) and not self.unjudged:
            raise InputError(
                f"Claim {self.text!r}: must have a bound, low or high: otherwise it cannot fail"
            )

    @classmethod
    def about(cls, quantity: Quantity, text: str, **more: Any) -> Claim:
        """Make the claim that a quantity lies within its bound; ``more`` are further fields."""
        low, high = quantity.bound or (-math.inf, math.inf)
        known: dict[str, Any] = {"text": text, "low": low, "high": high, "unit": quantity.unit}
        known |= {"value": quantity.value, "spread": quantity.spread}
        return cls(**known | more)

    @classmethod
    def over_seeds(cls, values: Any, **more: Any) -> Claim:
        """Make a claim about the median of one value for each seed; ``more`` are further fields."""
        return cls(
            value=statistics.median(float(one) for one in values),
            interval=median_interval(values),
            **more,
        )

    @property
    def verdict(self) -> str:
        """One of the seven verdicts named at the top of this module."""
        if self.value is None:
            return NOT_TESTABLE
        if self.unjudged:
            return NOT_JUDGED
        if self.setting:
            return OTHER_SETTING
        least, most = self.interval or (self.value, self.value)
        if self.better and (most < self.low if self.better == "below" else least > self.high):
            return BETTER
        low = -math.inf if self.better == "below" else self.low
        high = math.inf if self.better == "above" else self.high
        if low <= least and most <= high:
            return HOLDS
        return UNDECIDED if least <= high and most >= low else FAILS

    @property
    def holds(self) -> bool | None:
        """True if the claim holds, False if it does not, None where there is no verdict."""
        return {HOLDS: True, BETTER: True, FAILS: False}.get(self.verdict)

    @property
    def label(self) -> str:
        """The case in words, such as "digits, s = 0, k = 2"."""
        s = "" if self.s is None else f"s = {self.s:g}"
        k = "" if self.k is None else f"k = {self.k}"
        return ", ".join(filter(None, (self.data, s, k, self.case)))

    @property
    def measured(self) -> str:
        """The value, its spread or interval, and its unit, as people read them."""
        if self.value is None:
            return ""
        shown = readable(self.value, self.unit, self.spread, digits=3)
        if self.interval is None or self.interval[0] == self.interval[1]:
            return shown
        unit = PERCENT if self.unit == PERCENT else ""
        least, most = (readable(end, unit, digits=3) for end in self.interval)
        return f"{shown} ({least} to {most})"

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        low, high = (
            readable(bound, self.unit, digits=3) if math.isfinite(bound) else ""
            for bound in (self.low, self.high)
        )
        if self.low == self.high:
            return f"exactly {low}"
        if low and high:
            return f"from {low} to {high}"
        return f"at least {low}" if low else f"at most {high}" if high else ""

    @property
    def sentence(self) -> str:
        """The case and what the paper says of it."""
        return f"{self.label}: {self.text}" if self.label else self.text

    @property
    def reason(self) -> str:
        """Why there is no verdict; empty where there is one."""
        return self.untestable or self.unjudged or self.setting

    @property
    def basis(self) -> str:
        """Value, bounds and further numbers behind the verdict, in words, and the reason where
        there is no verdict.
        """
        behind = ", ".join(
            f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in self.numbers.items()
        )
        measured = self.measured and f"{self.measured}, bound: {self.bounds}"
        return "; ".join(filter(None, (measured, behind, self.reason)))

    def record(self) -> dict[str, Any]:
        """Return the entry of summary.json: the claim, its verdict (``holds`` is null without one)
        and its numbers.
        """
        always: dict[str, Any] = {"claim": self.text, "holds": self.holds, "verdict": self.verdict}
        always |= {"value": self.value, "sentence": self.sentence, "basis": self.basis}
        least, most = self.interval or (None, None)
        known = {name: getattr(self, name) for name in RECORDED}
        known |= {"interval_low": least, "interval_high": most}
        entry = {
            name: plain(name, one) for name, one in (always | known | dict(self.numbers)).items()
        }
        kept = always | dict(self.numbers)
        return {name: one for name, one in entry.items() if name in kept or one not in (None, "")}

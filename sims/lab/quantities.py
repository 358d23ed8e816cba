"""Quantities: numbers that an experiment has found, each declared once with its unit and its
words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

PERCENT = "%"  # the unit of a fraction that is shown in percent


@dataclass(frozen=True)
class Quantity:
    """A number that an experiment has found; the summary, the table, the page, sweeps and claims
    all read it.

    Parameters
    ----------
    name
        Key in ``summary.json`` and column of a sweep's table.
    value
        One number, text or truth value; None if it is not known.
    unit
        Unit of value, spread and bound; ``"%"`` shows a fraction in percent.
    words
        Words for the printed table and the page. A quantity without words is in the summary only.
    spread
        Standard deviation over seeds; the summary holds it as ``<name>_std``.
    bound
        Lowest and highest value that a claim about the quantity allows, infinite on an open side.
    row
        Label of the row of the printed table that the quantity shares with others.

    Examples
    --------
    >>> Quantity("excess", 0.0123, "%", "excess over the optimum", spread=0.001).text
    '1.23 ± 0.1 %'
    """

    name: str
    value: Any
    unit: str = ""
    words: str = ""
    spread: float | None = None
    bound: tuple[float, float] | None = None
    row: str = ""

    @property
    def text(self) -> str:
        """The value with its spread and unit, as people read it."""
        return readable(self.value, self.unit, self.spread)

    @property
    def numbers(self) -> dict[str, Any]:
        """Entries of the summary."""
        return {self.name: self.value} | (
            {} if self.spread is None else {f"{self.name}_std": self.spread}
        )


def readable(value: Any, unit: str = "", spread: float | None = None, digits: int = 4) -> str:
    """Return a value with its spread and unit as text: a dash if it is not known, percent for
    fractions in percent.
    """
    value = value.item() if hasattr(value, "item") else value
    if value is None:
        return "-"
    scale, ending = (100, " %") if unit == PERCENT else (1, f" {unit}" if unit else "")
    if isinstance(value, str | bool) or (isinstance(value, int) and scale == 1):
        return f"{value}{ending}"
    shown = (
        f"{scale * value:.{digits}g}" if math.isfinite(value) else "∞" if value > 0 else "no number"
    )
    return f"{shown}{f' ± {scale * spread:.2g}' if spread is not None else ''}{ending}"


def numbers_of(quantities: Iterable[Quantity]) -> dict[str, Any]:
    """Return the entries of the summary for several quantities."""
    return {name: value for quantity in quantities for name, value in quantity.numbers.items()}


def table_of(quantities: Iterable[Quantity]) -> dict[str, str]:
    """Return the rows of the printed table: quantities with words, those of one row together."""
    rows: dict[str, list[str]] = {}
    for quantity in quantities:
        if quantity.words and quantity.row:
            rows.setdefault(quantity.row, []).append(f"{quantity.words} {quantity.text}")
        elif quantity.words:
            rows.setdefault(quantity.words, []).append(quantity.text)
    return {label: "; ".join(said) for label, said in rows.items()}


def print_table(title: str, rows: Mapping[str, object]) -> None:
    """Print ``rows``, label beside value, below a title; numbers to four digits, what is not known
    as a dash.
    """
    width = max(map(len, rows), default=0)
    print(title)
    for label, value in rows.items():
        text = "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
        print(f"  {label:{width}}  {text}")

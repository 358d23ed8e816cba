"""Findings: everything that an experiment returns; the lab writes, draws and prints it."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.errors import InputTypeError

if TYPE_CHECKING:
    from biorrr.sims.lab.claims import Claim

SETUP = ("k", "s", "ridge", "seeds", "samples")  # quantities that captions state
COLUMNS = 100  # of lines that go to no terminal
HEAD = 16  # letters of the words over a column for which it is widened
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

    def __post_init__(self) -> None:
        for name in ("value", "spread"):
            if getattr(one := getattr(self, name), "size", 0) == 1:  # of NumPy or xarray
                object.__setattr__(self, name, one.item())

    @property
    def text(self) -> str:
        """The value with its spread and unit, as people read it."""
        return readable(self.value, self.unit, self.spread)

    @property
    def numbers(self) -> dict[str, Any]:
        """Entries of the summary."""
        spread = {} if self.spread is None else {f"{self.name}_std": self.spread}
        return {name: plain(name, one) for name, one in ({self.name: self.value} | spread).items()}


def quantities(found: Mapping[str, Any], row: str = "", before: str = "") -> list[Quantity]:
    """Return quantities by name: of each its value, or value, unit, words, spread and bound, as far
    as it has any.

    ``row`` is the row of the printed table that they share, and ``before`` begins their names.
    """
    fields = {name: one if isinstance(one, tuple) else (one,) for name, one in found.items()}
    names = ("value", "unit", "words", "spread", "bound")
    return [
        Quantity(f"{before}{name}", row=row, **dict(zip(names, each, strict=False)))
        for name, each in fields.items()
    ]


@dataclass(frozen=True)
class Figure:
    """A figure to be drawn.

    Parameters
    ----------
    name
        Name of the figure; the experiment declares the caption under it.
    draw
        Function without arguments that draws the figure and returns its axes.
    which
        What sets the figure apart from others of the same name, as part of the name of its file: a
        seed, or an s.
    """

    name: str
    draw: Callable[[], Any]
    which: str = ""

    @property
    def stem(self) -> str:
        """Name of the file without its ending."""
        return f"{self.name}-{self.which}" if self.which else self.name


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The results of an experiment.

    Parameters
    ----------
    title
        The data and what was run: title of the printed table, and end of each caption.
    statistic
        What the numbers of the printed table are, after the title: a mean, or a median.
    quantities
        All numbers of the summary, in its order.
    data
        Datasets and runs by the name of their file: ``"run"`` becomes ``run.nc``.
    figures
        Figures to be drawn.
    files
        Functions that write further files, by the name of the file.
    claims, own_tests
        Claims of the paper, and tests of which the paper says nothing.
    chapters
        Findings of other experiments that this one has run, by the name of the chapter.
    rows
        Further rows of the printed table.
    closing
        Lines that are printed last.
    experiment, captions, failure
        Name of the experiment, captions of its figures by their names, and why an unfinished run
        ended; the lab fills them in.
    """

    title: str
    statistic: str = ""
    quantities: Sequence[Quantity] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    figures: Sequence[Figure] = ()
    files: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    own_tests: Sequence[Claim] = ()
    chapters: Mapping[str, Findings] = field(default_factory=dict)
    rows: Mapping[str, object] = field(default_factory=dict)
    closing: Sequence[str] = ()
    experiment: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""

    def caption(self, figure: str) -> str:
        """Return the caption of a figure, with quantities for their names in braces, the title, and
        what was run.
        """
        numbers = {quantity.name: quantity.text for quantity in self.quantities}
        known = [f"{name} = {numbers[name]}" for name in SETUP if name in numbers]
        run = "; ".join(filter(None, [self.title, *known]))
        return f"{self.captions.get(figure, '').format(**numbers)} ({run}.)\n"

    @property
    def headline(self) -> str:
        """The first line of the printed table."""
        return "; ".join(filter(None, [self.title, self.statistic]))

    @property
    def every_quantity(self) -> list[Quantity]:
        """All quantities, those of chapters with the chapter's name before their own and without
        words.
        """
        own = [*self.quantities]
        for chapter, findings in self.chapters.items():
            before = chapter.replace("-", "_")
            own += [
                Quantity(f"{before}_{one.name}", one.value, one.unit, spread=one.spread)
                for one in findings.every_quantity
            ]
        return own

    @property
    def numbers(self) -> dict[str, Any]:
        """Entries of ``summary.json``."""
        return {name: value for one in self.every_quantity for name, value in one.numbers.items()}

    @property
    def table(self) -> dict[str, object]:
        """Rows of the printed table: the text of quantities with words, by these words where
        several share a row.
        """
        rows: dict[str, dict[str, str]] = {}
        for one in self.quantities:
            if one.words:
                words = one.words if one.row else ""
                rows.setdefault(one.row or one.words, {})[words] = one.text
        return rows | dict(self.rows)

    def lines(self, columns: int = COLUMNS) -> list[str]:
        """Return the lines that are printed, of at most so many ``columns``: title, table, claims
        and the closing.
        """
        lines = [*_wrap(self.headline, columns, 2), *_table_lines(self.table, columns)]
        said = []
        if self.claims:
            said += ["the paper's claims", *_claim_lines(self.claims)]
        if self.own_tests:
            said += ["tests of our own", *_claim_lines(self.own_tests)]
        if any("±" in line for line in (*lines, *said)):
            said.append("the number after ± is the standard deviation over seeds")
        said = [wrapped for line in said for wrapped in _wrap(line, columns, 6)]
        return [*lines, *said, *filter(None, self.closing)]


def _wrap(line: str, columns: int, indent: int) -> list[str]:
    """Return ``line`` in lines of at most ``columns``; all but the first begin with ``indent``
    spaces, or with a few in a narrow terminal.
    """
    after = " " * min(indent, columns // 2)
    wrapped = textwrap.wrap(line, max(columns, 20), subsequent_indent=after, break_on_hyphens=False)
    return wrapped or [line]


def _table_lines(table: Mapping[str, object], columns: int) -> list[str]:
    """Return the lines of a table; rows with the same words, one after another, stand under them
    where they fit.
    """
    width = max(map(len, table), default=0)
    lines: list[str] = []
    for heads, rows in itertools.groupby(table.items(), key=lambda row: _heads(row[1])):
        cells = dict(rows)
        grid = _grid(heads, cells, width) if heads and len(cells) > 1 else []
        if grid and max(map(len, grid)) <= columns:
            lines += grid
            continue
        for label, value in cells.items():
            lines += _wrap(f"  {label:{width}}  {_cell(value)}", columns, width + 4)
    return lines


def _heads(value: object) -> tuple[str, ...]:
    """Return the words under which a row of the table stands."""
    return tuple(value) if isinstance(value, Mapping) and len(value) > 1 else ()


def _grid(heads: Sequence[str], rows: Mapping[str, Any], width: int) -> list[str]:
    """Return ``rows``, words to text by label, in columns that begin with their words."""
    wide = [
        max(map(len, (*(row[head] for row in rows.values()), *head.split(), head[:HEAD])))
        for head in heads
    ]
    over = [textwrap.wrap(head, size) for head, size in zip(heads, wide, strict=True)]
    above = [("", each) for each in itertools.zip_longest(*over, fillvalue="")]
    below = [(label, row.values()) for label, row in rows.items()]
    lines = []
    for label, row in (*above, *below):
        padded = (f"{cell:{size}}" for cell, size in zip(row, wide, strict=True))
        lines.append("  ".join([f"  {label:{width}}", *padded]).rstrip())
    return lines


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{words} {text}".strip() for words, text in value.items())
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _claim_lines(claims: Iterable[Claim]) -> list[str]:
    """Return two lines for each claim, its verdict and the numbers behind it; claims that say the
    same of several cases, with the same verdict, share theirs.
    """
    alike: dict[tuple, list[Claim]] = {}
    for claim in claims:
        alone = id(claim) if claim.holds is False or claim.value is None else 0
        alike.setdefault((claim.text, claim.verdict, claim.bounds, alone), []).append(claim)
    lines = []
    for (text, *_), cases in alike.items():
        one = cases[0]
        verdict = one.verdict.upper() if one.holds is False else one.verdict
        if len(cases) == 1:
            lines += [f"  {verdict}: {one.sentence}", f"      {one.basis}"]
            continue
        lowest, highest = (
            readable(end(case.value or 0.0 for case in cases), one.unit, digits=3)
            for end in (min, max)
        )
        reasons = "; ".join(dict.fromkeys(case.reason for case in cases if case.reason))
        behind = f"{lowest} to {highest}, bound: {one.bounds}" + (reasons and f"; {reasons}")
        lines += [f"  {verdict} in {len(cases)} cases: {text}", f"      {behind}"]
    return lines


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


def plain(name: str, value: Any) -> str | bool | int | float | None:
    """Return ``value`` as JSON can hold it; None for what is not finite."""
    value = value.item() if getattr(value, "size", 0) == 1 else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise InputTypeError(f"summary {name}: must be one number or text (got {type(value).__name__})")

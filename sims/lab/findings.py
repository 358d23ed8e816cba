"""Findings: everything that an experiment returns; the lab writes, draws and prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.quantities import Quantity, numbers_of, table_of


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
        Title of the printed table: the data and what was run.
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
    experiment, failure
        Name of the experiment, and why an unfinished run ended; the lab fills them in.
    """

    title: str
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
    failure: str = ""

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
        return numbers_of(self.every_quantity)

    @property
    def table(self) -> dict[str, object]:
        """Rows of the printed table."""
        return {**table_of(self.quantities), **self.rows}

"""Interactive charts as an experiment declares them: which variables of its dataset are drawn against what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SEEN = {"seen": "samples seen"}


@dataclass(frozen=True)
class View:
    """One way to look at a dataset.

    A variable has a line for every combination of its dimensions, but for those named here.

    Parameters
    ----------
    label
        Of the vertical axis, with its unit.
    lines
        What the lines of each variable are called. Variables that the dataset has not are left out.
    x
        Variables or coordinates to draw against, with their labels; a choice on the page where several fit.
    along
        Dimension along which a line runs; the first that a variable has.
    repeats
        Dimensions of runs that differ by chance alone: a thin line each, a thick one for their mean.
    choose
        Dimensions or coordinates of which the page shows one value at a time.
    theory
        Variables that are not measured: dashed.
    log
        Axes that begin logarithmic: "", "x", "y" or "xy".
    window
        How much of the horizontal axis is in sight at first; 0 for all.
    name
        Of the view where there is a choice, if not its label.
    """

    label: str
    lines: Mapping[str, str]
    x: Mapping[str, str]
    along: tuple[str, ...] = ("snapshot",)
    repeats: tuple[str, ...] = ()
    choose: tuple[str, ...] = ()
    theory: tuple[str, ...] = ()
    log: str = "x"
    window: int = 0
    name: str = ""


@dataclass(frozen=True)
class Chart:
    """One or several views in one place, between which the page lets choose."""

    title: str
    views: tuple[View, ...]
    hint: str = ""

"""Interactive charts as an experiment declares them: which variables of its dataset are drawn against what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SEEN = {"seen": "samples seen"}
# The quantity that a variable is of, by a part of its name: each has one colour, here and in the figures.
_QUANTITIES = {
    "plateau": "plateau", "a": "distal", "inhibition": "Q", "z": "proximal", "spikes": "proximal",
    "Vs": "proximal", "Vd": "plateau", "distal": "distal", "inhibitory": "Q", "calcium": "plateau",
    "events": "plateau", "bursts": "distal",
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """One way to look at a dataset: a variable has a line for every combination of the dimensions not named here."""

    label: str  # of the vertical axis, with its unit
    lines: Mapping[str, str]  # what the lines of each variable are called; variables that are not there are left out
    x: Mapping[str, str]  # what to draw against, with labels; a choice on the page where several fit
    along: tuple[str, ...] = ("snapshot",)  # dimension along which a line runs; the first that a variable has
    repeats: tuple[str, ...] = ()  # dimensions of runs that differ by chance: thin lines, a thick one for the mean
    choose: tuple[str, ...] = ()  # dimensions or coordinates of which the page shows one value at a time
    theory: tuple[str, ...] = ()  # variables that are not measured: dashed
    log: str = "x"  # axes that begin logarithmic: "", "x", "y" or "xy"
    percent: bool = False  # whether values are fractions, to be read in percent
    window: int = 0  # how much of the horizontal axis is in sight at first; 0 for all
    name: str = ""  # of the view where there is a choice, if not its label
    points: int = 300  # the first so many of a line are drawn: what a screen is wide


@dataclass(frozen=True)
class Chart:
    """One or several views in one place, between which the page lets choose."""

    title: str
    views: tuple[View, ...]
    hint: str = ""


def quantity_of(variable: str) -> str | None:
    """Return the name of the colour of a variable, such as recorded_plateau; None if it has none."""
    if variable == "r_minus_qt":
        return "R"
    return next((_QUANTITIES[part] for part in variable.split("_") if part in _QUANTITIES), None)

"""One look for every figure: its style, one colour per quantity, and the axes that figures are
drawn into.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biorrr.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import DataArray, Dataset
else:
    Axes = DataArray = Dataset = Figure = Any  # in annotations, for which nothing need be imported

STYLE = Path(__file__).with_name("paper.mplstyle")
COLUMN, PAGE = 8.5 / 2.54, 17.5 / 2.54  # inches: widths of figures in journals
# A quantity has one colour in every figure: its place among the colours of the style, or of the
# user.
_PLACES = {
    "circuit": 0,
    "proximal": 0,  # Vx, and the output z, which is what the circuit says
    "distal": 1,  # Vy, a
    "Q": 2,  # interneuron to pyramidal, inhibition
    "R": 3,  # pyramidal to interneuron
    "own": 4,  # parts of one's own
}
MARKERS = "os^DvPX"  # tell things apart in grey print
EXCESS = "excess over the optimum"  # in percent on every axis
_GREY = "#6E6E6E"  # the exact solution, the optimum, a prediction; dashed, or broad behind a curve
THEORY: dict[str, Any] = {"color": _GREY, "linestyle": "--", "linewidth": 1.0}
BEHIND: dict[str, Any] = {"color": _GREY, "alpha": 0.5, "linewidth": 2.4}
GUIDE: dict[str, Any] = {"color": _GREY, "alpha": 0.35, "linewidth": 0.6, "zorder": 0}
BAND: dict[str, Any] = {"color": _GREY, "alpha": 0.15, "linewidth": 0, "zorder": 0}


def colour(quantity: str) -> str:
    """Return the colour of a quantity; the plateau has that of text, theory is grey.

    With colours of one's own in ``axes.prop_cycle`` these are taken in the same order.
    """
    import matplotlib

    if quantity == "plateau":
        return matplotlib.rcParams["text.color"]
    if quantity == "theory":
        return _GREY
    return shade(_PLACES[quantity])


def shade(place: int) -> str:
    """Return the colour at a place in ``axes.prop_cycle``: for things without one of their own."""
    import matplotlib

    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key().get("color", [_GREY])
    return cycle[place % len(cycle)]


def untouched() -> dict[str, Any]:
    """Return the settings of our style that have matplotlib's own value: users have set others."""
    import matplotlib

    ours = matplotlib.rc_params_from_file(STYLE, use_default_template=False)
    now, defaults = matplotlib.rcParams, matplotlib.rcParamsDefault
    return {name: value for name, value in ours.items() if now[name] == defaults[name]}


def styled(draw: Callable) -> Callable:
    """Draw in the style of the project, except for what the user has set in matplotlib."""

    @wraps(draw)
    def in_style(*args, **kwargs):
        import matplotlib

        with matplotlib.rc_context(untouched()):
            drawn = draw(*args, **kwargs)
            interactive = matplotlib.is_interactive()
        # A notebook's backend, loaded with the first figure, turns interaction on and shows no
        # later figure without.
        matplotlib.interactive(interactive)
        return drawn

    return in_style


def new_figure(width: float = COLUMN, height: float | None = None) -> Figure:
    """Return an empty figure of that size in inches; where the user has set a size, of his width.

    The height is that of the style, or the user's, unless given.
    """
    import matplotlib
    import matplotlib.pyplot as plt

    from biorrr.analysis.figures.paper_figure import PaperFigure

    ours = matplotlib.rc_params_from_file(STYLE, use_default_template=False)["figure.figsize"]
    chosen = matplotlib.rcParams["figure.figsize"]
    size = width if list(chosen) == list(ours) else chosen[0], height or chosen[1]
    return plt.figure(figsize=size, layout="constrained", FigureClass=PaperFigure)


def axes_of(
    ax: Any,
    rows: int = 0,
    columns: int = 0,
    what: str = "",
    *,
    width: float = COLUMN,
    height: float | None = None,
    **layout: Any,
) -> Any:
    """Return axes to draw into, in the house style: those given, or those of a new figure.

    Parameters
    ----------
    ax
        One axes, or an array of them where ``rows`` and ``columns`` are given; None for a new
        figure.
    rows, columns, what
        Shape of the array, and what rows and columns are, for the error message.
    width, height
        Of a new figure, as :func:`new_figure` takes them.
    layout
        Of the axes, as :meth:`matplotlib.figure.Figure.subplots` takes it.
    """
    from matplotlib.axes import Axes

    if ax is None:
        shape = (rows, columns) if rows else ()
        return new_figure(width, height).subplots(*shape, squeeze=not shape, **layout)
    given = np.asarray(ax, dtype=object)
    if not all(isinstance(one, Axes) for one in given.flat):
        raise InputTypeError(
            f"ax: must be axes of matplotlib (got {ax!r}); plt.subplots makes them"
        )
    if not rows:
        if given.size != 1:
            raise InputError(
                f"ax: must be one axes (got an array of shape {given.shape}); pass one of them"
            )
        _dress(given.item())
        return given.item()
    if given.shape != (rows, columns) and not (
        given.ndim < 2 and given.size == rows * columns and 1 in (rows, columns)
    ):
        raise InputError(
            f"ax: must be axes of shape ({rows}, {columns}), {what} (got {given.shape}); "
            f"plt.subplots({rows}, {columns}, squeeze=False) makes them"
        )
    for one in given.flat:
        _dress(one)
    return given.reshape(rows, columns)


def _dress(ax: Axes) -> None:
    """Give axes that were made in another style the look of ours."""
    import matplotlib
    from matplotlib.ticker import ScalarFormatter

    rc = matplotlib.rcParams
    for side in ("top", "right"):
        ax.spines[side].set_visible(rc[f"axes.spines.{side}"])
    ax.tick_params(labelsize=rc["xtick.labelsize"])
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(rc["axes.labelsize"])
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.set_major_formatter(ScalarFormatter())  # it has read its limits when it was made
    if not ax.has_data():
        ax.set_prop_cycle(rc["axes.prop_cycle"])


def round_below(limit: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that does not exceed ``limit``."""
    power = 10 ** np.floor(np.log10(limit))
    return max(step * power for step in (1, 2, 5) if step * power <= limit)


def draw_scale_bar(panel: Axes, level: int, scale: float, lane: float = 2.1) -> None:
    """Draw a bar of a round length on the right of the trace at ``level``.

    Traces stand one below the other, a unit apart, each drawn with ``lane * scale`` to the unit.
    """
    length = round_below(scale)
    half = length / (2 * lane * scale)
    beside: dict[str, Any] = {"transform": panel.get_yaxis_transform(), "clip_on": False}
    heights = [-half - level, half - level]
    look = {"color": colour("plateau"), "linewidth": 1.2, "label": "scale, in units of the data"}
    panel.plot([1.03, 1.03], heights, **look, **beside)
    panel.text(1.05, -level, f"{length:g}", va="center", **beside)


def legend_below(axes: Any, note: str = "", most: int = 4, given: Any = None) -> None:
    """Draw one legend below the figure, with each label of all ``axes`` once.

    Parameters
    ----------
    axes
        One axes, or several.
    note
        What else explains the figure, in a sentence or two above the legend.
    most
        Columns that the legend may have; it takes as many as fit into the width of the figure.
    given
        Axes that the user has given, which then have legends within, unless the figure has one.
    """
    every = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if given is not None and not every[0].figure.legends:
        for ax in every:
            ax.legend()
        return
    known = {
        label: handle
        for ax in every
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure = every[0].figure
    for earlier in list(figure.legends):
        earlier.remove()
    room = _characters(figure)
    figure.legend(
        known.values(),
        known.keys(),
        loc="outside lower center",
        ncols=_columns([len(label) for label in known], most, room),
        title=textwrap.fill(note, room) or None,
        alignment="left",
    )


def _characters(figure: Figure) -> int:
    """Return how many characters of usual width fit side by side into a figure."""
    import matplotlib

    size = matplotlib.font_manager.FontProperties(size="medium").get_size_in_points()
    return int(72 * figure.bbox.width / figure.dpi / (0.54 * size)) - 2


def _columns(lengths: list[int], most: int, room: int) -> int:
    """Return how many columns labels of these lengths take, at most, in ``room`` characters."""
    for count in range(min(most, len(lengths)), 1, -1):
        rows = -(-len(lengths) // count)
        widest = [max(lengths[at : at + rows]) for at in range(0, len(lengths), rows)]
        if sum(widest) + 7 * len(widest) <= room:
            return count
    return 1


def draw_against(panel: Axes, theory: ArrayLike, measured: ArrayLike, tint: Any) -> str:
    """Draw what was measured against theory, any shape, and the line on which they are equal.

    Returns in words their relative r.m.s. deviation.
    """
    theory, measured = np.ravel(theory), np.ravel(measured)
    panel.plot(theory, measured, ".", color=tint, markersize=2, alpha=0.3, rasterized=True)
    limit = 1.05 * max(np.abs(theory).max(), np.abs(measured).max())
    panel.plot([-limit, limit], [-limit, limit], label="equal", **THEORY)
    panel.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    panel.locator_params(nbins=4)
    deviation = np.sqrt(np.nansum((measured - theory) ** 2) / np.nansum(theory**2))
    return f"deviation {percent(deviation)}"


def shades(count: int) -> Any:
    """Return ``count`` colours in order, from dark to light, (count, 4)."""
    import matplotlib

    return matplotlib.colormaps["viridis"](np.linspace(0.1, 0.8, count))


def mark_cuts(
    panel: Axes, at: Any, heights: Any, end: float, tint: Any, label: str, level: float = 0.0
) -> None:
    """Put a triangle at ``end`` wherever ``heights``, of the shape of ``at``, go beyond it: above
    a positive end, below a negative one. All are drawn ``level`` lower.
    """
    cut = np.asarray(heights) > end if end > 0 else np.asarray(heights) < end
    if cut.any():
        look: dict[str, Any] = {"color": tint, "markersize": 3, "clip_on": False, "zorder": 4}
        places = np.full(cut.sum(), end - level)
        panel.plot(
            np.broadcast_to(at, cut.shape)[cut],
            places,
            "^" if end > 0 else "v",
            label=label,
            linestyle="none",
            **look,
        )


def in_percent(ax: Axes, along: str = "y") -> None:
    """Label an axis of fractions, such as excess, in percent."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = ax.xaxis if along == "x" else ax.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))
    if axis.get_scale() == "log":
        low, high = sorted(ax.get_xlim() if along == "x" else ax.get_ylim())
        between = (1.0, 2.0, 5.0) if high < 30 * low else (1.0,)
        axis.set_major_locator(LogLocator(subs=between, numticks=8))
        axis.set_minor_formatter(NullFormatter())


def for_log_axis(samples: ArrayLike) -> np.ndarray:
    """Return sample counts, with a count of 0 moved to half the first that follows."""
    samples = np.asarray(samples, dtype=float)
    positive = samples[samples > 0]
    return np.maximum(samples, positive.min() / 2 if positive.size else 1.0)


def log_samples(ax: Axes, samples: ArrayLike, most: int = 7) -> None:
    """Make the horizontal axis logarithmic in samples, with at most about ``most`` labels.

    Where :func:`for_log_axis` has moved a count of 0, its place is labelled 0.
    """
    from matplotlib.ticker import NullLocator

    at = for_log_axis(samples)
    start, end = at.min(), at.max()
    powers = np.arange(np.ceil(np.log10(start)), np.floor(np.log10(end)) + 1)
    moved = bool((np.asarray(samples) <= 0).any())
    if moved:
        powers = powers[powers > np.log10(4 * start)]
    powers = powers[:: -(-len(powers) // most) or 1]
    labels = [f"$10^{{{power:g}}}$" for power in powers]
    ax.set(xscale="log", xlabel="samples seen")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks([start] * moved + list(10.0**powers), ["0"] * moved + labels)


def of_seeds(each: str, count: int) -> str:
    """Return in a sentence that each of these marks is a seed."""
    return f"Each {each} is one of {count} seeds." if count > 1 else "One seed."


def percent(fraction: float) -> str:
    """Return a fraction in percent with two digits."""
    value = 100 * fraction
    return f"{value:.0f} %" if abs(value) >= 9.95 else f"{value:#.2g} %"

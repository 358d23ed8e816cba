"""One look for every figure: its style, one colour per quantity, and the axes that figures are
drawn into.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    **dict.fromkeys(("circuit", "proximal", "Vx"), 0),  # and the output z, which is what it says
    **dict.fromkeys(("distal", "Vy"), 1),  # and a
    "Q": 2,  # interneuron to pyramidal, inhibition
    "R": 3,  # pyramidal to interneuron
}
_OWN = 4  # parts of one's own
MARKERS = "os^DvPX"  # tell things apart in grey print
EXCESS = "excess over the optimum"  # in percent on every axis
_GREY = "#6E6E6E"  # the exact solution, the optimum, a prediction; dashed, or broad behind a curve
THEORY: dict[str, Any] = {"color": _GREY, "linestyle": "--", "linewidth": 1.0}
BEHIND: dict[str, Any] = {"color": _GREY, "alpha": 0.5, "linewidth": 2.4}
GUIDE: dict[str, Any] = {"color": _GREY, "alpha": 0.35, "linewidth": 0.6, "zorder": 0}
BAND: dict[str, Any] = {"color": _GREY, "alpha": 0.15, "linewidth": 0, "zorder": 0}


def colour(quantity: str) -> str:
    """Return the colour of a quantity, or of a matrix of weights; the plateau has that of text,
    theory is grey, and all that is not of the paper's circuit has one colour.

    With colours of one's own in ``axes.prop_cycle`` these are taken in the same order.
    """
    import matplotlib

    fixed = {"plateau": matplotlib.rcParams["text.color"], "theory": _GREY}
    return fixed.get(quantity) or shade(_PLACES.get(quantity, _OWN))


def shade(place: int) -> str:
    """Return the colour at a place in ``axes.prop_cycle``: for things without one of their own."""
    from matplotlib.colors import to_hex

    return to_hex(f"C{place}")


def our_style() -> dict[str, Any]:
    """Return the settings of the style file."""
    import matplotlib

    return dict(matplotlib.rc_params_from_file(STYLE, use_default_template=False))


def untouched() -> dict[str, Any]:
    """Return the settings of our style that have matplotlib's own value: users have set others."""
    from matplotlib import rcParams, rcParamsDefault

    return {
        name: value
        for name, value in our_style().items()
        if rcParams[name] == rcParamsDefault[name]
    }


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
    import matplotlib.pyplot as plt

    from biorrr.analysis.figures.paper_figure import PaperFigure

    chosen = plt.rcParams["figure.figsize"]
    ours = list(chosen) == list(our_style()["figure.figsize"])
    size = width if ours else chosen[0], height or chosen[1]
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

    shape = (rows, columns) if rows else ()
    if ax is None:
        return new_figure(width, height).subplots(*shape, squeeze=not shape, **layout)
    given = np.asarray(ax, dtype=object)
    if not all(isinstance(one, Axes) for one in given.flat):
        raise InputTypeError(
            f"ax: must be axes of matplotlib (got {ax!r}); plt.subplots makes them"
        )
    if given.size != np.prod(shape) or (rows and given.ndim > 1 and given.shape != shape):
        raise InputError(
            f"ax: must be axes of shape {shape}, {what} (got {given.shape}); "
            f"plt.subplots({rows}, {columns}, squeeze=False) makes them"
            if rows
            else f"ax: must be one axes (got an array of shape {given.shape}); pass one of them"
        )
    for one in given.flat:
        _dress(one)
    return given.reshape(shape)[()]


def _dress(ax: Axes) -> None:
    """Give axes that were made in another style the look of ours."""
    from matplotlib import rcParams

    for side in ("top", "right"):
        ax.spines[side].set_visible(rcParams[f"axes.spines.{side}"])
    ax.tick_params(labelsize=rcParams["xtick.labelsize"])
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(rcParams["axes.labelsize"])
    if not ax.has_data():
        ax.set_prop_cycle(rcParams["axes.prop_cycle"])


def explain(axes: Any, note: str = "", most: int = 4) -> Any:
    """Draw one legend below a figure, with each label of all ``axes`` once, and return the axes.

    In a figure that the user has made, each of the axes has its legend within.

    Parameters
    ----------
    axes
        One axes, or an array of them.
    note
        What else explains the figure, in a sentence or two above the legend.
    most
        Columns that the legend may have; it takes as many as fit into the width of the figure.
    """
    from biorrr.analysis.figures.paper_figure import PaperFigure

    every = np.ravel(np.asarray(axes, dtype=object))
    figure = every[0].figure
    if not isinstance(figure, PaperFigure):
        for ax in every:
            known = _handles([ax])
            ax.legend(known.values(), known)
        return axes
    figure.legends.clear()
    known, room = _handles(every), characters(figure)
    figure.legend(
        known.values(),
        known,
        loc="outside lower center",
        ncols=_columns([len(label) for label in known], most, room),
        title=textwrap.fill(note, room) or None,
        alignment="left",
    )
    return axes


def _handles(every: Iterable[Axes]) -> dict[str, Any]:
    """Return what the axes draw by its label."""
    return {
        label: handle
        for ax in every
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }


def characters(figure: Figure) -> int:
    """Return how many characters of usual width fit side by side into a figure."""
    from matplotlib import rcParams

    return int(72 * figure.get_figwidth() / (0.54 * rcParams["font.size"])) - 2


def _columns(lengths: list[int], most: int, room: int) -> int:
    """Return how many columns labels of these lengths take, at most, in ``room`` characters."""
    for count in range(min(most, len(lengths)), 1, -1):
        rows = -(-len(lengths) // count)
        widest = [max(lengths[at : at + rows]) for at in range(0, len(lengths), rows)]
        if sum(widest) + 7 * len(widest) <= room:
            return count
    return 1


def draw_mean(
    ax: Axes, at: ArrayLike, values: NDArray, band: str | None = None, **look: Any
) -> None:
    """Draw the mean of ``values`` (repeats, places), in a band of one standard deviation on either
    side.

    On a logarithmic axis the band ends at the lowest value. ``band`` is its label, and ``look``
    that of the line.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    (line,) = ax.plot(at, mean, **look)
    if len(values) > 1:
        low = mean - spread
        if ax.get_yscale() == "log":
            low = np.maximum(low, values.min(axis=0))
        high, tint = mean + spread, line.get_color()
        ax.fill_between(at, low, high, color=tint, alpha=0.22, linewidth=0, label=band)


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
    panel: Axes,
    at: NDArray,
    heights: NDArray,
    end: float,
    label: str,
    level: float = 0.0,
    **look: Any,
) -> None:
    """Put a triangle at ``end`` wherever ``heights``, of the shape of ``at``, go beyond it: above
    a positive end, below a negative one. All are drawn ``level`` lower.
    """
    cut = heights > end if end > 0 else heights < end
    if cut.any():
        marker = "^" if end > 0 else "v"
        look |= {"markersize": 3, "clip_on": False, "zorder": 4, "label": label}
        panel.plot(at[cut], np.full(cut.sum(), end - level), marker, **look)


def in_percent(ax: Axes, along: str = "y") -> None:
    """Label an axis of fractions, such as excess, in percent."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis = ax.xaxis if along == "x" else ax.yaxis
    axis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    if axis.get_scale() == "log":
        low, high = sorted(axis.get_view_interval())
        between = (1.0, 2.0, 5.0) if high < 30 * low else (1.0,)
        axis.set_major_locator(LogLocator(subs=between, numticks=8))
        axis.set_minor_formatter(NullFormatter())


def log_samples(ax: Axes, samples: ArrayLike, most: int = 7) -> None:
    """Make the horizontal axis logarithmic in samples, from the first power of ten below them, and
    linear from there to 0; with at most about ``most`` labels.
    """
    first = min(np.asarray(samples)[np.asarray(samples) > 0], default=1)
    ax.set_xscale("symlog", linthresh=10 ** np.floor(np.log10(first)), linscale=0.5)
    ax.autoscale_view(scaley=False)  # of what is drawn already
    ax.locator_params(axis="x", numticks=most)
    ax.set_xlabel("samples seen")


def symbol(matrix: str) -> str:
    """Return the name of a matrix of weights in mathematical type."""
    return f"${matrix[0]}_{matrix[1:]}$" if matrix[1:] else f"${matrix}$"


def of_seeds(words: str, count: int) -> str:
    """Return ``words`` with the count of seeds in place of {}; of one seed, that it is one."""
    return words.format(count) if count > 1 else "One seed."


def percent(fraction: float) -> str:
    """Return a fraction in percent with two digits."""
    value = 100 * fraction
    return f"{value:.0f} %" if abs(value) >= 9.95 else f"{value:#.2g} %"

"""One look for every figure: its style, one colour per quantity, and the axes that figures are
drawn into.
"""

from __future__ import annotations

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

STYLE = Path(__file__).with_name("biorrr.mplstyle")
# A quantity has one colour in every figure: Okabe and Ito's hues, told apart by colour-blind
# readers, and dark enough on paper to be read as text.
COLOURS = {
    "proximal": "#0072B2",  # Vx, z
    "distal": "#C65200",  # Vy, a
    "Q": "#00855F",  # interneuron to pyramidal, inhibition
    "R": "#B8578C",  # pyramidal to interneuron
    "plateau": "#000000",
    "theory": "#6E6E6E",  # the exact solution, the optimum, a prediction; dashed or in grey behind
    "own": "#8A6100",  # parts of one's own
}
# Of things side by side that have no colour of their own: members of the family, learners.
SHADES = tuple(COLOURS[name] for name in ("proximal", "own", "distal", "Q", "R", "plateau"))
EXCESS = "excess over the optimum"  # in percent on every axis
THEORY: dict[str, Any] = {"color": COLOURS["theory"], "linestyle": "--", "linewidth": 1.2}


def styled(draw: Callable) -> Callable:
    """Draw in the project's style, whatever style is set outside."""

    @wraps(draw)
    def in_style(*args, **kwargs):
        import matplotlib.style

        with matplotlib.style.context(STYLE):
            drawn = draw(*args, **kwargs)
            interactive = matplotlib.is_interactive()
        # A notebook's backend, loaded with the first figure, turns interaction on and shows no
        # later figure without.
        matplotlib.interactive(interactive)
        return drawn

    return in_style


def axes_of(ax: Any, rows: int = 0, columns: int = 0, what: str = "", **layout: Any) -> Any:
    """Return axes to draw into, in the house style: those given, or those of a new figure.

    Parameters
    ----------
    ax
        One axes, or an array of them where ``rows`` and ``columns`` are given; None for a new
        figure.
    rows, columns, what
        Shape of the array, and what rows and columns are, for the error message.
    layout
        Of a new figure, as :func:`matplotlib.pyplot.subplots` takes it.
    """
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        shape = (rows, columns) if rows else ()
        return plt.subplots(*shape, squeeze=not shape, **layout)[1]
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
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=rc["xtick.labelsize"], width=rc["xtick.major.width"])
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(rc["axes.labelsize"])
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.set_major_formatter(ScalarFormatter())  # it has read its limits when it was made
    for spine in ax.spines.values():
        spine.set_linewidth(rc["axes.linewidth"])
    if not ax.has_data():
        ax.set_prop_cycle(rc["axes.prop_cycle"])


def draw_scale_bar(panel: Axes, level: int, scale: float, lane: float = 2.1) -> None:
    """Draw a bar of a round length, 1, 2 or 5 times a power of ten, on the right of the trace at
    ``level``.

    Traces stand one below the other, a unit apart, each drawn with ``lane * scale`` to the unit.
    """
    power = 10 ** np.floor(np.log10(scale))
    length = max(step * power for step in (1, 2, 5) if step * power <= scale)
    half = length / (2 * lane * scale)
    beside: dict[str, Any] = {"transform": panel.get_yaxis_transform(), "clip_on": False}
    panel.plot([1.03, 1.03], [-half - level, half - level], color="black", linewidth=1.2, **beside)
    panel.text(1.05, -level, f"{length:g}", fontsize=7, va="center", **beside)


def legend_below(axes: Any, ncols: int = 3, **more: Any) -> None:
    """Draw one legend below the figure, with each label of all ``axes`` once."""
    every = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    handles = {
        label: handle
        for ax in every
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    every[0].figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=ncols, **more
    )


def draw_against(panel: Axes, theory: ArrayLike, measured: ArrayLike, colour: Any) -> None:
    """Draw what was measured against theory, any shape, and the line on which they are equal."""
    theory, measured = np.ravel(theory), np.ravel(measured)
    panel.plot(theory, measured, ".", color=colour, markersize=2, alpha=0.3, rasterized=True)
    limit = 1.05 * max(np.abs(theory).max(), np.abs(measured).max())
    panel.plot([-limit, limit], [-limit, limit], **THEORY)
    panel.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    panel.locator_params(nbins=5)


def shades(count: int) -> Any:
    """Return ``count`` colours in order, from dark to light, (count, 4)."""
    import matplotlib

    return matplotlib.colormaps["viridis"](np.linspace(0.1, 0.8, count))


def in_percent(ax: Axes) -> None:
    """Label the vertical axis, of excess as a fraction, in percent."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))
    if ax.get_yscale() == "log":
        ax.yaxis.set_major_locator(LogLocator(numticks=8))
        ax.yaxis.set_minor_formatter(NullFormatter())


def ticks_at(ax: Axes, values: ArrayLike) -> None:
    """Label the horizontal axis at ``values`` (n,) alone."""
    ax.set_xticks(np.asarray(values), [f"{value:g}" for value in np.asarray(values)])
    ax.minorticks_off()


def for_log_axis(samples: ArrayLike) -> np.ndarray:
    """Return sample counts, with a count of 0 moved to half the first that follows."""
    samples = np.asarray(samples, dtype=float)
    positive = samples[samples > 0]
    return np.maximum(samples, positive.min() / 2 if positive.size else 1.0)

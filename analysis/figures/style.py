"""One look for every figure: its style, one colour per quantity, and the axes that figures are drawn into."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE = Path(__file__).with_name("biorrr.mplstyle")
COLOURS = {
    "proximal": "#0072B2",  # Vx, z
    "distal": "#D55E00",  # Vy, a
    "Q": "#009E73",  # interneuron to pyramidal, inhibition
    "R": "#CC79A7",  # pyramidal to interneuron
    "plateau": "#000000",
    "theory": "#767676",  # the exact solution, the optimum, a prediction; dashed
}
THEORY: dict[str, Any] = {"color": COLOURS["theory"], "linestyle": "--", "linewidth": 1.2}


def styled(draw: Callable) -> Callable:
    """Draw in the project's style, whatever style is set outside."""

    @wraps(draw)
    def in_style(*args, **kwargs):
        import matplotlib.style

        with matplotlib.style.context(STYLE):
            drawn = draw(*args, **kwargs)
            interactive = matplotlib.is_interactive()
        # A notebook's backend, loaded with the first figure, turns interaction on and shows no later figure without.
        matplotlib.interactive(interactive)
        return drawn

    return in_style


def axes_of(ax: Any, *shape: int, **layout) -> Any:
    """``ax`` if given, as an array of ``shape`` if that is; else axes of a new figure."""
    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(*shape, squeeze=not shape, **layout)[1]
    return np.asarray(ax, dtype=object).reshape(shape) if shape else ax


def draw_scale_bar(panel: Axes, level: int, scale: float) -> None:
    """Draw a bar of a round length, 1, 2 or 5 times a power of ten, on the right of the trace at ``level``.

    Traces stand one below the other, a unit apart, each drawn with ``2.1 * scale`` to the unit.
    """
    power = 10 ** np.floor(np.log10(scale))
    length = max(step * power for step in (1, 2, 5) if step * power <= scale)
    beside: dict[str, Any] = {"transform": panel.get_yaxis_transform(), "clip_on": False}
    panel.plot([1.02, 1.02], [-level, length / (2.1 * scale) - level], color="black", linewidth=1, **beside)
    panel.text(1.04, -level + 0.02, f"{length:g}", fontsize=7, va="bottom", **beside)


def for_log_axis(samples: ArrayLike) -> np.ndarray:
    """Sample counts, a count of 0 moved to half the first that follows."""
    samples = np.asarray(samples, dtype=float)
    positive = samples[samples > 0]
    return np.maximum(samples, positive.min() / 2 if positive.size else 1.0)

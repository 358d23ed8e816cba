"""Figure of how the plateau potential and the inhibition come to agree with theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, draw_against, for_log_axis, styled


@styled
def plot_agreement(
    pairs: Mapping[str, tuple[str, str, ArrayLike, ArrayLike]],
    samples: ArrayLike,
    courses: Mapping[str, tuple[NDArray, NDArray]],
    rivals: Mapping[str, NDArray],
    tolerated: float,
) -> np.ndarray:
    """Scatter what the circuit does against what theory says, and follow their agreement through learning.

    Parameters
    ----------
    pairs
        By name: labels of what is measured and of what is expected, and both signals after learning, (T, k).
    samples : (S,)
        Samples seen at each snapshot.
    courses
        By name: correlation and relative error, each (seeds, S, k). The median over seeds and neurons is drawn, in a
        band from the lowest to the highest.
    rivals
        By what is done to the inhibition: the plateau's relative error after learning, (seeds * k,).
    tolerated
        Relative error up to which the two count as equal.

    Returns
    -------
    axes : (len(pairs) + 3,)
    """
    import matplotlib.pyplot as plt

    colours = {"inhibition": COLOURS["Q"], "plateau": COLOURS["plateau"], "network": COLOURS["distal"]}
    across = 6 // len(pairs)
    layout: Any = [[name for name in pairs for _ in range(across)], [one for one in ("c", "e", "r") for _ in range(2)]]
    panels = plt.subplot_mosaic(layout, figsize=(7.4, 5.0))[1]
    for name, (measured, expected, signal, theory) in pairs.items():
        panel = panels[name]
        draw_against(panel, theory, signal, colours[name])
        panel.set(xlabel=expected, ylabel=measured, title="after learning")
    seen = for_log_axis(samples)
    for name, (correlation, error) in courses.items():
        for panel, values in ((panels["c"], correlation), (panels["e"], error)):
            low, median, high = np.nanpercentile(values, (0, 50, 100), axis=(0, 2))
            panel.plot(seen, median, color=colours[name], label=pairs[name][1])
            panel.fill_between(seen, low, high, color=colours[name], alpha=0.2, linewidth=0)
    panels["c"].axhline(1, zorder=0, **THEORY)
    panels["c"].axhline(0, color="0.85", linewidth=0.6, zorder=0)
    panels["c"].set(xscale="log", xlabel="samples", ylabel="correlation with theory", title="through learning")
    panels["c"].legend(loc="lower right", fontsize=7, frameon=True, framealpha=0.8, edgecolor="none")
    panels["e"].axhline(tolerated, zorder=0, label=f"{tolerated:.0%}", **THEORY)
    panels["e"].set(
        xscale="log", yscale="log", xlabel="samples", ylabel="relative r.m.s. error", title="through learning"
    )
    panels["e"].legend(handles=panels["e"].get_lines()[-1:], loc="lower left", fontsize=7)
    for place, errors in enumerate(rivals.values()):
        panels["r"].plot(np.full(len(errors), place), errors, "o", color=COLOURS["plateau"], markersize=3, alpha=0.5)
    panels["r"].axhline(tolerated, zorder=0, **THEORY)
    panels["r"].set_xticks(range(len(rivals)), list(rivals), fontsize=7)
    panels["r"].set(yscale="log", xlim=(-0.5, len(rivals) - 0.5), ylabel="relative r.m.s. error")
    panels["r"].set_title("plateau, after learning")
    return np.array(list(panels.values()), dtype=object)

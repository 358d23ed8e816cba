"""Figure of how the plateau potential and the inhibition come to agree with theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.analysis.figures.style import (
    COLOURS,
    THEORY,
    Dataset,
    draw_against,
    for_log_axis,
    styled,
)

# Colour, trace of the circuit, its label, and the label of what theory expects, by what is
# compared.
_PLATEAU = "plateau", "plateau $a - Qn$"
_COMPARED = {
    "inhibition": (COLOURS["Q"], "inhibition", "inhibition $Qn$", r"prediction $V_y'\tilde y$"),
    "plateau": (COLOURS["plateau"], *_PLATEAU, r"error $V_y'(y - \tilde y)$"),
    "network": (COLOURS["distal"], *_PLATEAU, r"backprop $V_y'\epsilon$"),
}
_INHIBITION = {  # what is done to it
    "recorded_plateau_relative_error": "as it is",
    "plateau_relative_error_no_inhibition": "without\ninhibition",
    "plateau_relative_error_other_inhibition": "with that of\nother samples",
}


@styled
def plot_agreement(results: Dataset, tolerated: float) -> np.ndarray:
    """Scatter what the circuit does against what theory says, and follow their agreement through
    learning.

    Parameters
    ----------
    results
        Traces ``recorded_inhibition`` and ``recorded_plateau`` of the first seed, (stage, row,
        pyramidal), and what theory expects, ``expected_inhibition``, ``expected_plateau`` and
        perhaps ``expected_network``. For each of these, such as ``plateau_correlation`` and
        ``plateau_relative_error``, (seed, snapshot, pyramidal): of these the median over seeds and
        neurons is drawn, in a band from the lowest to the highest. The error of recorded plateaus,
        ``recorded_plateau_relative_error`` (seed, stage, pyramidal), and under the null hypotheses,
        ``plateau_relative_error_no_inhibition`` and ``plateau_relative_error_other_inhibition``
        (seed, pyramidal).
    tolerated
        Relative error up to which the two count as equal.

    Returns
    -------
    axes : (number of comparisons + 3,)
    """
    import matplotlib.pyplot as plt

    known = [name for name in _COMPARED if f"expected_{name}" in results]
    layout: Any = [
        [name for name in known for _ in range(6 // len(known))],
        [name for name in ("correlation", "relative_error", "nulls") for _ in range(2)],
    ]
    panels = plt.subplot_mosaic(layout, figsize=(7.4, 5.0))[1]
    seen = for_log_axis(results["seen"].values)
    for name in known:
        colour, trace, measured, expected = _COMPARED[name]
        last = results.isel(stage=-1)
        draw_against(panels[name], last[f"expected_{name}"], last[f"recorded_{trace}"], colour)
        panels[name].set(xlabel=expected, ylabel=measured, title="after learning")
        for measure in ("correlation", "relative_error"):
            values = (
                results[f"{name}_{measure}"]
                .transpose("snapshot", ...)
                .values.reshape(len(seen), -1)
            )
            low, median, high = np.nanpercentile(values, (0, 50, 100), axis=1)
            panels[measure].plot(seen, median, color=colour, label=expected)
            panels[measure].fill_between(seen, low, high, color=colour, alpha=0.2, linewidth=0)
    course, error, nulls = panels["correlation"], panels["relative_error"], panels["nulls"]
    course.axhline(1, zorder=0, **THEORY)
    course.axhline(0, color="0.85", linewidth=0.6, zorder=0)
    course.set(
        xscale="log", xlabel="samples", ylabel="correlation with theory", title="through learning"
    )
    course.legend(loc="lower right", fontsize=7, frameon=True, framealpha=0.8, edgecolor="none")
    bound = error.axhline(tolerated, zorder=0, label=f"{tolerated:.0%}", **THEORY)
    error.set(
        xscale="log",
        yscale="log",
        xlabel="samples",
        ylabel="relative r.m.s. error",
        title="through learning",
    )
    error.legend(handles=[bound], loc="lower left", fontsize=7)
    for place, name in enumerate(_INHIBITION):
        values = (
            results[name].isel(stage=-1) if "stage" in results[name].dims else results[name]
        ).values.ravel()
        nulls.plot(
            np.full(len(values), place),
            values,
            "o",
            color=COLOURS["plateau"],
            markersize=3,
            alpha=0.5,
        )
    nulls.axhline(tolerated, zorder=0, **THEORY)
    nulls.set_xticks(range(len(_INHIBITION)), [*_INHIBITION.values()], fontsize=7)
    nulls.set(yscale="log", xlim=(-0.5, len(_INHIBITION) - 0.5), ylabel="relative r.m.s. error")
    nulls.set_title("plateau, after learning")
    return np.array(list(panels.values()), dtype=object)

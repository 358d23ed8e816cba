"""Figure of how the plateau potential and the inhibition come to agree with theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.analysis.figures.style import (
    GUIDE,
    PAGE,
    THEORY,
    Axes,
    Dataset,
    colour,
    draw_against,
    for_log_axis,
    legend_below,
    log_samples,
    new_figure,
    percent,
    styled,
)

# Quantity whose colour it has, trace of the circuit, its label, and what theory expects, by what is
# compared.
_PLATEAU = "plateau", "plateau $a - Qn$"
_COMPARED = {
    "inhibition": ("Q", "inhibition", "inhibition $Qn$", r"prediction $V_y'\tilde y$"),
    "plateau": ("plateau", *_PLATEAU, r"error $V_y'(y - \tilde y)$"),
    "network": ("own", *_PLATEAU, r"backprop $V_y'\epsilon$"),
}
_INHIBITION = {  # what is done to it
    "recorded_plateau_relative_error": "as it is",
    "plateau_relative_error_no_inhibition": "none",
    "plateau_relative_error_other_inhibition": "of other\nsamples",
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
    known = [name for name in _COMPARED if f"expected_{name}" in results]
    layout: Any = [
        [name for name in known for _ in range(6 // len(known))],
        [name for name in ("correlation", "relative_error", "nulls") for _ in range(2)],
    ]
    panels = new_figure(PAGE, 4.9).subplot_mosaic(layout)
    for name in known:
        _scatter(panels[name], results.isel(stage=-1), name)
    for name in known:
        _follow(panels["correlation"], results, name, "correlation")
        _follow(panels["relative_error"], results, name, "relative_error")
    panels["correlation"].axhline(0, **GUIDE)
    panels["correlation"].set(ylabel="correlation with theory", title="through learning")
    panels["relative_error"].set(yscale="log", ylabel="relative r.m.s. deviation")
    panels["relative_error"].set_title("through learning")
    _draw_nulls(panels["nulls"], results)
    bound = f"{100 * tolerated:g} %: up to here they count as equal"
    for name in ("relative_error", "nulls"):
        panels[name].axhline(tolerated, zorder=0, **{**THEORY, "linestyle": ":"}, label=bound)
    note = (
        "Lines: median over neurons and seeds; bands: from the lowest to the highest. Dots above:"
        " samples; dots below: neurons of each seed."
    )
    legend_below([*panels.values()], note, most=3)
    return np.array(list(panels.values()), dtype=object)


def _scatter(panel: Axes, results: Dataset, name: str) -> None:
    """Draw a signal of the circuit against its theory, with their relative r.m.s. deviation."""
    quantity, trace, measured, expected = _COMPARED[name]
    theory, found = (
        results[f"{kind}_{one}"].values for kind, one in (("expected", name), ("recorded", trace))
    )
    draw_against(panel, theory, found, colour(quantity))
    error = np.sqrt(np.nansum((found - theory) ** 2) / np.nansum(theory**2))
    panel.set(xlabel=expected, ylabel=measured, title=f"after learning: deviation {percent(error)}")


def _follow(panel: Axes, results: Dataset, name: str, measure: str) -> None:
    """Draw the median of a measure through learning, in a band of all neurons and seeds."""
    seen = results["seen"].values
    values = results[f"{name}_{measure}"].transpose("snapshot", ...).values.reshape(len(seen), -1)
    low, median, high = np.nanpercentile(values, (0, 50, 100), axis=1)
    tint, at = colour(_COMPARED[name][0]), for_log_axis(seen)
    panel.plot(at, median, color=tint, label=f"against {_COMPARED[name][3]}")
    panel.fill_between(at, low, high, color=tint, alpha=0.2, linewidth=0)
    log_samples(panel, seen, 4)


def _draw_nulls(panel: Axes, results: Dataset) -> None:
    """Draw the error of plateaus after learning, as it is and under the null hypotheses."""
    for place, name in enumerate(_INHIBITION):
        last = results[name].isel(stage=-1) if "stage" in results[name].dims else results[name]
        values = last.values.ravel()
        look = {"color": colour("plateau"), "markersize": 3, "alpha": 0.5}
        panel.plot(np.full(len(values), place), values, "o", **look)
    panel.set_xticks(range(len(_INHIBITION)), [*_INHIBITION.values()])
    panel.set(yscale="log", xlim=(-0.5, len(_INHIBITION) - 0.5), ylabel="relative r.m.s. deviation")
    panel.set(title="plateau after learning", xlabel="inhibition")

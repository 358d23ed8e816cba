"""Figure of how the plateau potential and the inhibition come to agree with theory."""

from __future__ import annotations

from typing import Any

import numpy as np

from biorrr.analysis.figures.panels.plateau import plot_plateau
from biorrr.analysis.figures.runs import HALFWAY
from biorrr.analysis.figures.style import (
    GUIDE,
    PAGE,
    THEORY,
    Axes,
    DataArray,
    Dataset,
    colour,
    draw_against,
    for_log_axis,
    in_percent,
    legend_below,
    log_samples,
    new_figure,
    styled,
)

_DEVIATION = "relative r.m.s. deviation"
_PLATEAU = "plateau", "plateau $a - Qn$"
_COMPARED = {  # quantity whose colour it has, dashes, signal of the circuit, its label, and theory
    "inhibition": ("Q", "--", "inhibition", "inhibition $Qn$", r"prediction $V_y'\tilde y$"),
    "plateau": ("plateau", "-", *_PLATEAU, r"error $V_y'(y - \tilde y)$"),
    "network": ("own", "-.", *_PLATEAU, r"backprop $V_y'\epsilon$"),
}


def plot_recorded(results: Dataset, samples: int, neurons: int) -> np.ndarray:
    """Draw the first ``samples`` of the first ``neurons`` before, halfway through and after
    learning, beside theory.

    ``results`` are those of :func:`plot_agreement`.
    """
    _, halfway, end = results["stage_samples"].values[0]
    titles = "before", f"halfway\n{halfway:,}", f"after\n{end:,}"
    few = results.isel(row=slice(samples), pyramidal=slice(neurons))
    shown, theory = (
        {
            title: {name: few[kind].sel({along: name})[stage].values for name in names}
            for stage, title in enumerate(titles)
        }
        for kind, along, names in (
            ("recorded", "signal", results["signal"].values),
            ("expected", "comparison", ("plateau", "inhibition")),
        )
    )
    errors = results["agreement"].sel(measure="relative_error", comparison="plateau")[0].values
    rows = results.sizes["row"]
    note = (
        f"{_at_s(results)} First seed. Above: samples seen in learning. {HALFWAY}"
        f" Deviations are of all {rows:,} samples."
    )
    known: Any = {"deviations": dict(zip(titles, errors, strict=True)), "note": note}
    return plot_plateau(shown, theory, unit="sample, learning off", **known)


def _at_s(results: Dataset) -> str:
    """Return in a sentence which of the experiment's circuits is shown."""
    return f"$s$ = {float(results['s']):g}."


@styled
def plot_agreement(results: Dataset, tolerated: float) -> np.ndarray:
    """Scatter what the circuit does against what theory says, and follow their agreement through
    learning.

    Parameters
    ----------
    results
        What :func:`biorrr.analysis.plateau.compare_with_theory` has found at one s: measures with a
        dimension seed first, of which the median over seeds and neurons is drawn, in a band from
        the lowest to the highest; signals of the first seed.
    tolerated
        Relative error up to which the two count as equal.

    Returns
    -------
    axes : (number of comparisons + 3,)
    """
    known = [str(name) for name in results["comparison"].values]
    measures = {"correlation": "correlation with theory", "relative_error": _DEVIATION}
    layout: Any = [
        [name for name in known for _ in range(6 // len(known))],
        [name for name in (*measures, "nulls") for _ in range(2)],
    ]
    panels = new_figure(PAGE, 4.9).subplot_mosaic(layout)
    for name in known:
        _scatter(panels[name], results.isel(stage=-1), name)
    for measure, words in measures.items():
        for name in known:
            _follow(panels[measure], results["course"].sel(comparison=name, measure=measure), name)
        log_samples(panels[measure], results["seen"].values, 4)
        panels[measure].set(ylabel=words, title="through learning")
    panels["correlation"].axhline(0, **GUIDE)
    _draw_nulls(panels["nulls"], results)
    bound = f"{100 * tolerated:g} %: plateau and error count as equal"
    for name in ("relative_error", "nulls"):
        panels[name].axhline(tolerated, zorder=0, **{**THEORY, "linestyle": ":"}, label=bound)
        panels[name].set(yscale="log")
        in_percent(panels[name])
    note = (
        f"{_at_s(results)} Dots above: samples of the first seed; dots below: neurons of each"
        " seed. Lines: median over neurons and seeds; bands: from the lowest to the highest."
    )
    legend_below([*panels.values()], note, most=3)
    return np.array(list(panels.values()), dtype=object)


def _scatter(panel: Axes, results: Dataset, name: str) -> None:
    """Draw a signal of the circuit against its theory, with their relative r.m.s. deviation."""
    quantity, _, signal, measured, expected = _COMPARED[name]
    theory = results["expected"].sel(comparison=name).values
    found = results["recorded"].sel(signal=signal).values
    deviation = draw_against(panel, theory, found, colour(quantity))
    panel.set(xlabel=expected, ylabel=measured, title=f"after learning: {deviation}")


def _follow(panel: Axes, course: DataArray, name: str) -> None:
    """Draw the median of a measure through learning, in a band of all neurons and seeds."""
    values = course.transpose("snapshot", ...).values.reshape(course.sizes["snapshot"], -1)
    low, median, high = np.nanpercentile(values, (0, 50, 100), axis=1)
    quantity, dashes, *_, expected = _COMPARED[name]
    tint, at = colour(quantity), for_log_axis(course["seen"])
    panel.plot(at, median, color=tint, linestyle=dashes, label=f"against {expected}")
    panel.fill_between(at, low, high, color=tint, alpha=0.2, linewidth=0)


def _draw_nulls(panel: Axes, results: Dataset) -> None:
    """Draw the error of plateaus after learning, as it is and under the null hypotheses."""
    error = results["agreement"].sel(measure="relative_error", comparison="plateau")
    columns = [error[..., -1, :], *results["null_error"].transpose("null", ...)]
    look: Any = {"color": colour("plateau"), "markersize": 3, "alpha": 0.5, "linestyle": "none"}
    for place, column in enumerate(columns):
        panel.plot(np.full(column.size, place), column.values.ravel(), marker="o", **look)
    panel.set_xticks(range(3), ["as it is", "none", "of other\nsamples"])
    panel.set(xlim=(-0.5, 2.5), ylabel=_DEVIATION, title="plateau after learning")
    panel.set_xlabel("inhibition")

"""Figures of plateaus and inhibition beside theory, and of the family from RRMSE to CCA."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.plateaus import plot_plateau
from biorrr.analysis.figures.runs import HALFWAY
from biorrr.analysis.figures.style import (
    BEHIND,
    GUIDE,
    PAGE,
    THEORY,
    Axes,
    DataArray,
    Dataset,
    colour,
    draw_against,
    explain,
    in_percent,
    log_samples,
    new_figure,
    percent,
    styled,
)

_DEVIATION = "relative r.m.s. deviation"
_PLATEAU = "plateau", "plateau $a - Qn$"
_COMPARED = {  # quantity whose colour it has, dashes, signal of the circuit, its label, and theory
    "inhibition": ("Q", "--", "inhibition", "inhibition $Qn$", r"prediction $V_y'\tilde y$"),
    "plateau": ("plateau", "-", *_PLATEAU, r"error $V_y'(y - \tilde y)$"),
    "network": ("own", "-.", *_PLATEAU, r"backprop $V_y'\epsilon$"),
}


def plot_recorded(results: Dataset, samples: int = 50, neurons: int = 4) -> np.ndarray:
    """Draw the first ``samples`` of the first ``neurons`` before, halfway through and after
    learning, beside theory.

    ``results`` are those of :func:`plot_agreement`.
    """
    _, halfway, end = results["stage_samples"].values[0]
    titles = "before", f"halfway\n{halfway:,}", f"after\n{end:,}"
    few = results.isel(row=slice(samples), pyramidal=slice(neurons))
    errors = results["agreement"].sel(measure="relative_error", comparison="plateau")[0].values
    note = (
        f"{_at_s(results)} First seed. Above: samples seen in learning. {HALFWAY}"
        f" Deviations are of all {results.sizes['row']:,} samples."
    )
    return plot_plateau(
        _by_stage(few["recorded"].rename(signal="name"), titles, results["signal"].values),
        _by_stage(few["expected"].rename(comparison="name"), titles, ("plateau", "inhibition")),
        unit="sample, learning off",
        deviations=dict(zip(titles, errors, strict=True)),
        note=note,
    )


def _by_stage(
    signals: DataArray, titles: tuple[str, ...], names: Iterable[str]
) -> dict[str, dict[str, NDArray]]:
    """Return signals (name, stage, row, pyramidal) by the title of their stage and by name."""
    return {
        title: {name: signals.sel(name=name).isel(stage=stage).values for name in names}
        for stage, title in enumerate(titles)
    }


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
    above, below = np.repeat(known, 6 // len(known)), np.repeat([*measures, "nulls"], 2)
    panels = new_figure(PAGE, 4.9).subplot_mosaic([above.tolist(), below.tolist()])
    for name in known:
        _scatter(panels[name], results.isel(stage=-1), name)
    for measure, words in measures.items():
        for name in known:
            _follow(panels[measure], results["course"].sel(comparison=name, measure=measure), name)
        log_samples(panels[measure], results["seen"].values, 5)
        panels[measure].set(ylabel=words, title="through learning")
    panels["correlation"].axhline(0, **GUIDE)
    _draw_nulls(panels["nulls"], results)
    bound = f"{100 * tolerated:g} %: plateau and error count as equal"
    for name in ("relative_error", "nulls"):
        panels[name].axhline(tolerated, zorder=0, **(THEORY | {"linestyle": ":"}), label=bound)
        panels[name].set_yscale("log")
        in_percent(panels[name])
    return explain(
        np.array([*panels.values()], dtype=object),
        f"{_at_s(results)} Dots above: samples of the first seed; dots below: neurons of each"
        " seed. Lines: median over neurons and seeds; bands: from the lowest to the highest.",
        most=3,
    )


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
    tint, at = colour(quantity), course["seen"].values
    panel.plot(at, median, color=tint, linestyle=dashes, label=f"against {expected}")
    panel.fill_between(at, low, high, color=tint, alpha=0.2, linewidth=0)


def _draw_nulls(panel: Axes, results: Dataset) -> None:
    """Draw the error of plateaus after learning, as it is and under the null hypotheses."""
    error = results["agreement"].sel(measure="relative_error", comparison="plateau")
    columns = [error.isel(stage=-1), *results["null_error"].transpose("null", ...)]
    for place, column in enumerate(columns):
        places, tint = np.full(column.size, place), colour("plateau")
        panel.plot(places, column.values.ravel(), "o", color=tint, markersize=3, alpha=0.5)
    panel.set_xticks(range(3), ["as it is", "none", "of other\nsamples"])
    panel.set(xlim=(-0.5, 2.5), xlabel="inhibition", ylabel=_DEVIATION)
    panel.set_title("plateau after learning")


_SHOWN_SAMPLES, _SHOWN_S = 60, 3  # of the plateaus


@styled
def plot_family(results: Dataset) -> np.ndarray:
    """Draw plateaus at the first, the middle and the last s, and numbers against s below.

    Parameters
    ----------
    results
        ``plateau`` and back-propagated ``error`` (s, row, pyramidal), of which the first neuron's
        are shown; ``eigenvalues_QQ`` (s, seed, component) and those that they should equal,
        ``eigenvalues_M`` (s, component); ``excess`` (s, seed) and ``plateau_relative_error`` (s,
        seed, pyramidal), both relative; the coefficients ``own_current`` and ``decay`` of the
        distal rule and, as the paper has them, ``own_current_exact`` and ``decay_exact``, each
        (s,).

    Returns
    -------
    axes : (panels of plateaus + 4,)
    """
    s = results["s"].values
    chosen = np.unique(np.linspace(0, len(s) - 1, min(_SHOWN_S, len(s))).round().astype(int))
    halves = new_figure(PAGE, 4.2).add_gridspec(2, 1, height_ratios=[1, 1.3])
    above = halves[0].subgridspec(1, len(chosen)).subplots(squeeze=False)[0]
    below = halves[1].subgridspec(1, 4).subplots(squeeze=False)[0]
    for panel, place in zip(above, chosen, strict=True):
        _draw_plateau(panel, results.isel(s=place))
    above[0].set_ylabel("plateau of neuron 0,\nfirst seed")
    _draw_numbers(below[0], results["eigenvalues_QQ"], "D", "Q", label="eigenvalues of $QQ'$")
    below[0].set(title="eigenvalues", ylim=(0, None))
    _draw_worst(below[1], results["excess"], "excess")
    _draw_worst(below[2], results["plateau_relative_error"], "error of plateaus")
    own, decay = results["own_current"], results["decay"]
    look: Any = {"markersize": 4.5, "fillstyle": "none"}
    _draw_numbers(below[3], own, "s", "distal", label="own current $a$", markersize=4.5)
    _draw_numbers(below[3], decay, "^", "distal", label="decay of $V_y$", **look)
    below[3].set(ylim=(-0.05, 1.15), title="coefficients of the\ndistal rule")
    exact = {"eigenvalues_M": 0, "own_current_exact": 3, "decay_exact": 3}
    for name, place in exact.items():
        words = "exact solution, and the paper's rule"
        below[place].plot(s, results[name], zorder=0, label=words, **THEORY)
    for panel in below:
        panel.set(xlabel="$s$ (0: RRMSE, 1: CCA)", xticks=[0, 0.5, 1])
    return explain(
        np.array([*above, *below], dtype=object),
        "Each dot is a seed, and in the error of plateaus (relative r.m.s.) a neuron of a seed.",
    )


def _draw_plateau(panel: Axes, results: Dataset) -> None:
    """Draw the plateau of a neuron at one s over the back-propagated error."""
    plateau, error = (results[name][:_SHOWN_SAMPLES, 0] for name in ("plateau", "error"))
    steps = np.arange(len(plateau))
    panel.step(steps, error, where="mid", label="back-propagated error", **BEHIND)
    panel.step(steps, plateau, where="mid", color=colour("plateau"), linewidth=0.9, label="plateau")
    panel.locator_params(axis="y", nbins=3)
    panel.set(title=f"s = {float(results['s']):g}", xlabel="sample")


def _draw_numbers(panel: Axes, numbers: DataArray, marker: str, quantity: str, **look: Any) -> None:
    """Draw a mark for each number against s; all have the colour of ``quantity``."""
    values = numbers.values.reshape(numbers.sizes["s"], -1)
    panel.plot(numbers["s"], values, marker, color=colour(quantity), **({"markersize": 3} | look))


def _draw_worst(panel: Axes, numbers: DataArray, words: str) -> None:
    """Draw numbers in percent against s; the title has the largest."""
    _draw_numbers(panel, numbers, "o", "circuit", alpha=0.6)
    low, high = float(numbers.min()), float(numbers.max())
    if 0 < 20 * low < high:
        panel.set_yscale("log")
    else:
        panel.set_ylim(0, 1.1 * high)
    in_percent(panel)
    panel.set_title(f"{words},\nat most {percent(high)}")

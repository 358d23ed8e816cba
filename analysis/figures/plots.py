"""Figures. Each takes arrays and, if it is to draw into axes of your own, ``ax``; returns the axes; shows nothing.

matplotlib is imported when the first figure is drawn. A quantity has one colour in every figure (`COLOURS`).
"""

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


@styled
def plot_learning(
    samples: ArrayLike,
    scores: ArrayLike,
    optimum: float | None = None,
    *,
    label: str | None = None,
    color: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Objective against samples with the optimum dashed, or, without ``optimum``, excess on a logarithmic axis.

    Parameters
    ----------
    samples : (S,)
        Samples seen, on a logarithmic axis; the start, at 0, is drawn at half the first count that follows.
    scores : (S,) or (seeds, S)
        Of several seeds the mean is drawn, and a band of one standard deviation on either side.
    optimum
        Of the objective.
    label, color
        Of the curve; call again with the same ``ax`` for further curves.
    """
    ax = _axes(ax)
    samples = for_log_axis(samples)
    scores = np.atleast_2d(np.asarray(scores, dtype=float))
    mean, spread = scores.mean(axis=0), scores.std(axis=0)
    (line,) = ax.plot(samples, mean, label=label, color=color)
    ax.set(xscale="log", xlabel="samples", ylabel="objective" if optimum is not None else "excess over the optimum")
    low = mean - spread
    if optimum is None:
        ax.set_yscale("log")
        low = np.maximum(low, scores.min(axis=0))  # a logarithmic axis has no room below zero
    else:
        named = "optimum" in ax.get_legend_handles_labels()[1]
        ax.axhline(optimum, label=None if named else "optimum", zorder=0, **THEORY)
    if len(scores) > 1:
        ax.fill_between(samples, low, mean + spread, color=line.get_color(), alpha=0.25, linewidth=0)
    if ax.get_legend_handles_labels()[1]:
        ax.legend()
    return ax


@styled
def plot_plateau(
    samples: ArrayLike,
    plateau: ArrayLike,
    a: ArrayLike | None = None,
    inhibition: ArrayLike | None = None,
    z: ArrayLike | None = None,
    *,
    shown: int = 60,
    ax: np.ndarray | None = None,
) -> np.ndarray:
    """Traces of each neuron at the first and the last samples recorded, one above the other.

    The three signals of the distal dendrite share a scale, since plateau = a - inhibition; the output has its own. Bars
    on the right show both. A rare value four times as large as nearly all others is cut off where its lane ends.

    Parameters
    ----------
    samples : (T,)
        Which samples were recorded.
    plateau, a, inhibition, z : (T, k)
        Plateau potential, distal current, inhibition of the distal dendrite, somatic output; None is left out.
    shown
        Recorded samples at either end.
    ax : (k, 2)
        Axes, a row for each neuron.
    """
    known = {
        "plateau": (plateau, "plateau"),
        "distal $a$": (a, "distal"),
        "inhibition": (inhibition, "Q"),
        "output $z$": (z, "proximal"),
    }
    traces = {name: (trace, role) for name, (trace, role) in known.items() if trace is not None}
    samples, k, levels = np.asarray(samples), np.shape(plateau)[1], len(traces)
    axes = _axes(ax, k, 2, figsize=(6.6, 0.5 + (0.1 + 0.4 * levels) * k), sharex="col")
    for neuron, row in enumerate(axes):
        signals = {name: (np.asarray(trace)[:, neuron], COLOURS[role]) for name, (trace, role) in traces.items()}
        peaks = {name: max(_usual_peak(signal[ends]) for ends in _ends(shown)) for name, (signal, _) in signals.items()}
        output = peaks.pop("output $z$", None)
        scales = [max(peaks.values()) or 1.0] * len(peaks) + ([] if output is None else [output or 1.0])
        for panel, ends, when in zip(row, _ends(shown), ("early", "late"), strict=True):
            for level, ((signal, color), scale) in enumerate(zip(signals.values(), scales, strict=True)):
                panel.axhline(-level, color="0.85", linewidth=0.6, zorder=0)
                heights = np.clip(signal[ends] / (2.1 * scale), -0.5, 0.5) - level
                panel.plot(samples[ends], heights, color=color, linewidth=1, drawstyle="steps-mid")
            panel.set(ylim=(0.45 - levels, 0.55), yticks=-np.arange(levels), yticklabels=[])
            panel.tick_params(left=False)
            panel.spines["left"].set_visible(False)
            if neuron == 0:
                panel.set_title(f"{when} in learning")
            if neuron == k - 1:
                panel.set_xlabel("sample")
                panel.ticklabel_format(axis="x", style="plain")
        row[0].set_yticklabels(signals)
        for tick, (_, color) in zip(row[0].get_yticklabels(), signals.values(), strict=True):
            tick.set_color(color)
        row[0].set_ylabel(f"neuron {neuron + 1}")
        bars = {len(peaks) // 2: scales[0]} | ({} if output is None else {levels - 1: scales[-1]})
        for level, scale in bars.items():
            draw_scale_bar(row[1], level, scale)
    return axes


def _usual_peak(signal: np.ndarray) -> float:
    """Size of the largest value; if that is an outlier that would flatten the rest, twice what 19 in 20 stay below."""
    size = np.abs(signal)
    usual = np.percentile(size, 95)
    return float(2 * usual if 0 < 4 * usual < size.max() else size.max())


@styled
def plot_audit(
    plateau: ArrayLike,
    error: ArrayLike,
    samples: ArrayLike | None = None,
    correlation: ArrayLike | None = None,
    *,
    shown: int = 60,
    ax: np.ndarray | None = None,
) -> np.ndarray:
    """Plateau and backpropagated error: overlaid, against each other, and their correlation over learning.

    Parameters
    ----------
    plateau, error : (T, k)
        a - Qn and what theory says it is, as of :class:`~biorrr.analysis.plateau.PlateauAudit`.
    samples, correlation : (S,), (S, k)
        Correlation of the two at snapshots; without them the third panel is left out.
    shown
        Samples in the overlay, which is of the first neuron.
    ax : (2,) or (3,)
        Axes.
    """
    plateau, error = np.asarray(plateau), np.asarray(error)
    panels = 2 if samples is None or correlation is None else 3
    axes = _axes(ax, 1, panels, figsize=(2.9 * panels, 2.5)).ravel()
    overlay, scatter = axes[:2]
    overlay.plot(error[:shown, 0], color=COLOURS["theory"], alpha=0.5, linewidth=4, label="error $V_y'(y - \\tilde y)$")
    overlay.plot(plateau[:shown, 0], color=COLOURS["plateau"], linewidth=1, label="plateau $a - Qn$")
    overlay.set(xlabel="sample", title="neuron 1")
    overlay.margins(y=0.25)
    overlay.legend(loc="upper right", ncols=2, columnspacing=1, handlelength=1.4)
    limit = 1.05 * max(np.abs(plateau).max(), np.abs(error).max())
    shades = _shades(plateau.shape[1])
    for neuron, shade in enumerate(shades):
        scatter.plot(error[:, neuron], plateau[:, neuron], ".", markersize=2, alpha=0.4, color=shade)
    scatter.plot([-limit, limit], [-limit, limit], zorder=0, **THEORY)
    scatter.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    scatter.set(xlabel="error $V_y'(y - \\tilde y)$", ylabel="plateau $a - Qn$")
    if samples is not None and correlation is not None:
        for neuron, shade in enumerate(shades):
            over_learning = np.asarray(correlation)[:, neuron]
            axes[2].plot(for_log_axis(samples), over_learning, color=shade, label=f"neuron {neuron + 1}")
        axes[2].axhline(1, zorder=0, **THEORY)
        axes[2].set(xscale="log", xlabel="samples", ylabel="correlation")
        axes[2].legend(loc="lower right")
    return axes


@styled
def plot_symmetry(samples: ArrayLike, measured: ArrayLike, predicted: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """||Q' - R|| (S,) against the product of (1 - eta) (S,) on a logarithmic axis, over ``samples`` (S,) seen."""
    ax = _axes(ax)
    ax.plot(samples, predicted, label="predicted, $\\prod(1-\\eta_q)$", zorder=3, **THEORY)
    ax.plot(samples, measured, "o", color=COLOURS["R"], label="measured", markersize=4)
    ax.set(yscale="log", xlabel="samples", ylabel="$\\Vert Q' - R \\Vert$")
    ax.legend()
    return ax


@styled
def plot_filters(
    learned: ArrayLike,
    exact: ArrayLike | None = None,
    pixels: tuple[int, ...] | None = None,
    *,
    ax: np.ndarray | None = None,
) -> np.ndarray:
    """Learned filters, and exact ones below or behind them: as pictures where ``pixels`` is given, else as curves.

    Parameters
    ----------
    learned, exact : (m, k)
        Filters Vx. Align the learned ones first (:func:`biorrr.analysis.align`): they are defined up to a rotation.
    pixels
        Shape of a filter as a picture, (height, width), or (3, height, width) for colour.
    ax : (1, k) or (2, k)
        Axes; a row for the learned and, as pictures, one for the exact filters.
    """
    rows = {"learned": np.asarray(learned)} | ({} if exact is None else {"exact": np.asarray(exact)})
    k = rows["learned"].shape[1]
    if pixels is None:
        axes = _axes(ax, 1, k, figsize=(2.6 * k, 2.2), sharey=True)
        looks = {"learned": {"color": COLOURS["proximal"], "zorder": 3}, "exact": THEORY}
        for neuron, panel in enumerate(axes[0]):
            for name, filters in rows.items():
                panel.plot(np.arange(1, len(filters) + 1), filters[:, neuron], label=name, **looks[name])
            panel.set(title=f"neuron {neuron + 1}", xlabel="input")
        axes[0, 0].set_ylabel("weight $V_x$")
        axes[0, 0].legend()
        return axes
    axes = _axes(ax, len(rows), k, figsize=(1.4 * k + 0.4, 1.5 * len(rows)))
    for row, (name, filters) in zip(axes, rows.items(), strict=True):
        row[0].set_ylabel(name)
        for neuron, panel in enumerate(row):
            picture, limit = filters[:, neuron].reshape(pixels), np.abs(filters[:, neuron]).max() or 1.0
            if len(pixels) == 3:  # channels first, as data sets have them; grey is zero
                panel.imshow(0.5 + 0.5 * np.moveaxis(picture, 0, -1) / limit)
            else:
                panel.imshow(picture, vmin=-limit, vmax=limit)
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
    for neuron, panel in enumerate(axes[0]):
        panel.set_title(f"neuron {neuron + 1}")
    return axes


@styled
def plot_eigenvalues(
    eigenvalues_M: ArrayLike, eigenvalues_QQ: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Eigenvalues of M (r,), largest first, and those of QQ' (k,), which equal the first k at the optimum."""
    ax = _axes(ax)
    eigenvalues_M = np.asarray(eigenvalues_M)
    index = np.arange(1, len(eigenvalues_M) + 1)
    ax.bar(index, eigenvalues_M, color="0.85", edgecolor=COLOURS["theory"], linewidth=0.8, label="$M$")
    if eigenvalues_QQ is not None:
        ax.plot(index[: np.size(eigenvalues_QQ)], eigenvalues_QQ, "D", color=COLOURS["Q"], markersize=5, label="$QQ'$")
    ax.set(xlabel="component", ylabel="eigenvalue")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    return ax


def _axes(ax: Any, *shape: int, **layout) -> Any:
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


def _shades(k: int) -> np.ndarray:
    """A colour for each of k neurons, none of which stands for a quantity."""
    import matplotlib

    return matplotlib.colormaps["viridis"](np.linspace(0.1, 0.85, k))


def for_log_axis(samples: ArrayLike) -> np.ndarray:
    """Sample counts, a count of 0 moved to half the first that follows."""
    samples = np.asarray(samples, dtype=float)
    positive = samples[samples > 0]
    return np.maximum(samples, positive.min() / 2 if positive.size else 1.0)


def _ends(shown: int) -> tuple[slice, slice]:
    return slice(None, shown), slice(-shown, None)

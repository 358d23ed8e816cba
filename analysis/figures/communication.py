"""How one area predicts another, in figures after Semedo et al. (2019), Neuron 102, 249-259."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.style import COLOURS, axes_of, styled, ticks_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WITHIN = COLOURS["R"]  # the same area, in all figures here
ACROSS = COLOURS["proximal"]  # the other area


@dataclass(frozen=True)
class RankCurve:
    """Held-out R2 of one target against rank.

    Attributes
    ----------
    exact, sem : (n,)
        R2 of the exact solution at ranks 1 to n, and its standard error over folds.
    ranks : (r,)
        Ranks of the circuits.
    circuits : (r, seeds)
        R2 of the circuits; none where no circuit was simulated.
    chosen
        The rank that cross-validation chooses.
    null : (shuffles,)
        R2 at that rank with trials shuffled.
    within : (draws, n')
        R2 of matched targets in the source's own area.
    """

    exact: NDArray
    sem: NDArray
    ranks: Sequence[int]
    circuits: NDArray | tuple[()]
    chosen: int
    null: NDArray | tuple[()] = ()
    within: NDArray | None = None


@styled
def plot_prediction(targets: Mapping[str, RankCurve]) -> np.ndarray:
    """Draw held-out R2 against rank, one panel per target: circuits beside the exact solution, and its controls.

    Bars are one standard error over folds for the exact solution, and one standard deviation over seeds for circuits
    and over draws for targets within the area.

    Returns
    -------
    axes : (number of targets,)
    """
    axes = axes_of(None, 1, len(targets), figsize=(max(3.1 * len(targets), 4.2), 3.0), sharey=True)[0]
    for ax, (title, curve) in zip(axes, targets.items(), strict=True):
        exact, sem, circuits = (np.asarray(one, dtype=float) for one in (curve.exact, curve.sem, curve.circuits))
        every = np.arange(1, len(exact) + 1)
        ax.errorbar(every, exact, sem, color=COLOURS["theory"], marker=".", capsize=1.5, label="exact")
        ax.axhline(exact[-1], color=COLOURS["theory"], linestyle=":", linewidth=1, label="exact, full rank")
        if circuits.size:
            ax.errorbar(
                curve.ranks, circuits.mean(axis=1), circuits.std(axis=1), color=ACROSS, marker="o", markersize=5,
                linestyle="none", capsize=2, label="circuit", zorder=4,
            )  # fmt: skip
        if curve.within is not None:
            within = np.asarray(curve.within)
            ax.errorbar(
                np.arange(1, within.shape[1] + 1) + 0.12, within.mean(axis=0), within.std(axis=0), color=WITHIN,
                marker="s", markersize=3, linewidth=1, capsize=1.5, label="within the area, matched", zorder=3,
            )  # fmt: skip
        null = np.asarray(curve.null, dtype=float)
        if null.size:
            ax.axhspan(null.min(), null.max(), color="0.85", linewidth=0, zorder=0, label="trials shuffled")
        ax.plot(
            curve.chosen, 0.98, "v", color=COLOURS["distal"], markersize=6, label="rank chosen", clip_on=False,
            transform=ax.get_xaxis_transform(),
        )  # fmt: skip
        last = min(max(*curve.ranks, curve.chosen, 6) + 2, max(len(exact), 3))
        ax.set(title=title, xlabel="rank $k$", xlim=(0.5, last + 0.5), xticks=range(1, last + 1, 1 if last < 13 else 2))
    axes[0].set_ylabel("held-out $R^2$")
    tops = [np.max(np.asarray(curve.exact) + curve.sem) for curve in targets.values()]
    tops += [np.mean(curve.within, axis=0).max() * 1.1 for curve in targets.values() if curve.within is not None]
    lows = [np.min(curve.null) for curve in targets.values() if np.size(curve.null)]
    top = max(max(tops), 1e-3)
    axes[0].set_ylim(min(0.0, *lows, 0.0) - 0.03 * top, 1.15 * top)
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    axes[0].figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(len(axes), 2) + 1)
    return axes


@styled
def plot_dimensionality(
    across: Mapping[str, tuple[float, float]],
    within: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Number of predictive dimensions against the target's own dimensionality.

    Parameters
    ----------
    across
        By name of the target, which begins with "within" if it lies in the source's own area: shared dimensions of its
        activity, and rank of the prediction.
    within : (draws,), (draws,)
        The same of matched targets in the source's own area. Points that would lie on each other are spread a little.
    """
    ax = axes_of(ax, figsize=(3.6, 3.4))
    largest = max(max(pair) for pair in across.values())
    if within is not None:
        dimensions, ranks = (np.asarray(one, dtype=float) for one in within)
        spread = np.random.default_rng(0).uniform(-0.18, 0.18, (2, len(ranks)))
        ax.plot(
            dimensions + spread[0], ranks + spread[1], "s", color=WITHIN, markersize=4, alpha=0.7,
            label="within the area, matched draws",
        )  # fmt: skip
        largest = max(largest, dimensions.max(), ranks.max())
    for (name, (dimensions, rank)), marker in zip(across.items(), "oD^v", strict=False):
        colour = WITHIN if name.startswith("within") else ACROSS
        ax.plot(dimensions, rank, marker, color=colour, markersize=7, markeredgecolor="white", label=name, zorder=4)
    end = largest + 1
    ax.plot([0, end], [0, end], color=COLOURS["theory"], linestyle="--", linewidth=1, zorder=0)
    ax.set(
        xlabel="dimensionality of the target (factor analysis)", ylabel="predictive dimensions (rank)", xlim=(0, end),
        ylim=(0, end), aspect="equal",
    )  # fmt: skip
    ax.legend(loc="upper left", fontsize="small")
    return ax


@styled
def plot_removal(panels: Mapping[str, Mapping[str, NDArray]]) -> np.ndarray:
    """Held-out R2 of the full regression against how many predictive dimensions are removed from the source.

    Parameters
    ----------
    panels
        By the panel's title, that is, whose predictive dimensions are removed: R2 of each target by its name, which
        begins with "within" if it lies in the source's own area, (repeats, removed + 1); mean and one standard
        deviation over repeats are drawn.
    """
    axes = axes_of(None, 1, len(panels), figsize=(max(3.1 * len(panels), 3.8), 2.9), sharey=True)[0]
    for ax, (title, targets) in zip(axes, panels.items(), strict=True):
        for name, r2 in targets.items():
            colour = WITHIN if name.startswith("within") else ACROSS
            removed = np.arange(r2.shape[1])
            ax.errorbar(
                removed, r2.mean(axis=0), r2.std(axis=0), color=colour, marker="s" if colour == WITHIN else "o",
                markersize=4, capsize=1.5, label=f"predicting {name}",
            )  # fmt: skip
        ax.axhline(0, color=COLOURS["theory"], linewidth=0.8)
        ax.set(title=title, xlabel="predictive dimensions removed")
        ax.legend(loc="upper right", fontsize="small")
    axes[0].set_ylabel("held-out $R^2$, full regression")
    return axes


@styled
def plot_lags(lags: ArrayLike, targets: Mapping[str, tuple[ArrayLike, ArrayLike]], *, ax: Axes | None = None) -> Axes:
    """Held-out R2 at the chosen rank against the lag of the target behind the source.

    Parameters
    ----------
    lags : (n,)
        In seconds where bins are seconds long, else in bins.
    targets
        By name: R2 and its standard error over folds, (n,) each.
    """
    ax = axes_of(ax, figsize=(3.8, 2.8))
    for (name, (r2, sem)), colour in zip(targets.items(), (ACROSS, WITHIN), strict=False):
        ax.errorbar(lags, r2, sem, color=colour, marker="o", markersize=4, capsize=1.5, label=name)
    ax.axvline(0, color=COLOURS["theory"], linewidth=0.8, zorder=0)
    ax.set(xlabel="lag of the target behind the source (s)", ylabel="held-out $R^2$")
    ax.legend(fontsize="small")
    return ax


@styled
def plot_power(trials: ArrayLike, recovered: Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """How often the planted rank is found, against the number of trials.

    Parameters
    ----------
    trials : (n,)
        How many, on a logarithmic axis.
    recovered
        By size of the populations: fraction of draws in which the rank was found, (n,).
    """
    ax = axes_of(ax, figsize=(4.4, 3))
    for (name, fraction), alpha in zip(recovered.items(), np.linspace(0.35, 1, len(recovered)), strict=True):
        ax.plot(trials, fraction, marker="o", color=ACROSS, alpha=alpha, label=name)
    ax.axhline(0.9, color=COLOURS["theory"], linestyle="--", linewidth=1)
    ax.set(xscale="log", xlabel="trials", ylabel="planted rank found (fraction)", ylim=(-0.03, 1.05))
    ticks_at(ax, trials)
    ax.legend(title="units", fontsize="small")
    return ax


@styled
def plot_dendrites(
    distal: NDArray, inhibition: NDArray, plateau: NDArray, trials: NDArray, bin: float, area: str, shown: int = 6
) -> np.ndarray:
    """What the circuit predicts for dendrites of the target: currents and plateaus in some trials, and their strength.

    Parameters
    ----------
    distal, inhibition, plateau : (samples, neurons)
        Distal current, inhibition and plateau, one sample per time bin.
    trials : (samples,)
        Which trial a sample belongs to.
    bin
        Seconds in a time bin.
    area
        Whose dendrites these are.
    shown
        How many trials, one after another.

    Returns
    -------
    axes : (neurons, 2)
    """
    neurons = min(plateau.shape[1], 4)
    axes = axes_of(None, neurons, 2, figsize=(7.2, 0.9 + 1.35 * neurons), width_ratios=(2.6, 1), sharex="col")
    _, first, lengths = np.unique(trials, return_index=True, return_counts=True)
    end = first[shown] if len(first) > shown else len(trials)
    bins = int(lengths.min())
    signals = {
        "distal current": (distal, COLOURS["distal"]), "inhibition": (inhibition, COLOURS["Q"]),
        "plateau": (plateau, COLOURS["plateau"]),
    }  # fmt: skip
    for neuron, (left, right) in enumerate(axes):
        for name, (signal, colour) in signals.items():
            left.plot(
                bin * np.arange(end), signal[:end, neuron], color=colour, drawstyle="steps-mid", label=name,
                linewidth=1.4 if name == "plateau" else 1,
            )  # fmt: skip
            if name != "inhibition":
                by_trial = np.stack(
                    [signal[start : start + bins, neuron] for start in first if start + bins <= len(signal)]
                )
                right.plot(bin * np.arange(bins), np.sqrt(np.square(by_trial).mean(axis=0)), color=colour, marker=".")
        for start in first[1:shown]:
            left.axvline(bin * (start - 0.5), color="0.85", linewidth=0.8, zorder=0)
        left.set_ylabel(f"neuron {neuron + 1}")
        right.set_ylim(bottom=0)
    axes[0, 0].set_title(f"{area}: {min(shown, len(first))} trials, one after another")
    axes[0, 1].set_title("root mean square over trials")
    axes[-1, 0].set_xlabel("time, trials joined (s)")
    axes[-1, 1].set_xlabel("time in the trial (s)")
    axes[0, 0].figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return axes

"""Prediction of one area from another, in figures after Semedo et al. (2019), Neuron 102, 249-259.

Figures take the results of each target by its label, such as ``V1 to V2``, as datasets with the variables that
``biorrr communication`` writes. Controls that a dataset does not hold are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, axes_of, legend_below, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

WITHIN = COLOURS["R"]  # the same area, in all figures here
ACROSS = COLOURS["proximal"]  # the other area
TARGETS = ((ACROSS, "o"), (WITHIN, "s"), (COLOURS["Q"], "D"), (COLOURS["own"], "^"))  # colour and marker of each


@styled
def plot_prediction(results: Mapping[str, xr.Dataset]) -> np.ndarray:
    """Draw held-out R2 against rank, one panel per target: circuits beside the exact solution, and its controls.

    Bars are standard errors over folds for the exact solution, and standard deviations over seeds for circuits and
    over draws for targets within the area.

    Parameters
    ----------
    results
        By label: ``exact_r2`` and ``exact_r2_sem`` (k,), ``chosen_rank``, and perhaps ``circuit_r2`` (rank, seed),
        ``null_r2`` (shuffle,) and ``within_r2`` (draw, draw_k).

    Returns
    -------
    axes : (number of targets,)
    """
    axes = axes_of(None, 1, len(results), figsize=(max(3.1 * len(results), 4.4), 3.3), sharey=True)[0]
    low, high = [0.0], [1e-3]
    for ax, (label, data) in zip(axes, results.items(), strict=True):
        exact, sem = data["exact_r2"].dropna("k").values, data["exact_r2_sem"].dropna("k").values
        chosen = int(data["chosen_rank"])
        high.append(np.max(exact + sem))
        ax.errorbar(
            np.arange(1, len(exact) + 1), exact, sem, color=COLOURS["theory"], marker=".", capsize=1.5, label="exact"
        )
        ax.axhline(exact[-1], color=COLOURS["theory"], linestyle=":", linewidth=1, label="exact, full rank")
        ranks = [chosen]
        if "circuit_r2" in data:
            ranks += data["rank"].values.tolist()
            _draw_repeats(ax, data["rank"].values, data["circuit_r2"].values.T, ACROSS, "o", "circuit")
        if "within_r2" in data:
            within = data["within_r2"].values
            high.append(within.mean(axis=0).max())
            places = np.arange(1, within.shape[1] + 1) + 0.12
            _draw_repeats(ax, places, within, WITHIN, "s", "matched targets within the area", linewidth=1)
        if "null_r2" in data:
            null = data["null_r2"].values
            low.append(null.min())
            ax.axhspan(null.min(), null.max(), color="0.85", linewidth=0, zorder=0, label="trials shuffled")
        above = (exact + sem)[chosen - 1] + 0.06 * exact.max()
        ax.plot(chosen, above, "v", color=COLOURS["distal"], markersize=6, zorder=5, label="chosen rank")
        last = min(max(*ranks, 6) + 2, max(len(exact), 3))
        ax.set(title=label, xlabel="rank $k$", xlim=(0.5, last + 0.5), xticks=range(1, last + 1, 1 if last < 13 else 2))
    axes[0].set(ylabel="held-out $R^2$", ylim=(min(low) - 0.03 * max(high), 1.15 * max(high)))
    legend_below(axes, min(len(axes), 2) + 1)
    return axes


@styled
def plot_dimensionality(results: Mapping[str, xr.Dataset], *, ax: Axes | None = None) -> Axes:
    """Draw predictive dimensions beside the dimensions that source and target share within themselves, row by row.

    Parameters
    ----------
    results
        By label: ``chosen_rank``, ``source_dimensionality``, ``target_dimensionality``, and perhaps ``within_rank`` and
        ``within_dimensionality`` (draw,). Draws that would lie on each other are spread a little.
    """
    rows: dict[str, list[NDArray]] = {}
    for label, data in results.items():
        names = ("chosen_rank", "target_dimensionality", "source_dimensionality")
        rows[label] = [np.atleast_1d(data[name].values) for name in names]
        if "within_rank" in data:
            rows["matched draws\nwithin the source"] = [
                data[name].values for name in ("within_rank", "within_dimensionality")
            ]
    ax = axes_of(ax, figsize=(5.2, 1.3 + 0.55 * len(rows)))
    looks = (
        ("predictive (rank)", {"marker": "o", "color": ACROSS}),
        ("shared within the target", {"marker": "s", "color": WITHIN, "markerfacecolor": "none"}),
        ("shared within the source", {"marker": "D", "color": COLOURS["theory"], "markerfacecolor": "none"}),
    )
    rng = np.random.default_rng(0)
    for place, found in enumerate(rows.values()):
        ends = [float(values.mean()) for values in found]
        ax.plot([min(ends), max(ends)], [place, place], color="0.8", linewidth=1, zorder=0)
        for offset, values, (name, look) in zip((-0.1, 0.1, 0.0), found, looks, strict=False):
            single = len(values) == 1
            heights = np.full(len(values), place) + (0 if single else offset + rng.uniform(-0.07, 0.07, len(values)))
            across = values + (0 if single else rng.uniform(-0.12, 0.12, len(values)))
            size = 7 if single else 3.5
            ax.plot(across, heights, linestyle="none", markersize=size, label=name, **look)  # type: ignore[arg-type]
    ax.set(xlabel="dimensions", yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5))
    ax.set_xlim(left=0)
    legend_below(ax)
    return ax


@styled
def plot_removal(results: Mapping[str, xr.Dataset]) -> np.ndarray:
    """Draw held-out R2 of the full regression against the number of predictive dimensions removed from the source.

    Each target loses its own predictive dimensions; the dotted lines mark the chosen ranks. With matched draws, further
    panels compare the target with targets within the source's area, for the dimensions of the one and of the other.

    Parameters
    ----------
    results
        By label: ``removed_r2`` and ``removed_r2_sem`` (removed,), ``chosen_rank``, and perhaps
        ``across_without_across`` (draw, removed) and its three companions.
    """
    drawn = {label: data for label, data in results.items() if "across_without_across" in data}
    panels = 1 + 2 * len(drawn)
    axes = axes_of(None, 1, panels, figsize=(max(3.0 * panels, 4.4), 3.2), sharey=True)[0]
    for (label, data), (colour, marker) in zip(results.items(), TARGETS, strict=False):
        r2, sem = (data[name].dropna("removed").values for name in ("removed_r2", "removed_r2_sem"))
        axes[0].errorbar(
            np.arange(len(r2)), r2, sem, color=colour, marker=marker, markersize=4, capsize=1.5, label=label
        )
        axes[0].axvline(int(data["chosen_rank"]), color=colour, linestyle=":", linewidth=1)
    axes[0].set_title("own dimensions removed")
    for data in drawn.values():
        whose = {"across": "dimensions of the\nother area removed", "within": "dimensions within\nthe area removed"}
        for ax, (removed, title) in zip(axes[1:], whose.items(), strict=True):
            for predicted, colour, marker, name in (
                ("across", ACROSS, "o", "matched units across areas"),
                ("within", WITHIN, "s", "matched units within the area"),
            ):
                r2 = data[f"{predicted}_without_{removed}"].values
                _draw_repeats(ax, np.arange(r2.shape[1]), r2, colour, marker, name, linewidth=1)
            ax.set_title(title)
    for ax in axes:
        ax.axhline(0, color=COLOURS["theory"], linewidth=0.8, zorder=0)
        ax.set_xlabel("dimensions removed")
    axes[0].set_ylabel("held-out $R^2$, full regression")
    legend_below(axes)
    return axes


@styled
def plot_lags(results: Mapping[str, xr.Dataset], *, ax: Axes | None = None) -> Axes:
    """Draw held-out R2 at the chosen rank against the lag of the target behind the source.

    Parameters
    ----------
    results
        By label: ``lag_r2`` and ``lag_r2_sem`` (lag,), with ``lag`` in seconds.
    """
    ax = axes_of(ax, figsize=(3.8, 2.8))
    for (label, data), (colour, marker) in zip(results.items(), TARGETS, strict=False):
        ax.errorbar(
            data["lag"], data["lag_r2"], data["lag_r2_sem"], color=colour, marker=marker, markersize=4, capsize=1.5,
            label=label,
        )  # fmt: skip
    ax.axvline(0, color=COLOURS["theory"], linewidth=0.8, zorder=0)
    ax.set(xlabel="lag of the target behind the source (s)", ylabel="held-out $R^2$")
    ax.legend(fontsize="small")
    return ax


@styled
def plot_dendrites(data: xr.Dataset, bin: float, area: str, shown: int = 6) -> np.ndarray:
    """Draw the circuit's prediction for dendrites of the target: currents and plateaus in some trials, and their size.

    Parameters
    ----------
    data
        ``distal``, ``inhibition`` and ``plateau`` (sample, neuron), one sample per time bin, and ``trial`` (sample,).
    bin
        Seconds in a time bin.
    area
        Name of the area of the dendrites.
    shown
        Number of trials, one after another.

    Returns
    -------
    axes : (neurons, 2)
    """
    trials, plateau = data["trial"].values, data["plateau"].values
    neurons = min(plateau.shape[1], 4)
    axes = axes_of(None, neurons, 2, figsize=(7.2, 0.9 + 1.35 * neurons), width_ratios=(2.6, 1), sharex="col")
    _, first, lengths = np.unique(trials, return_index=True, return_counts=True)
    end = first[shown] if len(first) > shown else len(trials)
    bins = int(lengths.min())
    signals = {
        "distal current": (data["distal"].values, COLOURS["distal"]),
        "inhibition": (data["inhibition"].values, COLOURS["Q"]),
        "plateau": (plateau, COLOURS["plateau"]),
    }
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
    titles = f"{area}: {min(shown, len(first))} trials, one after another", "root mean square over trials"
    for column, title, label in zip(axes.T, titles, ("time, trials joined (s)", "time in the trial (s)"), strict=True):
        column[0].set_title(title)
        column[-1].set_xlabel(label)
    legend_below(axes[0, 0])
    return axes


def _draw_repeats(
    ax: Axes, places: NDArray, values: NDArray, colour: str, marker: str, label: str, linewidth: float = 0
) -> None:
    """Draw means over repeats, (repeats, places), with standard deviations where there are several repeats."""
    bars = values.std(axis=0) if len(values) > 1 else None
    ax.errorbar(
        places, values.mean(axis=0), bars, color=colour, marker=marker, markersize=4.5, linewidth=linewidth,
        elinewidth=1, capsize=1.5 if len(values) > 1 else 0, label=label, zorder=4,
    )  # fmt: skip

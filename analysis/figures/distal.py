"""Distal plasticity in figures: protocols as bars, inferred s with intervals."""

from __future__ import annotations

import numpy as np

from biorrr.analysis.figures.style import PAGE, THEORY, Axes, Dataset, axes_of, shade, styled


@styled
def plot_protocols(results: Dataset, *, ax=None) -> np.ndarray:
    """Draw EPSPs after pairing in percent of baseline, as bars with every cell; two axes.

    Parameters
    ----------
    results
        ``paired`` and ``other`` (s, protocol, cell): percent of baseline, of the pathway that was
        stimulated in pairings and of the one that was only tested; ``predicted`` (s, protocol,
        pathway, cell) by the rule alone; ``protocol_words`` (protocol,).
    """
    words, every_s = results["protocol_words"].values, results["s"].values
    paired, other = results["paired"].values, results["other"].values
    predicted = results["predicted"].mean("cell").values
    axes = axes_of(ax, 2, 1, width=PAGE, height=5.2, sharex=True)[:, 0]
    width = 0.8 / len(every_s)
    for panel, values, theory, title in zip(
        axes,
        (paired, other),
        np.moveaxis(predicted, -1, 0),
        ("paired pathway", "other pathway, not stimulated"),
        strict=True,
    ):
        panel.axhline(100, color="0.4", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        for number, s in enumerate(every_s):
            places = np.arange(len(words)) + (number - (len(every_s) - 1) / 2) * width
            colour = shade(number)
            panel.bar(
                places,
                values[number].mean(axis=1),
                0.9 * width,
                color=colour,
                alpha=0.35,
                zorder=0,
                yerr=values[number].std(axis=1, ddof=1 if values.shape[2] > 1 else 0),
                error_kw={"linewidth": 1, "capsize": 2},
                label=f"s = {s:g}{_NAMES.get(s, '')}",
            )
            scatter = np.linspace(-0.25, 0.25, values.shape[2]) * width
            panel.plot(
                (places[:, None] + scatter).ravel(),
                values[number].ravel(),
                ".",
                color=colour,
                markersize=2.5,
            )
            panel.plot(places, theory[number], "_", color="0.43", markersize=12, zorder=4)
        panel.set(ylabel="EPSP (% of baseline)", title=title)
    axes[0].legend(fontsize=7, loc="upper left")
    axes[1].set_xticks(np.arange(len(words)), words)
    return axes


_NAMES = {0.0: " (RRMSE, Hebbian with decay)", 1.0: " (CCA, not Hebbian)"}


@styled
def plot_inferred(results: Dataset, *, ax: Axes | None = None) -> Axes:
    """Draw inferred s with its confidence interval, one row per condition; one axes.

    Parameters
    ----------
    results
        ``inferred`` (s, condition, seed, quantity), with quantities s, low and high; the coordinate
        s is what the circuits follow; ``condition_words`` (condition,).
    """
    conditions = results["condition_words"].values
    found = results["inferred"].sel(quantity=["s", "low", "high"]).values
    ax = axes_of(ax, width=PAGE, height=1 + 0.4 * len(conditions))
    spread = np.linspace(-0.25, 0.25, found.shape[2]) if found.shape[2] > 1 else np.zeros(1)
    for number, s in enumerate(results["s"].values):
        ax.axvline(s, **THEORY, zorder=0)
        colour = shade(number)
        for row in range(len(conditions)):
            estimate, low, high = found[number, row].T
            ax.hlines(
                row + spread,
                np.maximum(low, -0.5),
                np.minimum(high, 1.5),
                color=colour,
                linewidth=1.5,
            )
            ax.plot(estimate, row + spread, "o", color=colour, markersize=3)
        ax.text(
            s,
            1.02,
            f"true s = {s:g}",
            color=colour,
            ha="center",
            fontsize=7,
            transform=ax.get_xaxis_transform(),
        )
    ax.set_yticks(np.arange(len(conditions)), conditions)
    ax.invert_yaxis()
    ax.set_xlabel("inferred s, one dot per circuit")
    return ax

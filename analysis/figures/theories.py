"""Figure of rival theories: one row for each theory, one panel for each measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, Axes, Dataset, axes_of, styled

_MARKERS = "osD^v"
_FLOOR = 1e-4  # excess below which dots are not told apart


@styled
def plot_theories(results: Dataset, *, ax=None) -> NDArray:
    """Draw excess, participation ratio, whitening, apical signals, lesions and answers, one axes
    for each.

    Parameters
    ----------
    results
        ``excess``, ``law``, ``participation``, ``whitening`` (data, theory, seed), ``carries``
        (..., stage, by), ``change`` (..., manipulation), and, where theories were imaged, ``yes``
        (theory, trials, noise, question).

    Returns
    -------
    axes : (6,), or (5,) where no theory was imaged
    """
    stages, by = results["stage"].values, results["by"].values
    carries = results["carries"].mean(("data", "seed")).values  # (theory, stage, by)
    fields = [
        (
            carries.transpose(0, 2, 1).reshape(len(carries), -1),
            [f"{one} {stage}" for one in by for stage in stages],
            "R² of the apical signal on y, on x\nand on the error of the best prediction",
        ),
        (
            results["change"].mean(("data", "seed")).values,
            list(results["manipulation"].values),
            "change of the\napical signal",
        ),
    ]
    if "yes" in results:
        yes = results["yes"].isel(trials=-1).transpose("theory", "question", "noise")
        words = [
            f"{q!s}, noise {noise:g}"
            for q in yes["question"].values
            for noise in yes["noise"].values
        ]
        trials = int(yes["trials"])
        fields.append(
            (yes.values.reshape(len(yes), -1), words, f"share that says yes\nin {trials:,} trials")
        )
    axes = _panels(ax, results.sizes["theory"], [len(words) for _, words, _ in fields])
    _dots(axes[0], results, "excess", 100, _FLOOR)
    axes[0].set(xscale="log", xlabel="excess over the optimum (%)")
    axes[0].axvline(1, color="0.85", linewidth=0.8, zorder=0)
    axes[0].xaxis.set_major_formatter("{x:g}")
    axes[0].legend(fontsize=7, loc="upper right")
    _dots(axes[1], results, "participation", 1, 0)
    axes[1].set(xlabel="participation ratio\nof the outputs", xlim=(0.9, results.attrs["k"] + 0.1))
    _dots(axes[2], results, "whitening", 1, _FLOOR)
    axes[2].set(xscale="log", xlabel="whitening error\nof the outputs")
    for panel, (values, words, title) in zip(axes[3:], fields, strict=True):
        _field(panel, values, words, title)
    for first in (axes[0], axes[3]):
        first.set_yticks(range(results.sizes["theory"]), list(results["theory"].values))
        first.set_ylim(results.sizes["theory"] - 0.5, -0.5)
    return axes


def _panels(ax, theories: int, columns: list[int]) -> NDArray:
    """Return axes for three panels of dots, and below them one for each table with that many
    ``columns``.
    """
    if ax is not None:
        return axes_of(ax, 1, 3 + len(columns), "one for each measure")[0]
    import matplotlib.pyplot as plt

    height = 0.28 * theories
    figure = plt.figure(figsize=(8.6, 2.9 + 2 * height))
    rows = figure.add_gridspec(2, height_ratios=(height + 0.4, height + 0.4))
    dots = rows[0].subgridspec(1, 3, width_ratios=(2.6, 1.4, 1.8)).subplots(sharey=True)
    tables = rows[1].subgridspec(1, len(columns), width_ratios=columns).subplots(sharey=True)
    return np.concatenate([np.ravel(np.asarray(dots)), np.ravel(np.asarray(tables))])


def _dots(panel: Axes, results: Dataset, name: str, scale: float, floor: float) -> None:
    """Draw one dot for each seed, a marker for each data set, and a tick where law 1 predicts the
    excess.
    """
    for place, data in enumerate(results["data"].values):
        one = results.sel(data=data)
        rows = np.arange(one.sizes["theory"])[:, None] + 0.22 * (
            place - (results.sizes["data"] - 1) / 2
        )
        values = scale * np.maximum(one[name].transpose("theory", "seed").values, floor)
        rows = np.broadcast_to(rows, values.shape)
        colour = (
            COLOURS["proximal"],
            COLOURS["distal"],
            COLOURS["Q"],
            COLOURS["R"],
            COLOURS["own"],
        )[place % 5]
        panel.plot(
            values.ravel(),
            rows.ravel(),
            _MARKERS[place % 5],
            color=colour,
            markersize=3,
            label=str(data),
        )
        if name == "excess":
            law = scale * one["law"].transpose("theory", "seed").values
            label = (
                "law 1" if place == results.sizes["data"] - 1 and np.isfinite(law).any() else None
            )
            panel.plot(
                law.ravel(), rows.ravel(), "|", color="black", markersize=7, zorder=3, label=label
            )


def _field(panel: Axes, values: NDArray, words: list[str], title: str) -> None:
    """Draw a table of numbers between 0 and 1, the darker the larger; a dash where there is
    none.
    """
    panel.imshow(np.clip(values, 0, 1), cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        text = (
            f"{value:.1f}"
            if value >= 0.995
            else f"{value:.2f}".removeprefix("0")
            if value >= 0.005
            else "0"
        )
        panel.text(
            column, row, text if np.isfinite(value) else "–", ha="center", va="center", fontsize=7
        )
    panel.set_xticks(
        range(len(words)), words, rotation=60, ha="right", rotation_mode="anchor", fontsize=8
    )
    panel.set_title(title, fontsize=9)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)


# Francioni et al. (2026) as digitised by others: mean and error of dendritic signals, (group,
# phase).
SECOND_HAND = (
    np.array([[0.005, -0.100], [-0.139, 0.049]]),
    np.array([[0.015, 0.023], [0.016, 0.023]]),
)


@styled
def plot_interface(results: Dataset, *, ax=None) -> NDArray:
    """Draw apical signals at a brain-computer interface, one axes for each shape of plateaus, and
    published ones.

    Parameters
    ----------
    results
        ``apical`` (theory, shape, inhibition, group, phase).

    Returns
    -------
    axes : (n_shapes + 1,)
    """
    shapes, groups, phases = (results[name].values for name in ("shape", "group", "phase"))
    axes = axes_of(ax, 1, len(shapes) + 1, "one for each shape", figsize=(10, 3.2))[0]
    ticks = [f"{group},\n{phase}" for group in groups for phase in phases]
    places = np.arange(len(ticks))
    colours = [COLOURS[name] for name in ("proximal", "distal", "Q", "plateau", "R", "own")]
    for panel, shape in zip(axes, shapes, strict=False):
        for place, theory in enumerate(results["theory"].values):
            values = (
                results["apical"]
                .sel(theory=theory, shape=shape)
                .values.reshape(results.sizes["inhibition"], -1)
            )
            x, colour = (
                places + 0.14 * (place - (results.sizes["theory"] - 1) / 2),
                colours[place % len(colours)],
            )
            panel.plot(
                x, values[0], _MARKERS[place % 5], color=colour, markersize=4, label=str(theory)
            )
            panel.plot(
                x,
                values[-1],
                _MARKERS[place % 5],
                color=colour,
                markersize=4,
                markerfacecolor="none",
            )
        panel.set(title=str(shape), ylim=(-1.2, 1.2))
    axes[0].set_ylabel("apical signal less its mean")
    axes[0].legend(fontsize=6, loc="upper left")
    means, errors = SECOND_HAND
    axes[-1].errorbar(
        places, means.ravel(), errors.ravel(), fmt="o", color=COLOURS["theory"], markersize=4
    )
    axes[-1].set(title="published (second-hand)", ylim=(-0.2, 0.2))
    for panel in axes:
        panel.axhline(0, color="0.85", linewidth=0.8, zorder=0)
        panel.set_xticks(places, ticks, fontsize=7)
        panel.set_xlim(-0.6, len(ticks) - 0.4)
    return axes

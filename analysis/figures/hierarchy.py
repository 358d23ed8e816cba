"""Areas with apical feedback drawn: the hierarchy, how it learns, what its plateaus carry, what lesions do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import COLOURS, THEORY, axes_of, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

_UP, _DOWN, _LOCAL = COLOURS["proximal"], COLOURS["distal"], COLOURS["Q"]


@styled
def plot_hierarchy(graph: Any, gains: Sequence[float], *, ax: Axes | None = None) -> Axes:
    """Draw populations of a networkx ``graph`` from x below to y above; each link with its ``gains`` at its side.

    Populations are called as those of :class:`biorrr.circuit.Hierarchy`. Arrows up are proximal synapses, arrows down
    distal ones, and at the side are the loops through each area's interneurons.
    """
    import networkx as nx

    areas = sorted((name for name in graph if name.startswith("pyramidal_")), key=lambda name: int(name.split("_")[1]))
    chain = ["sensory", *areas, "instructive"]
    places = {name: (0.0, float(level)) for level, name in enumerate(chain)}
    places |= {name.replace("pyramidal", "interneurons"): (1.1, places[name][1] + 0.35) for name in areas}
    ax = axes_of(ax, figsize=(4.6, 1.2 + 1.15 * len(chain)))
    size = dict(graph.nodes(data="size"))
    labels = {"sensory": f"x ({size['sensory']})", "instructive": f"y ({size['instructive']})"}
    for i, name in enumerate(areas, 1):
        labels[name] = f"\narea {i}\n{size[name]} cells"
        labels[name.replace("pyramidal", "interneurons")] = (
            f"{size[name.replace('pyramidal', 'interneurons')]} inter-\nneurons"
        )
    for kind, shape, color in (("pyramidal", "^", "white"), ("interneurons", "o", "white"), ("", "s", "0.9")):
        nodes = [n for n in places if (n.startswith(kind) if kind else n in ("sensory", "instructive"))]
        nx.draw_networkx_nodes(
            graph, places, nodes, node_shape=shape, node_color=color, edgecolors="black",
            node_size=3200 if shape == "^" else 1500, ax=ax,
        )  # fmt: skip
    nx.draw_networkx_labels(graph, places, labels, font_size=7, ax=ax)
    for source, target, edge in graph.edges(data=True):
        local = "interneurons" in source or "interneurons" in target
        up = places[source][1] < places[target][1]
        color = _LOCAL if local else _UP if up else _DOWN
        nx.draw_networkx_edges(
            graph, places, [(source, target, 0)], width=1.6, ax=ax,
            arrowstyle="-[,widthB=0.4" if edge["sign"] < 0 else "-|>", connectionstyle="arc3,rad=0.25",
            node_size=3000, edge_color=color,
        )  # fmt: skip
    for level, gain in enumerate(gains):
        ax.text(-0.75, level + 0.5, f"gain {gain:g}", ha="center", va="center", fontsize=8, color="0.35")
    for color, label in ((_UP, "proximal, W"), (_DOWN, "distal, A"), (_LOCAL, "interneurons, Q and R")):
        ax.plot([], [], color=color, label=label)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, -0.06), ncols=3, fontsize=8)
    ax.set(xlim=(-1.15, 1.75), ylim=(-0.4, len(chain) - 0.6))
    ax.axis("off")
    return ax


@styled
def plot_hierarchy_learning(results: xr.Dataset, *, ax: Any = None) -> NDArray:
    """Draw the excess of all areas together and of each, and the distance of A from W' between areas.

    Parameters
    ----------
    results
        ``excess`` (seed, snapshot) of all areas, with the attribute ``bound`` up to which they count as learned;
        ``area_excess`` (seed, snapshot, area), the other areas held; ``meeting`` (seed, snapshot, link), which is
        ||A - W'|| / ||W|| and empty for one area; ``seen`` (snapshot,), samples seen.
    """
    panels = 3 if results.sizes["link"] else 2
    ax = axes_of(ax, 1, panels, figsize=(3.2 * panels, 3.0))[0]
    shown = results.isel(snapshot=results["seen"].values > 0)
    seen = shown["seen"].values
    ax[0].plot(seen, 100 * shown["excess"].values.T.clip(1e-6), color="black", alpha=0.7)
    ax[0].axhline(100 * shown["excess"].attrs["bound"], **THEORY)
    ax[0].set(ylabel="excess over the joint optimum (%)")
    ax[1].set(ylabel="excess of each area, others held (%)")
    _draw_each(ax[1], seen, 100 * shown["area_excess"].clip(1e-8))
    if panels == 3:
        ax[2].set(ylabel="||A - W'|| / ||W||")
        _draw_each(ax[2], seen, shown["meeting"])
    for panel in ax:
        panel.set(xlabel="samples seen", xscale="log", yscale="log")
    return ax


def _draw_each(panel: Axes, seen: NDArray, values: xr.DataArray) -> None:
    """Draw a line for each seed, in the colour of its area or link."""
    dim = values.dims[-1]
    for i, name in enumerate(values[dim].values):
        lines = panel.plot(seen, values.isel({dim: i}).values.T, color=f"C{i}", alpha=0.7)
        lines[0].set_label(name)
    panel.legend()


@styled
def plot_area_plateaus(results: xr.Dataset, *, ax: Any = None) -> NDArray:
    """Draw plateaus of each area against the theory for the optimum.

    Parameters
    ----------
    results
        ``plateau`` and ``plateau_theory``, each (row, cell), with the ``cell_area`` (cell,) of each cell.
    """
    areas = np.unique(results["cell_area"].values)
    ax = axes_of(ax, 1, len(areas), figsize=(3.0 * len(areas), 3.0))[0]
    for panel, area in zip(ax, areas, strict=True):
        here = results.isel(cell=results["cell_area"].values == area)
        measured, theory = here["plateau"].values, here["plateau_theory"].values
        panel.plot(theory.ravel(), measured.ravel(), ".", markersize=1.5, alpha=0.3, rasterized=True)
        reach = max(np.abs(theory).max(), np.abs(measured).max())
        panel.plot([-reach, reach], [-reach, reach], color="black", linewidth=0.8)
        panel.set(title=f"area {area}", xlabel="theory at the optimum", ylabel="plateau" if area == areas[0] else "")
    return ax


@styled
def plot_hierarchy_lesions(results: xr.Dataset, *, ax: Any = None) -> NDArray:
    """Draw the mean variance of each area's outputs after each lesion.

    Parameters
    ----------
    results
        ``variance`` (lesion, step, area), and ``since`` (lesion, step), samples since the lesion; both NaN after
        outputs have run away. ``lesion`` names the lesions.
    """
    lesions = results["lesion"].values
    ax = axes_of(ax, 1, len(lesions), figsize=(3.0 * len(lesions), 3.0), sharey=True)[0]
    for panel, lesion in zip(ax, lesions, strict=True):
        here = results[["variance", "since"]].sel(lesion=lesion)
        for area in results["area"].values:
            panel.plot(here["since"], here["variance"].sel(area=area).clip(1e-6, 1e6), label=area)
        panel.axhline(1, **THEORY)
        panel.set(title=lesion, xlabel="samples since", yscale="log")
    ax[0].set(ylabel="variance of the outputs")
    ax[0].legend()
    return ax

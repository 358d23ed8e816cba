"""Areas with apical feedback drawn: the hierarchy, how it learns, what its plateaus carry, what lesions do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.style import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UP, _DOWN, _LOCAL = "#0072B2", "#D55E00", "#009E73"  # proximal, distal, interneurons


@styled
def plot_hierarchy(graph: Any, gains: Sequence[float], *, ax: Axes | None = None) -> Axes:
    """Draw populations of a networkx ``graph`` from x below to y above; each link with its ``gains`` at its side.

    Populations are called as those of :class:`biorrr.circuit.Hierarchy`. Arrows up are proximal synapses, arrows down
    distal ones, and at the side are the loops through each area's interneurons.
    """
    import matplotlib.pyplot as plt
    import networkx as nx

    areas = sorted((name for name in graph if name.startswith("pyramidal_")), key=lambda name: int(name.split("_")[1]))
    chain = ["sensory", *areas, "instructive"]
    places = {name: (0.0, float(level)) for level, name in enumerate(chain)}
    places |= {name.replace("pyramidal", "interneurons"): (1.1, places[name][1] + 0.35) for name in areas}
    if ax is None:
        ax = plt.figure(figsize=(4.6, 1.2 + 1.15 * len(chain))).add_subplot()
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
def plot_hierarchy_learning(
    seen: NDArray, joint: NDArray, areas: NDArray, meeting: NDArray, *, ax: Any = None
) -> NDArray:
    """Excess of all areas together and of each, and the distance of A from W' between areas, against samples seen.

    Parameters
    ----------
    seen : (S,)
        Samples seen.
    joint : (seeds, S), areas : (seeds, S, areas), meeting : (seeds, S, links)
        Joint excess; each area's, the others held; ||A - W'|| / ||W||, empty for one area.
    """
    import matplotlib.pyplot as plt

    panels = 3 if meeting.shape[-1] else 2
    if ax is None:
        ax = plt.subplots(1, panels, figsize=(3.2 * panels, 3.0), squeeze=False)[1][0]
    shown = seen > 0
    ax[0].plot(seen[shown], 100 * joint[:, shown].T.clip(1e-6), color="black", alpha=0.7)
    ax[0].axhline(3, color="0.5", linestyle="dashed")
    ax[0].set(ylabel="excess over the joint optimum (%)")
    names = [(ax[1], 100 * areas.clip(1e-8), "excess of each area, others held (%)", "area {}")]
    if panels == 3:
        names.append((ax[2], meeting, "||A - W'|| / ||W||", "areas {} and {}"))
    for panel, values, label, name in names:
        for i in range(values.shape[-1]):
            lines = panel.plot(seen[shown], values[:, shown, i].T, color=f"C{i}", alpha=0.7)
            lines[0].set_label(name.format(i + 1, i + 2))
        panel.set(ylabel=label)
        panel.legend()
    for panel in ax:
        panel.set(xlabel="samples seen", xscale="log", yscale="log")
    return ax


@styled
def plot_area_plateaus(measured: Sequence[NDArray], theory: Sequence[NDArray], *, ax: Any = None) -> NDArray:
    """Plateaus of each area against what theory says they are at the optimum: list of (n_samples, k_i) each."""
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(1, len(measured), figsize=(3.0 * len(measured), 3.0), squeeze=False)[1][0]
    for i, (panel, ours, theirs) in enumerate(zip(ax, measured, theory, strict=True), 1):
        panel.plot(theirs.ravel(), ours.ravel(), ".", markersize=1.5, alpha=0.3, rasterized=True)
        reach = max(np.abs(theirs).max(), np.abs(ours).max())
        panel.plot([-reach, reach], [-reach, reach], color="black", linewidth=0.8)
        panel.set(title=f"area {i}", xlabel="theory at the optimum", ylabel="plateau" if i == 1 else "")
    return ax


@styled
def plot_hierarchy_lesions(courses: Mapping[str, tuple[NDArray, NDArray]], *, ax: Any = None) -> NDArray:
    """Mean variance of each area's outputs after a lesion, against samples since: by lesion, (S,) and (S, areas)."""
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(1, len(courses), figsize=(3.0 * len(courses), 3.0), squeeze=False, sharey=True)[1][0]
    for panel, (name, (seen, variances)) in zip(ax, courses.items(), strict=True):
        for i in range(variances.shape[1]):
            panel.plot(seen, variances[:, i].clip(1e-6, 1e6), label=f"area {i + 1}")
        panel.axhline(1, color="0.5", linestyle="dashed")
        panel.set(title=name, xlabel="samples since", yscale="log")
    ax[0].set(ylabel="variance of the outputs")
    ax[0].legend()
    return ax

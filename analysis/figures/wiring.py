"""The circuit as a drawing, in the manner of the paper's Fig. 1: cells in place, synapses by sign and strength."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.analysis.figures.style import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIGNS = {+1: ("#0072B2", "raises its target"), -1: ("#D55E00", "lowers its target")}
MOST_INPUTS = 40  # of one kind that fit the width of a page

# Heights of the drawing, from the sensory fibres below to the instructive ones above.
_SENSORY, _BASAL, _SOMA, _INTERNEURON, _TUFT, _INSTRUCTIVE = -2.2, -0.45, 0.0, 0.95, 1.9, 3.5
_PAPER_CELLS = ("sensory", "instructive", "pyramidal", "interneurons")
_APART = 2.0  # from one pyramidal cell to the next
_WIDEST = 2.5  # line of the strongest synapse of a pathway, in points
_CELL = 0.32


@styled
def plot_wiring(graph: Any, *, ax: Axes | None = None) -> Axes:
    """Draw every cell and synapse of ``graph``; pyramidal cells are triangles with a proximal and a distal compartment.

    Lines are as wide as their synapse is strong, each pathway on its own scale, and coloured by what activity in the
    source does to the target: the sign of the pathway times that of the weight. Of more than 40 inputs of a kind the
    40 with the strongest synapses are drawn.

    Parameters
    ----------
    graph
        A networkx graph of cells. Nodes have ``population`` and ``index``; edges have ``pathway``, ``matrix`` (the
        paper's name), ``drives`` (what their current adds to), ``sign`` and ``weight``. Populations that the paper's
        circuit does not have are drawn to the right of the interneurons.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.6, 4.6))[1]
    members: dict[str, list] = {}
    for node, population in graph.nodes(data="population"):
        members.setdefault(population, []).append(node)
    k, width = len(members["pyramidal"]), _APART * (len(members["pyramidal"]) + 1)
    shown = {name: _strongest(graph, members[name]) for name in ("sensory", "instructive")}
    places = {
        node: (x, height)
        for name, height in (("sensory", _SENSORY), ("instructive", _INSTRUCTIVE))
        for node, x in zip(
            shown[name], np.linspace(-_APART / 2, width - _APART, len(shown[name]) + 2)[1:-1], strict=True
        )
    }
    places |= {node: (_APART * i, _SOMA) for i, node in enumerate(members["pyramidal"])}
    beside = np.linspace(-0.4, 0.4, len(members["interneurons"])) if len(members["interneurons"]) > 1 else [0.0]
    places |= {
        node: (_APART * k + 0.35 * i, _INTERNEURON + 1.4 * up)
        for i, (node, up) in enumerate(zip(members["interneurons"], beside, strict=True))
    }
    own = [name for name in members if name not in _PAPER_CELLS]
    for column, name in enumerate(own):
        x = _APART * k + 0.35 * len(members["interneurons"]) + 1.5 * (column + 0.8)
        up = np.linspace(0.8, -0.8, len(members[name])) if len(members[name]) > 1 else [0.0]
        places |= {node: (x, _INTERNEURON + y) for node, y in zip(members[name], up, strict=True)}
        ax.text(x, _INTERNEURON + 1.25, name, ha="center", va="bottom", fontsize=8, color="0.35")
        width = x + _APART / 2
    _draw_synapses(ax, graph, places)
    for node in members["pyramidal"]:
        _draw_pyramidal(ax, *places[node], label=str(graph.nodes[node]["index"]))
    for node in (node for name in ("interneurons", *own) for node in members[name]):
        x, y = places[node]
        ax.plot(x, y, "o", markersize=15, markerfacecolor="white", markeredgecolor="black", zorder=5)
        ax.text(x, y, str(graph.nodes[node]["index"]), ha="center", va="center", fontsize=7, zorder=6)
    for name in shown:
        ax.plot(*zip(*(places[node] for node in shown[name]), strict=True), "s", color="0.35", markersize=2.5, zorder=5)
    _name_parts(ax, members, shown, _APART * (k + 1))
    for color, meaning in SIGNS.values():
        ax.plot([], [], color=color, linewidth=2, label=meaning)
    ax.legend(loc="upper left", bbox_to_anchor=(0, -0.02), ncols=2, title=None)
    ax.text(
        1, -0.04, "width: strength, each pathway on its own scale", transform=ax.transAxes, ha="right", va="top",
        fontsize=8, color="0.35",
    )  # fmt: skip
    ax.set(xlim=(-0.5 - 0.13 * width, width - 0.55), ylim=(_SENSORY - 0.55, _INSTRUCTIVE + 0.55))
    ax.axis("off")
    return ax


def _strongest(graph: Any, inputs: list) -> list:
    """The inputs that are drawn, in their own order: those with the strongest synapses."""
    strength = [sum(weight**2 for _, _, weight in graph.out_edges(node, data="weight")) for node in inputs]
    kept = np.sort(np.argsort(strength)[::-1][:MOST_INPUTS])
    return [inputs[i] for i in kept]


def _draw_synapses(ax: Axes, graph: Any, places: dict) -> None:
    from matplotlib.patches import FancyArrowPatch

    scale: dict[str, float] = {}
    for *_, synapse in graph.edges(data=True):
        scale[synapse["pathway"]] = max(scale.get(synapse["pathway"], 0.0), abs(synapse["weight"]))
    kind = dict(graph.nodes(data="population"))
    for source, target, synapse in graph.edges(data=True):
        if source not in places:
            continue
        share = abs(synapse["weight"]) / (scale[synapse["pathway"]] or 1.0)
        local = kind[source] not in ("sensory", "instructive")
        # Where a synapse leaves its cell and where it ends: on the soma's dendrites or on the tuft.
        begin = np.add(places[source], (_CELL / 2, 0) if kind[source] == "pyramidal" else (0, 0))
        onto = (0.0, 0.0)
        if kind[target] == "pyramidal":
            onto = (0.0, -0.8 * _CELL) if synapse["drives"] == "z" else (0.0, _TUFT - _SOMA)
        end = np.add(places[target], onto)
        ax.add_patch(
            FancyArrowPatch(
                begin,
                end,
                arrowstyle="-|>,head_length=2.2,head_width=1.2" if local else "-",
                connectionstyle="arc3,rad=0.12" if local else "arc3,rad=0",
                color=SIGNS[int(np.sign(synapse["weight"]) * synapse["sign"]) or 1][0],
                linewidth=max(_WIDEST * share, 0.15),
                alpha=0.35 + 0.6 * share,
                shrinkA=0,
                shrinkB=0 if not local else 3 if kind[target] == "pyramidal" else 9,
                zorder=2 + share,
            )
        )


def _draw_pyramidal(ax: Axes, x: float, y: float, label: str) -> None:
    """A soma with its basal dendrites (proximal compartment) and its apical shaft and tuft (distal compartment)."""
    from matplotlib.patches import Polygon

    dendrite: dict[str, Any] = {"color": "black", "linewidth": 1.6, "solid_capstyle": "round", "zorder": 5}
    ax.plot([x, x], [y, _TUFT], **dendrite)
    for side in (-1, 1):
        ax.plot([x, x + 0.3 * side], [_TUFT, _TUFT + 0.35], **dendrite)
        ax.plot([x + _CELL / 2 * side, x + 0.36 * side], [y - _CELL / 2, _BASAL], **dendrite)
    corners = [(x - _CELL, y - _CELL * 0.8), (x + _CELL, y - _CELL * 0.8), (x, y + _CELL)]
    ax.add_patch(Polygon(corners, facecolor="white", edgecolor="black", linewidth=1.2, zorder=6))
    ax.text(x, y - 0.1, label, ha="center", va="center", fontsize=7, zorder=7)


def _name_parts(ax: Axes, members: dict, shown: dict, width: float) -> None:
    """Label the populations, the compartments and the pathways."""
    for name, y, letter in (("sensory", _SENSORY - 0.35, "x"), ("instructive", _INSTRUCTIVE + 0.35, "y")):
        of_all = (
            f", the {len(shown[name])} strongest of {len(members[name])}"
            if len(shown[name]) < len(members[name])
            else ""
        )
        ax.text((width - 1.5 * _APART) / 2, y, f"{name} inputs ${letter}${of_all}", ha="center", va="center")
    for part, y in (("proximal", _BASAL), ("output $z$", _SOMA), ("distal", _TUFT + 0.35)):
        ax.text(-0.5, y, part, ha="right", va="center", color="0.35", fontsize=8)
    right = width - _APART
    ax.text(right - 0.1, (_SENSORY + _BASAL) / 2, "$V_x$", va="center")
    ax.text(right - 0.1, (_TUFT + _INSTRUCTIVE) / 2 + 0.25, "$V_y$", va="center")
    ax.text(right - 0.2, _TUFT - 0.02, "$Q$", va="center")
    ax.text(right - 0.2, _SOMA + 0.05, "$R$", va="center")
    ax.text(
        right + 0.35 * len(members["interneurons"]) + 0.1,
        _INTERNEURON,
        "inter-\nneurons $n$",
        va="center",
        fontsize=8,
        color="0.35",
    )
